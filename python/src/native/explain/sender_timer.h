// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Computes the sender's retransmission timer as Linux does, from the RTTs that the sender had.
#ifndef TCPLEARN_EXPLAIN_SENDER_TIMER_H
#define TCPLEARN_EXPLAIN_SENDER_TIMER_H

#include <algorithm>
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

  // These take an RTO and a smoothed round trip, or -1 where they are not known; 1 s is then assumed for the
  // RTO (RFC 6298, 2.1). Returns the longest time from a transmission to its tail loss probe: an RTO after
  // the last ACK (RFC 8985, 7.2), which may be a round trip later, and the RTO may be longer by a quarter.
  static std::int64_t most_probe_us(std::int64_t rto_us, std::int64_t srtt_us) {
    return (rto_us > 0 ? rto_us : kFirstRtoUs) * 5 / 4 + (srtt_us > 0 ? srtt_us : 0);
  }
  // Returns the longest time in which one retransmission by the timer repairs a loss, after a probe, and if
  // the RTO has grown meanwhile. `counted`: IP identification shows that more was lost.
  static std::int64_t most_timer_us(std::int64_t rto_us, bool counted) {
    const std::int64_t known_us = rto_us > 0 ? rto_us : kFirstRtoUs;
    // without that, the sender may have the minimum RTO of RFC 6298 (2.4), a second
    return counted ? 3 * known_us : std::max(4 * known_us, kFirstRtoUs * 5 / 4);
  }

  static constexpr std::int64_t kFirstRtoUs = 1'000'000;

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
