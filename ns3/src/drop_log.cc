// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "drop_log.h"

#include "flow_record.h"

namespace tcplearn {

void DropLog::add(const ns3::Ptr<const ns3::Packet>& packet, DroppedBy who) {
  ++(who == DroppedBy::kQueue ? queue_ : channel_);
  SerialTag tag;
  if (!packet->PeekPacketTag(tag)) return;
  by_serial_[{tag.flow, tag.serial}] = who;
  if (const auto found = watched_.find(tag.flow); found != watched_.end() && found->second)
    found->second(tag.serial);
}

DroppedBy DropLog::fate(std::uint32_t flow, std::uint64_t serial) const {
  const auto found = by_serial_.find({flow, serial});
  return found == by_serial_.end() ? DroppedBy::kNobody : found->second;
}

}  // namespace tcplearn
