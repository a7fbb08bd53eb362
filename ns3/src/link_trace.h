// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A link whose capacity follows a Mahimahi trace. Each line of a trace is a time in ms at which 1,500
// bytes may leave; the trace repeats at its end. An opportunity without a waiting packet is lost.
#ifndef TCPLEARN_NS3_LINK_TRACE_H
#define TCPLEARN_NS3_LINK_TRACE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "ns3/event-id.h"
#include "ns3/point-to-point-channel.h"

namespace tcplearn {

// Reads a trace. Throws std::invalid_argument if the file is not a Mahimahi trace.
std::vector<std::uint32_t> read_link_trace(const std::string& path);

// A channel in which packets from the first attached device to the second follow the trace. Packets of
// the other direction are only delayed.
class TraceChannel : public ns3::PointToPointChannel {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  void follow(std::vector<std::uint32_t> opportunities_ms, std::uint32_t queue_packets);
  std::uint64_t queued_bytes() const { return queued_bytes_; }
  void on_drop(std::function<void(ns3::Ptr<const ns3::Packet>)> call) { on_drop_ = std::move(call); }

  bool TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from,
                     ns3::Time transmission) override;

 private:
  struct Waiting {
    ns3::Ptr<ns3::Packet> packet;
    std::uint32_t left;  // bytes that have not left yet
  };
  void wait();
  void opportunity();
  ns3::Time time_of(std::uint64_t index) const;

  std::vector<std::uint32_t> opportunities_ms_;
  std::uint32_t queue_packets_ = 0;
  std::deque<Waiting> queue_;
  std::uint64_t queued_bytes_ = 0;
  std::uint64_t next_ = 0;  // index of the next opportunity, over all repetitions of the trace
  ns3::EventId event_;
  std::function<void(ns3::Ptr<const ns3::Packet>)> on_drop_ = [](const auto&) {};
};

}  // namespace tcplearn

#endif
