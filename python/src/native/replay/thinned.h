// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A flow over time with a bounded number of points, for pictures.
#ifndef TCPLEARN_REPLAY_THINNED_H
#define TCPLEARN_REPLAY_THINNED_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tcplearn {

// There are at most 2 * kPoints points. When they are full, neighbours are merged.
struct Thinned {
  static constexpr std::size_t kPoints = 1200;
  std::uint64_t per_point = 1, in_last = 0;
  std::vector<double> time_us, low_us, high_us;
  std::vector<double> prediction_us, rto_us;  // indexed [point * estimators + e]

  void add(double time, double rtt, const double* prediction, const double* rto, std::size_t estimators);
  std::size_t points() const { return time_us.size(); }

 private:
  void halve(std::size_t estimators);
};

}  // namespace tcplearn

#endif
