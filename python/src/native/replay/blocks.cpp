// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/blocks.h"

namespace tcplearn {

double* Blocks::next() {
  if (sums_.empty() || in_last_ == per_block_) {
    if (count() == 2 * kBlocks) halve();
    sums_.resize(sums_.size() + width_, 0.0);
    in_last_ = 0;
  }
  ++in_last_;
  return sums_.data() + (sums_.size() - width_);
}

void Blocks::halve() {
  const std::size_t half = count() / 2;
  for (std::size_t b = 0; b < half; ++b) {
    for (std::size_t i = 0; i < width_; ++i) {
      sums_[b * width_ + i] = sums_[2 * b * width_ + i] + sums_[(2 * b + 1) * width_ + i];
    }
  }
  sums_.resize(half * width_);
  per_block_ *= 2;
}

}  // namespace tcplearn
