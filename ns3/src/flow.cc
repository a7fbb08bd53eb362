// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "flow.h"

#include "ns3/inet-socket-address.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"

namespace tcplearn {
namespace {

constexpr std::uint32_t kFirstPort = 2000;

}  // namespace

Flow::Flow(std::shared_ptr<Recorder> recorder, std::uint32_t id, const Network& network,
           std::uint32_t segment_bytes)
    : recorder_(std::move(recorder)),
      id_(id),
      from_(network.hosts.Get(record().source)),
      to_(network.hosts.Get(record().destination)),
      address_(network.addresses[record().destination]),
      segment_bytes_(segment_bytes),
      left_(record().packets) {
  ns3::Simulator::ScheduleWithContext(from_->GetId(), record().start, &Flow::start, this);
}

void Flow::start() {
  const auto port = static_cast<std::uint16_t>(kFirstPort + id_);
  listener_ = ns3::Socket::CreateSocket(to_, TcpSocketFactory::GetTypeId());
  listener_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
  listener_->Listen();
  listener_->SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                               ns3::MakeCallback(&Flow::accepted, this));
  socket_ = ns3::Socket::CreateSocket(from_, TcpSocketFactory::GetTypeId());
  ns3::DynamicCast<TcpSocket>(socket_)->record_as(id_);
  socket_->SetConnectCallback(ns3::MakeCallback(&Flow::connected, this),
                              ns3::MakeCallback(&Flow::died, this));
  socket_->SetCloseCallbacks(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>(),
                             ns3::MakeCallback(&Flow::died, this));
  socket_->SetSendCallback(ns3::MakeCallback(&Flow::fill, this));
  if (socket_->Bind() != 0 || socket_->Connect(ns3::InetSocketAddress(address_, port)) != 0) died(socket_);
}

void Flow::connected(ns3::Ptr<ns3::Socket> socket) {
  record().is_connected = true;
  record().connected = ns3::Simulator::Now();
  fill(socket, socket->GetTxAvailable());
}

void Flow::fill(ns3::Ptr<ns3::Socket> socket, std::uint32_t) {
  if (left_ == 0) return;
  while (left_ > 0 && socket->GetTxAvailable() >= segment_bytes_) {
    if (socket->Send(ns3::Create<ns3::Packet>(segment_bytes_)) < 0) return;
    --left_;
  }
  if (left_ == 0) socket->Close();
}

void Flow::died(ns3::Ptr<ns3::Socket>) {
  if (!record().is_finished) record().died = true;
}

void Flow::accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
  socket->SetRecvCallback(ns3::MakeCallback(&Flow::received, this));
  socket->SetCloseCallbacks(ns3::MakeCallback(&Flow::received, this),
                            ns3::MakeCallback(&Flow::received, this));
  listener_->Close();  // one connection a flow
}

void Flow::received(ns3::Ptr<ns3::Socket> socket) {
  while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) {  // the peer has closed
      socket->Close();
      break;
    }
    record().delivered_bytes += packet->GetSize();
  }
  if (!record().is_finished && record().delivered_bytes >= record().packets * segment_bytes_) {
    record().is_finished = true;
    record().finished = ns3::Simulator::Now();
  }
}

}  // namespace tcplearn
