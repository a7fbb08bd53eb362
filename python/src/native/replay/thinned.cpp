// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/thinned.h"

#include <algorithm>

namespace tcplearn {

void Thinned::add(double time, double rtt, const double* prediction, const double* rto,
                  std::size_t estimators) {
  if (in_last == per_point || time_us.empty()) {
    if (points() == 2 * kPoints) halve(estimators);
  }
  if (time_us.empty() || in_last == per_point) {
    time_us.push_back(time);
    low_us.push_back(rtt);
    high_us.push_back(rtt);
    prediction_us.insert(prediction_us.end(), prediction, prediction + estimators);
    rto_us.insert(rto_us.end(), rto, rto + estimators);
    in_last = 1;
    return;
  }
  ++in_last;
  time_us.back() = time;
  low_us.back() = std::min(low_us.back(), rtt);
  high_us.back() = std::max(high_us.back(), rtt);
  const auto back = static_cast<std::ptrdiff_t>(estimators);
  std::copy(prediction, prediction + estimators, prediction_us.end() - back);
  std::copy(rto, rto + estimators, rto_us.end() - back);
}

void Thinned::halve(std::size_t estimators) {
  const std::size_t half = points() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    time_us[i] = time_us[2 * i + 1];
    low_us[i] = std::min(low_us[2 * i], low_us[2 * i + 1]);
    high_us[i] = std::max(high_us[2 * i], high_us[2 * i + 1]);
    for (std::size_t e = 0; e < estimators; ++e) {
      prediction_us[i * estimators + e] = prediction_us[(2 * i + 1) * estimators + e];
      rto_us[i * estimators + e] = rto_us[(2 * i + 1) * estimators + e];
    }
  }
  time_us.resize(half);
  low_us.resize(half);
  high_us.resize(half);
  prediction_us.resize(half * estimators);
  rto_us.resize(half * estimators);
  per_point *= 2;
  in_last = per_point;
}

}  // namespace tcplearn
