// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A histogram of how late packets were released: steps of 1 us up to 1 ms, then of 1/64 of an octave.
#ifndef TCPLEARN_EMULATE_LATENESS_H
#define TCPLEARN_EMULATE_LATENESS_H

#include <cstdint>
#include <vector>

namespace tcplearn::emulate {

class Lateness {
 public:
  Lateness() : counts_(kLinear + kOctaves * kPerOctave) {}

  void add(std::int64_t late_ns);
  std::uint64_t count() const { return count_; }
  std::int64_t most_us() const { return most_us_; }
  // Returns the least value that at least the share `part` of the packets does not exceed: 0 for no packets.
  // Above 1 ms it is up to 1.1 % too large.
  std::int64_t quantile_us(double part) const;

 private:
  static constexpr std::int64_t kLinear = 1024, kPerOctave = 64, kOctaves = 20;  // up to 18 minutes
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::int64_t most_us_ = 0;
};

}  // namespace tcplearn::emulate

#endif
