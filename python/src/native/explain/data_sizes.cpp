// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Tells full segments from small ones.
#include <algorithm>

#include "data_side.h"

namespace tcplearn {
namespace {

// RFC 9293, 3.7.1: a full-sized segment has at least this size, unless a smaller one was negotiated.
// On most paths it has kUsualMss or more.
constexpr std::uint32_t kLeastMss = 536, kUsualMss = 1200;

}  // namespace

void DataSide::note_size(std::uint32_t payload_bytes) {
  if (payload_bytes > kLargestSegment || payload_bytes < largest_) return;
  largest_times_ = payload_bytes > largest_ ? 1 : std::min(largest_times_ + 1, 2u);
  largest_ = payload_bytes;
}

// Returns whether the last data was a full segment. Segmentation offload sends several of them as one packet.
bool DataSide::was_full() const {
  if (last_bytes_ > kLargestSegment && full_ > 0 && largest_ >= std::max(full_, kLeastMss))
    return last_bytes_ % largest_ == 0;
  // the largest segment so far may still be a small one
  const bool usual = last_bytes_ >= kUsualMss || largest_times_ > 1 || (full_ > 0 && last_bytes_ >= full_);
  return usual && last_bytes_ >= std::max(largest_, kLeastMss);
}

// Notes small segments that were sent while another small one was in flight, which Nagle's algorithm does not
// allow. A tail loss probe is exempt from it, and comes after two round trips.
void DataSide::note_small(const Packet& packet, std::int64_t start, std::int64_t end, std::int64_t now_us) {
  if (packet.payload_bytes >= std::max(std::min(full_, largest_), kLeastMss) || packet.has(kFin)) return;
  const std::int64_t since_us = now_us - last_sent_us_;
  if (start == nxt_ && small_to_ > una_ && since_us >= kNoTimerUs && since_us < timer_.srtt_us())
    no_delay_ = std::min(no_delay_ + 1, kNoDelay);
  small_to_ = end;
}

}  // namespace tcplearn
