// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Computes the sender's retransmission timer as Linux does, from the RTTs that the sender had.
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
  // Takes the RTT of the handshake, which both hosts know. Samples before it are kept.
  void begin(std::int64_t rtt_us) { begun_us_ = rtt_us; }
  // Both return -1 before the first sample.
  std::int64_t srtt_us() const;
  std::int64_t rto_us() const;

 private:
  std::unique_ptr<std::uint64_t[]> state_;
  std::int64_t begun_us_ = -1;  // no state is kept for connections that send no data
};

// Models when the timers of one host fire. Linux rounds a wait up to its tick, and then to the
// granularity of its timer wheel (kernel/time/timer.c): one tick below 63 ticks, 8 ticks below 504, and
// so on. The tick is the one that best fits the host's own waits; before any wait is seen it is 4 ms, as
// in Debian and Ubuntu. The phase of the tick is not known.
class TimerTicks {
 public:
  std::int64_t fires_us(std::int64_t now_us, std::int64_t wait_us) const;
  // Learns the tick: the host set a timer of `wait_us`, which fired after `waited_us`.
  void seen(std::int64_t wait_us, std::int64_t waited_us);
  // Returns the place in kTicksUs of the tick that fits best so far.
  std::size_t best() const { return best_; }

  static constexpr std::array<std::int64_t, 3> kTicksUs{1000, 4000, 10'000};

 private:
  static constexpr std::int32_t kMostErrorUs = 10'000, kMostSumUs = 1'000'000'000;
  std::uint8_t best_ = 1;
  std::array<std::int32_t, kTicksUs.size()> errors_us_{kMostErrorUs, 0, kMostErrorUs};
};

}  // namespace tcplearn

#endif
