// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The slow timer of TCPs that descend from 4.4BSD: RTTs are counted, and timers run down, at the ticks of
// a free-running clock (Stevens, TCP/IP Illustrated, volume 2, 25.2 to 25.5).
#pragma once

#include <ns3/nstime.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "tcplearn/sample.h"

namespace tcplearn {

// What an estimator gets as RTT: the tick count, from one on; the count minus one; or the exact time.
enum class Given { kCount, kCountLessOne, kTime };

class SlowClock {
 public:
  SlowClock() = default;
  // Each flow's clock has its own phase, which is the same for all estimators.
  SlowClock(std::int64_t tick_us, std::uint32_t seed, std::uint32_t flow) : tick_us_(tick_us) {
    std::seed_seq words{seed, flow};
    std::mt19937_64 draw(words);
    phase_us_ = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(tick_us));
  }
  std::int64_t phase_us() const { return phase_us_; }

  std::int64_t given_us(Given given, std::int64_t counted_us, std::int64_t raw_us) const {
    if (given == Given::kTime) return raw_us;
    return given == Given::kCount ? counted_us : std::max<std::int64_t>(counted_us - tick_us_, 1);
  }
  // Returns the time until a timer of `wait`, rounded up to whole ticks, has run down.
  ns3::Time countdown(ns3::Time now, ns3::Time wait) const {
    const std::int64_t ticks = (wait.GetMicroSeconds() + tick_us_ - 1) / tick_us_;
    const std::int64_t since_us = (now.GetMicroSeconds() + phase_us_) % tick_us_;
    return ns3::MicroSeconds(
        static_cast<std::uint64_t>(std::max<std::int64_t>(ticks, 1) * tick_us_ - since_us));
  }

 private:
  std::int64_t tick_us_ = 1, phase_us_ = 0;
};

}  // namespace tcplearn
