// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/lateness.h"

#include <algorithm>
#include <cmath>

namespace tcplearn::emulate {

void Lateness::add(std::int64_t late_ns) {
  const std::int64_t us = std::max<std::int64_t>(late_ns, 0) / 1000;
  std::int64_t index = us, above = us, octave = 0;
  if (us >= kLinear) {
    for (; above >= 2 * kLinear; above /= 2) ++octave;
    index = kLinear + octave * kPerOctave + (above - kLinear) * kPerOctave / kLinear;
  }
  ++counts_[static_cast<std::size_t>(std::min(index, kLinear + kOctaves * kPerOctave - 1))];
  ++count_;
  most_us_ = std::max(most_us_, us);
}

std::int64_t Lateness::quantile_us(double part) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen == 0 || seen < wanted) continue;
    const auto index = static_cast<std::int64_t>(i);
    if (index < kLinear) return index;
    const std::int64_t octave = (index - kLinear) / kPerOctave, step = (index - kLinear) % kPerOctave + 1;
    return std::min(((kLinear + step * (kLinear / kPerOctave)) << octave) - 1, most_us_);
  }
  return 0;
}

}  // namespace tcplearn::emulate
