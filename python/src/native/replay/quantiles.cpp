// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/quantiles.h"

#include <algorithm>
#include <utility>

namespace tcplearn {

namespace {
// Sorts the values. Values from the level below are nearly always two sorted runs.
void sort_runs(std::vector<double>& values) {
  const auto second = std::is_sorted_until(values.begin(), values.end());
  if (std::is_sorted(second, values.end())) {
    std::inplace_merge(values.begin(), second, values.end());
  } else {
    std::sort(values.begin(), values.end());
  }
}
}  // namespace

void Quantiles::add(double value) {
  if (levels_.empty()) levels_.emplace_back();
  levels_[0].values.push_back(value);
  ++count_;
  if (levels_[0].values.size() >= kCapacity) compact(0);
}

void Quantiles::compact(std::size_t level) {
  if (level + 1 == levels_.size()) levels_.emplace_back();
  auto& from = levels_[level];
  auto& to = levels_[level + 1].values;
  sort_runs(from.values);
  // an odd value stays on this level, so that no weight is lost
  const bool left_over = from.values.size() % 2 == 1;
  const double kept = left_over ? from.values.back() : 0;
  const std::size_t pairs = from.values.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) to.push_back(from.values[2 * i + (from.odd ? 1 : 0)]);
  from.odd = !from.odd;
  from.values.clear();
  if (left_over) from.values.push_back(kept);
  if (to.size() >= kCapacity) compact(level + 1);
}

void Quantiles::merge(const Quantiles& other) {
  if (levels_.size() < other.levels_.size()) levels_.resize(other.levels_.size());
  for (std::size_t h = 0; h < other.levels_.size(); ++h) {
    const auto& more = other.levels_[h].values;
    levels_[h].values.insert(levels_[h].values.end(), more.begin(), more.end());
  }
  count_ += other.count_;
  for (std::size_t h = 0; h < levels_.size(); ++h) {
    if (levels_[h].values.size() >= kCapacity) compact(h);
  }
}

std::vector<double> Quantiles::at(const std::vector<double>& probabilities) const {
  std::vector<std::pair<double, std::uint64_t>> all;
  std::uint64_t total = 0;
  for (std::size_t h = 0; h < levels_.size(); ++h) {
    for (const double v : levels_[h].values) all.emplace_back(v, std::uint64_t{1} << h);
    total += levels_[h].values.size() << h;
  }
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  std::vector<double> out;
  out.reserve(probabilities.size());
  std::size_t i = 0;
  std::uint64_t below = 0;  // weight of all[0, i)
  for (const double p : probabilities) {
    const double rank = p * static_cast<double>(total);
    while (i + 1 < all.size() && static_cast<double>(below + all[i].second) < rank) below += all[i++].second;
    out.push_back(all[i].first);
  }
  return out;
}

double Quantiles::sum_below(double x) const {
  double sum = 0;
  for (std::size_t h = 0; h < levels_.size(); ++h) {
    double level = 0;
    for (const double v : levels_[h].values) level += v < x ? x - v : 0;
    sum += level * static_cast<double>(std::uint64_t{1} << h);
  }
  return sum;
}

}  // namespace tcplearn
