// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Records which packets a queue or the channel dropped. A sender's data packets are identified by their
// SerialTag, which stays with them through every layer. So no header needs to be read, and each
// transmission of a segment is distinct.
#ifndef TCPLEARN_NS3_DROP_LOG_H
#define TCPLEARN_NS3_DROP_LOG_H

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "ns3/packet.h"

namespace tcplearn {

enum class DroppedBy { kNobody, kQueue, kChannel };

class DropLog {
 public:
  void add(const ns3::Ptr<const ns3::Packet>& packet, DroppedBy who);
  DroppedBy fate(std::uint32_t flow, std::uint64_t serial) const;
  void forget(std::uint32_t flow, std::uint64_t serial) { by_serial_.erase({flow, serial}); }

  // Calls `lost` with the serial of each data packet of this flow when it is dropped; nullptr: no more.
  void watch(std::uint32_t flow, std::function<void(std::uint64_t)> lost) {
    watched_[flow] = std::move(lost);
  }

  std::uint64_t queue() const { return queue_; }  // packets of all traffic that the queue dropped
  std::uint64_t channel() const { return channel_; }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, DroppedBy> by_serial_;
  std::map<std::uint32_t, std::function<void(std::uint64_t)>> watched_;
  std::uint64_t queue_ = 0, channel_ = 0;
};

}  // namespace tcplearn

#endif
