// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What all connections between two hosts say of the path between them: whether it takes longer now than it
// can.
#ifndef TCPLEARN_EXPLAIN_PATH_H
#define TCPLEARN_EXPLAIN_PATH_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sender_timer.h"

namespace tcplearn {

class Path {
 public:
  // A round trip that no host held up: an ACK of several segments, or while more were out.
  void add(std::int64_t now_us, std::int64_t rtt_us) {
    const std::int64_t over_us = rtt_us - least(rtt_us);
    // the larger of two halves of a second, the older one first
    if (now_us - since_us_ > kHalfUs) {
      before_us_ = now_us - since_us_ > 2 * kHalfUs ? -1 : now_over_us_;
      now_over_us_ = -1;
      since_us_ = now_us;
    }
    now_over_us_ = std::max(now_over_us_, over_us);
  }
  // How much longer than its shortest a round trip was in the last second; -1: nothing says.
  std::int64_t over_us(std::int64_t now_us) const {
    return now_us - since_us_ > 2 * kHalfUs ? -1 : std::max(now_over_us_, before_us_);
  }

  // Whether a host counts the packets of several connections in one row: this packet has the number after
  // that of another connection's, and not that after its own's.
  bool ids_shared(unsigned end, std::uint32_t connection, std::uint16_t id, bool follows_own) {
    Ids& ids = ids_[end];
    const bool others =
        ids.seen && ids.connection != connection && static_cast<std::uint16_t>(ids.last + 1) == id;
    ids.shared = ids.shared || (others && !follows_own && id > 1);
    ids.seen = id != 0;
    ids.last = id;
    ids.connection = connection;
    return ids.shared;
  }

  // A packet of one end came here; when nothing did for a while is kept.
  void arrived(unsigned end, std::int64_t now_us) {
    From& from = from_[end];
    if (from.last_us >= 0 && now_us - from.last_us >= kGapUs)
      from.gaps[from.next++ % from.gaps.size()] = {from.last_us, now_us};
    from.last_us = now_us;
  }
  // How many packets of that end in a row IP numbered one after the other, each connection by itself.
  std::uint32_t& ids_in_row(unsigned end) { return from_[end].ids_in_row; }
  // Whether nothing of that end came in all this time.
  bool silent(unsigned end, std::int64_t from_us, std::int64_t to_us) const {
    const From& from = from_[end];
    if (from.last_us >= 0 && from.last_us <= from_us) return true;
    for (const Gap& gap : from.gaps)
      if (gap.from_us <= from_us && to_us <= gap.to_us) return true;
    return false;
  }

  // Of the timers of either end.
  std::array<TimerTicks, 2> ticks;

 private:
  struct Gap {
    std::int64_t from_us = 0, to_us = -1;
  };
  struct Ids {
    std::uint32_t connection = 0;
    std::uint16_t last = 0;
    bool seen = false, shared = false;
  };
  struct From {
    std::int64_t last_us = -1;
    std::uint32_t ids_in_row = 0;
    std::array<Gap, 8> gaps{};
    std::size_t next = 0;
  };
  static constexpr std::int64_t kGapUs = 20'000;
  static constexpr std::int64_t kHalfUs = 500'000;
  std::int64_t least(std::int64_t rtt_us) {
    return least_us_ = least_us_ < 0 ? rtt_us : std::min(least_us_, rtt_us);
  }

  std::array<From, 2> from_{};
  std::array<Ids, 2> ids_{};
  std::int64_t least_us_ = -1, since_us_ = -4 * kHalfUs, now_over_us_ = -1, before_us_ = -1;
};

}  // namespace tcplearn

#endif
