// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Computes a number by which copies of a flow are recognized.
#ifndef TCPLEARN_REPLAY_SAMPLE_DIGEST_H
#define TCPLEARN_REPLAY_SAMPLE_DIGEST_H

#include <cstdint>

namespace tcplearn {

// A digest of a flow's RTT samples and their times since the first. It does not depend on the format,
// collides for different flows with a probability of 2^-64, and does not protect against forgery.
class SampleDigest {
 public:
  void add(std::int64_t time_us, std::int64_t rtt_us) {
    if (!begun_) first_us_ = time_us;
    begun_ = true;
    mix(static_cast<std::uint64_t>(time_us) - static_cast<std::uint64_t>(first_us_));
    mix(static_cast<std::uint64_t>(rtt_us));
  }
  std::uint64_t value() const { return value_; }

 private:
  // The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
  void mix(std::uint64_t x) {
    std::uint64_t z = (value_ ^ x) + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    value_ = z ^ (z >> 31);
  }

  std::uint64_t value_ = 0;
  std::int64_t first_us_ = 0;
  bool begun_ = false;
};

}  // namespace tcplearn

#endif
