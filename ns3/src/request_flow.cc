// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "request_flow.h"

#include <algorithm>

#include "ns3/inet-socket-address.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"

namespace tcplearn {
namespace {

constexpr std::uint32_t kFirstPort = 2000;
// think times of a flow, whatever else is drawn
constexpr std::int64_t kFirstStream = 10000;
// a full send buffer is looked at again
constexpr std::uint64_t kBlockedMs = 10;

}  // namespace

using ns3::Simulator;

RequestFlow::RequestFlow(std::shared_ptr<Recorder> recorder, std::uint32_t id, const Network& network,
                         const Load& load)
    : recorder_(std::move(recorder)),
      id_(id),
      from_(network.hosts.Get(record().source)),
      to_(network.hosts.Get(record().destination)),
      address_(network.addresses[record().destination]),
      load_(load) {
  draw_->SetStream(kFirstStream + id);
  Simulator::ScheduleWithContext(from_->GetId(), record().start, &RequestFlow::start, this);
}

void RequestFlow::start() {
  const auto port = static_cast<std::uint16_t>(kFirstPort + id_);
  listener_ = ns3::Socket::CreateSocket(to_, TcpSocketFactory::GetTypeId());
  listener_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
  listener_->Listen();
  listener_->SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                               ns3::MakeCallback(&RequestFlow::accepted, this));
  socket_ = ns3::Socket::CreateSocket(from_, TcpSocketFactory::GetTypeId());
  ns3::DynamicCast<TcpSocket>(socket_)->record_as(id_);
  socket_->SetConnectCallback(ns3::MakeCallback(&RequestFlow::connected, this),
                              ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
  socket_->SetRecvCallback(ns3::MakeCallback(&RequestFlow::answered, this));
  socket_->Bind();
  socket_->Connect(ns3::InetSocketAddress(address_, port));
}

void RequestFlow::connected(ns3::Ptr<ns3::Socket>) {
  record().is_connected = true;
  record().connected = Simulator::Now();
  request();
}

ns3::Time RequestFlow::pause() { return ns3::Seconds(load_.think_s * draw_->GetValue(0.5, 1.5)); }

void RequestFlow::request() {
  write(Simulator::Now());
  if (load_.stream && asked_.size() < load_.count) Simulator::Schedule(pause(), &RequestFlow::request, this);
}

void RequestFlow::write(ns3::Time asked) {
  if (socket_->GetTxAvailable() < load_.request_bytes) {
    Simulator::Schedule(ns3::MilliSeconds(kBlockedMs), &RequestFlow::write, this, asked);
    return;
  }
  asked_.push_back(asked);
  socket_->Send(ns3::Create<ns3::Packet>(load_.request_bytes));
}

void RequestFlow::answered(ns3::Ptr<ns3::Socket> socket) {
  std::vector<std::int64_t>& responses_us = record().responses_us;
  while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    for (std::uint32_t i = 0; i < packet->GetSize(); ++i)
      responses_us.push_back((Simulator::Now() - asked_.at(responses_us.size())).GetMicroSeconds());
    if (packet->GetSize() == 0) break;
  }
  if (responses_us.size() >= load_.count)
    finish();
  else if (!load_.stream && responses_us.size() == asked_.size())
    Simulator::Schedule(pause(), &RequestFlow::request, this);
}

// The run ends with the last answer of the last flow.
void RequestFlow::finish() {
  record().is_finished = true;
  record().finished = Simulator::Now();
  const std::vector<FlowRecord>& flows = recorder_->flows;
  if (std::all_of(flows.begin(), flows.end(), [](const FlowRecord& flow) { return flow.is_finished; }))
    Simulator::Stop();
}

void RequestFlow::accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
  socket->SetRecvCallback(ns3::MakeCallback(&RequestFlow::answer, this));
  listener_->Close();  // one connection a flow
}

void RequestFlow::answer(ns3::Ptr<ns3::Socket> socket) {
  while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) break;
    record().delivered_bytes += packet->GetSize();
  }
  const std::uint64_t whole = record().delivered_bytes / load_.request_bytes;
  if (whole > answers_) socket->Send(ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(whole - answers_)));
  answers_ = whole;
}

}  // namespace tcplearn
