// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/history.h"

#include <algorithm>
#include <utility>

namespace tcplearn {

InForce History::in_force(std::size_t at) {
  double* values = values_.data() + at * width_;
  return {rows_[at].any_sample, values, values + width_ / 2};
}

InForce History::add(std::int64_t time_us, bool any_sample) {
  if (count_ == rows_.size()) grow();
  const std::size_t at = slot(count_++);
  rows_[at] = {time_us, any_sample};
  return in_force(at);
}

void History::forget(std::int64_t time_us, std::int64_t head_us) {
  while (count_ > 0 && rows_[first_].time_us <= (count_ > kMostBehind ? head_us : time_us)) {
    first_ = slot(1);
    --count_;
  }
}

InForce History::at(std::int64_t time_us) {
  std::size_t low = 0, high = count_ - 1;  // the newest row is in force for all later times
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (time_us < rows_[slot(middle)].time_us) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return in_force(slot(low));
}

void History::grow() {
  std::vector<Row> rows(std::max<std::size_t>(2 * rows_.size(), 16));
  std::vector<double> values(rows.size() * width_);
  for (std::size_t i = 0; i < count_; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(slot(i) * width_);
    rows[i] = rows_[slot(i)];
    std::copy_n(values_.begin() + from, width_, values.begin() + static_cast<std::ptrdiff_t>(i * width_));
  }
  rows_ = std::move(rows);
  values_ = std::move(values);
  first_ = 0;
}

}  // namespace tcplearn
