// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "link_trace.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3_version.h"

namespace tcplearn {

NS_OBJECT_ENSURE_REGISTERED(TraceChannel);

namespace {
constexpr std::uint32_t kOpportunityBytes = 1500;
}

std::vector<std::uint32_t> read_link_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(path + ": cannot open the link trace");
  std::vector<std::uint32_t> out;
  std::uint32_t ms;
  while (file >> ms) {
    if (!out.empty() && ms < out.back()) throw std::invalid_argument(path + ": times must not fall");
    out.push_back(ms);
  }
  if (!file.eof() || out.empty() || out.back() == 0)
    throw std::invalid_argument(path + ": not a link trace: one time in ms on each line, the last above 0");
  return out;
}

ns3::TypeId TraceChannel::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::TraceChannel")
                              .SetParent<ns3::PointToPointChannel>()
                              .SetGroupName("PointToPoint")
                              .AddConstructor<TraceChannel>();
  return id;
}

void TraceChannel::follow(std::vector<std::uint32_t> opportunities_ms, std::uint32_t queue_packets) {
  opportunities_ms_ = std::move(opportunities_ms);
  queue_packets_ = queue_packets;
}

bool TraceChannel::TransmitStart(ns3::Ptr<const ns3::Packet> packet,
                                 ns3::Ptr<ns3::PointToPointNetDevice> from, ns3::Time transmission) {
  if (from != GetSource(0)) return ns3::PointToPointChannel::TransmitStart(packet, from, transmission);
  if (queue_.size() >= queue_packets_) {
    on_drop_(packet);
    return true;  // the device treats the packet as sent
  }
  queue_.push_back({packet->Copy(), packet->GetSize()});
  queued_bytes_ += packet->GetSize();
  if (!pending(event_)) wait();
  return true;
}

ns3::Time TraceChannel::time_of(std::uint64_t index) const {
  const std::uint64_t rounds = index / opportunities_ms_.size();
  return ns3::MilliSeconds(rounds * opportunities_ms_.back() +
                           opportunities_ms_[index % opportunities_ms_.size()]);
}

void TraceChannel::wait() {
  const ns3::Time now = ns3::Simulator::Now();
  const auto now_ms = static_cast<std::uint64_t>(now.GetMilliSeconds());
  const std::uint64_t round = now_ms / opportunities_ms_.back();
  const auto at = std::lower_bound(opportunities_ms_.begin(), opportunities_ms_.end(),
                                   static_cast<std::uint32_t>(now_ms % opportunities_ms_.back()));
  const auto index = static_cast<std::uint64_t>(at - opportunities_ms_.begin());
  next_ = std::max(next_, round * opportunities_ms_.size() + index);
  while (time_of(next_) < now) ++next_;
  event_ = ns3::Simulator::Schedule(time_of(next_) - now, &TraceChannel::opportunity, this);
}

void TraceChannel::opportunity() {
  std::uint32_t budget = kOpportunityBytes;
  ++next_;
  while (!queue_.empty() && budget > 0) {
    Waiting& head = queue_.front();
    const std::uint32_t part = std::min(budget, head.left);
    budget -= part;
    head.left -= part;
    queued_bytes_ -= part;
    if (head.left > 0) break;
    const ns3::Ptr<ns3::PointToPointNetDevice> to = GetDestination(0);
    ns3::Simulator::ScheduleWithContext(to->GetNode()->GetId(), GetDelay(),
                                        &ns3::PointToPointNetDevice::Receive, to, head.packet);
    queue_.pop_front();
  }
  if (!queue_.empty()) wait();
}

}  // namespace tcplearn
