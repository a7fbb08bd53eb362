// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The sender's own timer as Linux reckons it from the round trips that its sender had.
#ifndef TCPLEARN_EXPLAIN_SENDER_TIMER_H
#define TCPLEARN_EXPLAIN_SENDER_TIMER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tcplearn {

class SenderTimer {
 public:
  void sample(std::int64_t now_us, std::int64_t rtt_us);
  // -1: before the first sample.
  std::int64_t srtt_us() const;
  std::int64_t rto_us() const;

 private:
  std::unique_ptr<std::uint64_t[]> state_;
};

// When the timers of one host fire. Linux rounds a wait up to its tick, and that to the granularity of its
// timer wheel (kernel/time/timer.c): one tick below 63 ticks, 8 below 504, and so on. The tick is the one
// that the host's own waits suggest, and 4 ms before them, as Debian's and Ubuntu's; its phase is not known.
class TimerTicks {
 public:
  std::int64_t fires_us(std::int64_t now_us, std::int64_t wait_us) const;
  // The host asked for `wait_us` and waited `waited_us`.
  void seen(std::int64_t wait_us, std::int64_t waited_us);

 private:
  static constexpr std::array<std::int64_t, 3> kTicksUs{1000, 4000, 10'000};
  static constexpr std::int64_t kMostErrorUs = 10'000;
  std::size_t best_ = 1;
  std::array<std::int64_t, kTicksUs.size()> errors_us_{kMostErrorUs, 0, kMostErrorUs};
};

}  // namespace tcplearn

#endif
