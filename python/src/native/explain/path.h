// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What all connections between two hosts together show about their path: whether it is slower now than
// its shortest round trip, whether it is silent, and how the hosts number packets.
#ifndef TCPLEARN_EXPLAIN_PATH_H
#define TCPLEARN_EXPLAIN_PATH_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ack_delay.h"
#include "leg.h"
#include "sender_timer.h"

namespace tcplearn {

class Path {
 public:
  // What a first reading shows of the path, and the second one knows from the beginning.
  struct Seen {
    Leg leg;
    std::int64_t least_us = -1;
    std::array<bool, 2> ids_shared{};
    std::array<std::uint32_t, 2> ids_in_row{};
  };
  // Returns what was seen, but for `leg`, which the connections know better at their ends.
  Seen seen() const {
    return {{}, least_us_, {ids_[0].shared, ids_[1].shared}, {ids_[0].in_row, ids_[1].in_row}};
  }
  void take(const Seen& seen) {
    leg_ = seen.leg;
    least_us_ = seen.least_us;
    for (const std::size_t end : {0U, 1U}) {
      ids_[end].shared = seen.ids_shared[end];
      ids_[end].in_row = seen.ids_in_row[end];
    }
  }

  // Adds the RTT of an ACK of several segments, or of one while more were in flight. `small`: the ACK may
  // have been delayed.
  void add(std::int64_t now_us, std::int64_t rtt_us, bool small) {
    const std::int64_t over_us = rtt_us - least(rtt_us);
    if (small && over_us >= kLeastDelayUs) return;
    // keeps the maximum of each of the last two half seconds
    if (now_us - since_us_ > kHalfUs) {
      before_us_ = now_us - since_us_ > 2 * kHalfUs ? -1 : now_over_us_;
      now_over_us_ = -1;
      since_us_ = now_us;
    }
    now_over_us_ = std::max(now_over_us_, over_us);
  }
  // Returns by how much an RTT of the last second exceeded the shortest one; -1: there was no sample.
  std::int64_t over_us(std::int64_t now_us) const {
    return now_us - since_us_ > 2 * kHalfUs ? -1 : std::max(now_over_us_, before_us_);
  }

  // Takes the shortest round trip from the capture point to the server that a connection's handshake or pure
  // ACKs show; and returns the shortest of all, or -1. A relay on the way may be there for one port of the
  // server only, so its round trip must not be given.
  void add_leg(const Leg& leg) { leg_.add(leg); }
  std::int64_t leg_us() const { return leg_.min_us; }

  // Returns whether a host numbers the packets of several connections in one sequence (IP
  // identification). It does if a packet's number follows that of another connection's packet, and not
  // that of its own connection's last packet.
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

  // Counts a connection that begins. When the last live connection ends, the stored gaps (times without a
  // packet) are dropped, because they precede all losses of later connections.
  void begin() { ++alive_; }
  void end() {
    if (--alive_ == 0) gaps_.reset();
  }

  // Records that a packet of one end arrived, and keeps the gap before it if there was one.
  void arrived(unsigned end, std::int64_t now_us) {
    std::int64_t& last_us = last_us_[end];
    if (last_us >= 0 && now_us - last_us >= kGapUs) {
      if (!gaps_) gaps_ = std::make_unique<std::array<Gaps, 2>>();
      Gaps& gaps = (*gaps_)[end];
      gaps.all[gaps.next++ % gaps.all.size()] = {last_us, now_us};
    }
    last_us = now_us;
  }
  // Returns how many packets of that end in a row continued their connection's IP identification.
  std::uint32_t& ids_in_row(unsigned end) { return ids_[end].in_row; }
  // Returns whether no packet of that end arrived in this interval, except in its first quarter, or its first
  // 250 ms if that is less: a packet that a queue or a delayed ACK held back may still arrive when the path
  // has already begun to lose all others.
  bool silent(unsigned end, std::int64_t from_us, std::int64_t to_us) const {
    const std::int64_t quarter_us = std::max<std::int64_t>(to_us - from_us, 0) / 4;
    const std::int64_t begins_us = from_us + std::min(quarter_us, kHeldBackUs);
    if (last_us_[end] >= 0 && last_us_[end] <= begins_us) return true;
    if (!gaps_) return false;
    for (const Gap& gap : (*gaps_)[end].all)
      if (gap.from_us <= begins_us && to_us <= gap.to_us) return true;
    return false;
  }

  // Timer ticks of each end's host.
  std::array<TimerTicks, 2> ticks;

 private:
  struct Gap {
    std::int64_t from_us = 0, to_us = -1;
  };
  struct Ids {
    std::uint32_t connection = 0, in_row = 0;
    std::uint16_t last = 0;
    bool seen = false, shared = false;
  };
  struct Gaps {
    std::array<Gap, 8> all{};
    std::size_t next = 0;
  };
  static constexpr std::int64_t kGapUs = 20'000, kHeldBackUs = 250'000;
  static constexpr std::int64_t kHalfUs = 500'000;
  std::int64_t least(std::int64_t rtt_us) {
    return least_us_ = least_us_ < 0 ? rtt_us : std::min(least_us_, rtt_us);
  }

  std::array<std::int64_t, 2> last_us_{-1, -1};
  std::unique_ptr<std::array<Gaps, 2>> gaps_;
  std::array<Ids, 2> ids_{};
  std::uint32_t alive_ = 0;
  Leg leg_;
  std::int64_t least_us_ = -1, since_us_ = -4 * kHalfUs, now_over_us_ = -1, before_us_ = -1;
};

}  // namespace tcplearn

#endif
