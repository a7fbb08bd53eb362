// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "request_flow.h"

#include <algorithm>

#include "ns3/packet.h"
#include "ns3/simulator.h"

namespace tcplearn {
namespace {

// random streams of a flow's think times and answer times, independent of all other draws
constexpr std::int64_t kFirstStream = 10000, kFirstAnswerStream = 20000;
// interval at which a full send buffer is tried again
constexpr std::uint64_t kBlockedMs = 10;

}  // namespace

using ns3::Simulator;

RequestFlow::RequestFlow(std::shared_ptr<Recorder> recorder, std::uint32_t id, const Network& network,
                         const Load& load)
    : recorder_(std::move(recorder)), id_(id), ends_(network, record()), load_(load) {
  draw_->SetStream(kFirstStream + id);
  answer_draw_->SetStream(kFirstAnswerStream + id);
  Simulator::ScheduleWithContext(ends_.from_node(), record().start, &RequestFlow::start, this);
}

void RequestFlow::start() {
  ends_.open(ns3::MakeCallback(&RequestFlow::accepted, this));
  ends_.socket()->SetConnectCallback(ns3::MakeCallback(&RequestFlow::connected, this),
                                     ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
  ends_.socket()->SetRecvCallback(ns3::MakeCallback(&RequestFlow::answered, this));
  ends_.connect();
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
  if (ends_.socket()->GetTxAvailable() < load_.request_bytes) {
    Simulator::Schedule(ns3::MilliSeconds(kBlockedMs), &RequestFlow::write, this, asked);
    return;
  }
  asked_.push_back(asked);
  ends_.socket()->Send(ns3::Create<ns3::Packet>(load_.request_bytes));
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

// Records that this flow has finished. The run ends with the last answer of the last flow.
void RequestFlow::finish() {
  record().is_finished = true;
  record().finished = Simulator::Now();
  const std::vector<FlowRecord>& flows = recorder_->flows;
  if (std::all_of(flows.begin(), flows.end(), [](const FlowRecord& flow) { return flow.is_finished; }))
    Simulator::Stop();
}

void RequestFlow::accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
  socket->SetRecvCallback(ns3::MakeCallback(&RequestFlow::received, this));
  ends_.accepted();
}

void RequestFlow::received(ns3::Ptr<ns3::Socket> socket) {
  while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) break;
    record().delivered_bytes += packet->GetSize();
  }
  if (load_.answer_after_s <= 0) return answer(socket);
  const double after_s = answer_draw_->GetValue(0, 2) * load_.answer_after_s;
  Simulator::Schedule(ns3::Seconds(after_s), &RequestFlow::answer, this, socket);
}

void RequestFlow::answer(ns3::Ptr<ns3::Socket> socket) {
  const std::uint64_t whole = record().delivered_bytes / load_.request_bytes;
  if (whole > answers_) socket->Send(ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(whole - answers_)));
  answers_ = whole;
}

}  // namespace tcplearn
