// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Sums over consecutive blocks of samples, in bounded memory, for a block bootstrap of ratios.
#ifndef TCPLEARN_REPLAY_BLOCKS_H
#define TCPLEARN_REPLAY_BLOCKS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tcplearn {

// There are at most 2 * kBlocks blocks. When they are full, neighbours are merged, so blocks become
// longer as the series grows. All estimators have the same blocks.
class Blocks {
 public:
  static constexpr std::size_t kBlocks = 64;
  enum Sum : std::size_t { kAbsError, kAtSendError, kMisses, kRto, kExcess, kSums };

  explicit Blocks(std::size_t estimators) : width_(estimators * kSums) {}

  // Begins a sample. Returns the sums to which the caller adds, indexed [estimator * kSums + sum].
  double* next();
  std::size_t count() const { return width_ ? sums_.size() / width_ : 0; }
  std::uint64_t per_block() const { return per_block_; }
  // indexed [(block * estimators + e) * kSums + sum]
  const std::vector<double>& sums() const { return sums_; }

 private:
  void halve();

  std::size_t width_;
  std::uint64_t per_block_ = 1, in_last_ = 1;
  std::vector<double> sums_;
};

}  // namespace tcplearn

#endif
