// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Estimates the clock behind one end's TCP timestamps (RFC 7323, 5.4), to compute when a packet would
// have reached the capture point if it had not been late.
#ifndef TCPLEARN_EXPLAIN_SENDER_CLOCK_H
#define TCPLEARN_EXPLAIN_SENDER_CLOCK_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace tcplearn {

class SenderClock {
 public:
  // Takes a packet with this timestamp.
  void add(std::uint32_t ts, std::int64_t now_us) {
    if (origin_us_ < 0 || (tick_us_ == 0 && now_us - origin_us_ >= kLearnUs && !learn(ts, now_us))) {
      origin_us_ = since_us_ = now_us;
      origin_ts_ = ts;
      least_us_ = before_us_ = 0;
    }
    const std::int64_t over_us = now_us - sent_us(ts);
    // keeps the shortest delay of two spans, the older in before_us_, because clocks drift
    if (now_us - since_us_ > kSpanUs) {
      before_us_ = now_us - since_us_ > 2 * kSpanUs ? over_us : least_us_;
      least_us_ = over_us;
      since_us_ = now_us;
    }
    least_us_ = std::min(least_us_, over_us);
  }
  // Returns when a packet that arrives now would have arrived on an idle path, or `now_us`.
  std::int64_t due_us(std::uint32_t ts, std::int64_t now_us) const {
    if (tick_us_ == 0) return now_us;
    const std::int64_t due_us = sent_us(ts) + std::min(least_us_, before_us_);
    return now_us - due_us > 2 * tick_us_ + kJitterUs ? due_us : now_us;
  }
  bool known() const { return tick_us_ != 0; }

 private:
  static constexpr std::int64_t kLearnUs = 200'000, kSpanUs = 10'000'000, kJitterUs = 2000;
  // The known lengths of a timestamp tick. Linux uses 1 ms since 4.13; before, it used its timer ticks.
  static constexpr std::array<std::int32_t, 3> kTicksUs{1000, 4000, 10'000};

  std::int64_t sent_us(std::uint32_t ts) const {
    return origin_us_ + std::int64_t{static_cast<std::int32_t>(ts - origin_ts_)} * tick_us_;
  }
  // Chooses the known tick that fits the ticks since the origin. Returns whether one fits.
  bool learn(std::uint32_t ts, std::int64_t now_us) {
    const std::int64_t ticks = static_cast<std::int32_t>(ts - origin_ts_), took_us = now_us - origin_us_;
    for (const std::int32_t tick_us : kTicksUs) {
      if (std::abs(ticks * tick_us - took_us) * 8 > took_us) continue;
      tick_us_ = tick_us;
      since_us_ = now_us;
      least_us_ = before_us_ = now_us - sent_us(ts);
      return true;
    }
    return false;
  }

  std::int64_t origin_us_ = -1, since_us_ = 0, least_us_ = 0, before_us_ = 0;
  std::uint32_t origin_ts_ = 0;
  std::int32_t tick_us_ = 0;  // 0: not known yet
};

}  // namespace tcplearn

#endif
