// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Finds data that one end sent and that never reached the capture point, or reached it late.
#include <algorithm>

#include "data_side.h"

namespace tcplearn {
namespace {

// The longest time by which a reordered packet follows, if no timestamp shows the order.
constexpr std::int64_t kOvertakenUs = 3000;
// After kIdsInRow packets with consecutive IP identification, a gap up to kLargestIdGap means losses.
constexpr std::uint32_t kIdsInRow = 4, kLargestIdGap = 16;
// A gap shows no loss if late packets have filled more than one in this many of the missing numbers so far.
constexpr std::uint32_t kMostFilled = 4;
// A packet whose IP identification is by at most so many below the last one was sent before it.
constexpr std::uint16_t kLargestBackStep = 64;
// A segment is hardly lost more often; a larger gap is that of a host that counts other packets too.
constexpr std::uint32_t kMostLostIds = 5;

}  // namespace

bool DataSide::note_id(const Packet& packet, std::uint32_t ids_in_row) {
  const auto behind = static_cast<std::uint16_t>(last_id_ - packet.ip_id);
  const bool told = id_seen_ && packet.ip_id != 0, older = id_seen_ && behind > 0 && behind < 0x8000;
  new_id_ = told && behind != 0 && !older;
  overtaken_ = told && behind > 0 && behind <= kLargestBackStep && counts_ids(ids_in_row);
  return older;
}

// Returns the number of packets lost before the capture point, by the gap in IP's identification. This
// needs a host that numbers the packets of each connection by itself.
std::uint32_t DataSide::follow_ids(const Packet& packet, std::uint32_t& ids_in_row) {
  const auto step = static_cast<std::uint16_t>(packet.ip_id - last_id_);
  // segmentation offload numbers the segments of a larger packet
  const std::uint32_t most = full_ > 0 ? std::min(full_ + kOptionBytes, kLargestSegment) : kLargestSegment;
  const bool counted = id_seen_ && packet.ip_id != 0 && last_payload_ <= most;
  std::uint32_t missing = 0;
  if (counted && step == 1) {
    ids_in_row = std::min(ids_in_row + 1, 2 * kIdsInRow);
  } else if (counted && step > 1 && step <= kLargestIdGap) {
    ids_missing_ += step - 1u;
    missing = ids_in_row >= kIdsInRow ? step - 1u : 0;
    if (missing == 0) ids_in_row = 0;
  } else if (counted && step > 0x8000) {
    ++ids_filled_;
    return 0;  // it was reordered
  } else if (counted) {
    ids_in_row = 0;
  }
  id_seen_ = packet.ip_id != 0;
  last_id_ = packet.ip_id;
  last_payload_ = packet.payload_bytes;
  return missing;
}

bool DataSide::ids_show_losses() const { return !ids_useless_ && ids_filled_ * kMostFilled <= ids_missing_; }

bool DataSide::counts_ids(std::uint32_t ids_in_row) const { return !ids_useless_ && ids_in_row >= kIdsInRow; }

bool DataSide::numbered(std::uint32_t ids_in_row) const {
  return ids_show_losses() && counts_ids(ids_in_row);
}

DataSide::Peer DataSide::peer(const Packet& packet, std::uint32_t ids_in_row) const {
  Peer out;
  out.ahead = is_ahead(packet);
  out.follows = started_ && packet.payload_bytes > 0 && unwrap(packet.seq) == nxt_;
  const auto step = static_cast<std::uint16_t>(packet.ip_id - last_id_);
  if (numbered(ids_in_row) && id_seen_ && packet.ip_id != 0 && step > 0 && step <= kLargestIdGap)
    out.unseen = static_cast<std::int32_t>(step) - 1;
  out.rto_us = timer_.rto_us();
  return out;
}

// Returns the packets lost before the capture point, by IP's identification; 0 if the host numbers the
// packets of all its connections in one sequence, or if missing packets often arrive late.
std::uint32_t DataSide::lost_by_ids(const Packet& packet, bool follows, std::int64_t now_us,
                                    std::uint32_t& ids_in_row) {
  const std::uint32_t lost = follow_ids(packet, ids_in_row);
  // If the next data comes too soon for a retransmission, the missing packets were another connection's.
  const std::int64_t soon_us = std::max(timer_.srtt_us(), kOvertakenUs);
  if (lost > 0 && follows && last_sent_us_ >= 0 && now_us - last_sent_us_ < soon_us) set_ids_useless();
  return ids_show_losses() ? lost : 0;
}

// Returns whether `times` losses, and nothing else, explain a wait of `waited_us`: docs/explain.md.
bool DataSide::may_be_lost(std::uint32_t times, bool lone, std::int64_t waited_us) const {
  if (times > kMostLostIds) return false;
  const std::int64_t rto_us = timer_.rto_us(), n = times;
  if (rto_us < 0)
    return waited_us >= n * kLeastRtoUs * 3 / 5 && waited_us <= (SenderTimer::kFirstRtoUs << n) * 3 / 2;
  const std::int64_t least_us = lone ? n * rto_us * 3 / 5 : timer_.srtt_us() * 3 / 2;
  return waited_us >= least_us && waited_us <= (rto_us << n) * 3 / 2;
}

// Handles an ACK whose sequence number is beyond all captured data: data had been sent before it.
void DataSide::follow_announced(const Packet& packet, std::int64_t now_us) {
  const std::int64_t next = unwrap(packet.seq);
  if (next <= std::max(nxt_, announced_) || next > nxt_ + kLargestStep) return;
  announced_ = next;
  announced_us_ = now_us;
  announced_ts_ = packet.ts_value;
}

// Returns whether `packet` was sent before the packet that arrived at `first_us` with the timestamp `ts`.
bool DataSide::overtaken(const Packet& packet, std::uint32_t ts, std::int64_t first_us, std::int64_t now_us,
                         const Leg& back) const {
  if (packet.has_timestamp && ts != 0 && packet.ts_value != ts) return ts_before(packet.ts_value, ts);
  return now_us - first_us < std::max(kOvertakenUs, back.known_us() / 2);
}

}  // namespace tcplearn
