// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The losses of one direction: retransmissions, evidence of loss, and events for loss classifiers.
#include <algorithm>

#include "flow.h"

namespace tcplearn {

void SendSide::begin_repair(Segment& segment, std::int64_t now_us) {
  segment.arrived = sacked_.covers(segment.end - 1);
  if (!losses_.recovering()) {  // without evidence of an arrival, the timer caused the retransmission
    const bool fast = duplicates_ > 0 || !sacked_.empty();
    repair_.kind = static_cast<std::uint8_t>(fast ? EventKind::kFastRetransmit : EventKind::kTimeout);
    repair_.time_us = now_us;
    repair_.flight_segments = segments_of(nxt_ - una_);
    repaired_ = true;
  }
  Repair repair =
      losses_.on_repair(now_us, segment.first.sent_us, nxt_, armed_us_, segments_[head_].first.sent_us);
  repair.tail = segment.end == nxt_;
  repair.alone = segments_held() == 1 && segments_of(nxt_ - una_) <= 1;
  segment.repair = std::make_shared<const Repair>(repair);
}

// Reports as losses the retransmitted segments that this ACK acknowledges, unless their first copy is
// known to have arrived.
void SendSide::tell_losses(const Packet& packet, std::int64_t ack, std::uint32_t flow, Batch& out) {
  const bool echo_proves = segments_held() > 0 && segments_[head_].resent() && !head_truly_resent(packet);
  const auto row = static_cast<std::uint32_t>(out.size() - 1);
  for (std::size_t i = head_; i < segments_.size() && segments_[i].end <= ack; ++i) {
    const Segment& segment = segments_[i];
    if (!segment.repair || segment.arrived || segment.duplicates >= segment.again.size()) continue;
    // The echoed timestamp is that of the segment that moved the ACK, which is the oldest one not SACKed.
    if (echo_proves && !sacked_.covers(segment.end - 1)) continue;
    losses_.lost(flow, row, segment.start, segment.end, segment.first.sent_us, *segment.repair,
                 segment.again.size() - segment.duplicates, out.losses);
  }
}

// Adds the event of an ACK, after the ACK was processed and after the event of a recovery before it.
void SendSide::add_ack_event(bool duplicate, std::int64_t now_us, std::uint32_t flow, std::int64_t rtt_us,
                             Batch& out) {
  if (repaired_) {
    repair_.flow = flow;
    out.events.add(repair_);
    repaired_ = false;
  }
  // without SACK a duplicate ACK shows that one segment arrived
  const std::uint32_t delivered = duplicate ? std::max(delivered_, 1u) : delivered_;
  duplicates_ = duplicate ? duplicates_ + 1 : 0;
  delivered_ = 0;
  out.events.add({flow, static_cast<std::uint8_t>(EventKind::kAck), now_us, rtt_us, delivered,
                  static_cast<std::uint8_t>(duplicate ? 1 : 0), 0});
}

}  // namespace tcplearn
