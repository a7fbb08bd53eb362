// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Estimates quantiles of a stream in bounded memory, reproducibly (without random bits).
#ifndef TCPLEARN_REPLAY_QUANTILES_H
#define TCPLEARN_REPLAY_QUANTILES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tcplearn {

// The sketch has levels of buffers. A full buffer is sorted, and every other value moves up a level with
// twice the weight, alternately the odd and the even positions (Manku, Rajagopalan and Lindsay, SIGMOD
// 1998; the compactors of KLL, without its random choice). A compaction of level h changes a rank by at
// most 2^h, and the next one changes it in the other direction. So the rank error is at most levels / (2
// kCapacity): 0.4 % at 10^8 values, and 0 below 2,048 values.
class Quantiles {
 public:
  static constexpr std::size_t kCapacity = 2048;

  void add(double value);
  void merge(const Quantiles& other);
  std::uint64_t count() const { return count_; }
  // Returns the quantiles for rising probabilities; nothing if no value was added.
  std::vector<double> at(const std::vector<double>& probabilities) const;
  // Returns the sum of x - v over the values v below x. Error: rank error times count() * (x - least).
  double sum_below(double x) const;

 private:
  struct Level {
    std::vector<double> values;
    bool odd = false;
  };
  void compact(std::size_t level);

  std::vector<Level> levels_;
  std::uint64_t count_ = 0;
};

}  // namespace tcplearn

#endif
