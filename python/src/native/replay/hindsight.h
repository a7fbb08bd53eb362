// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The best predictor of each of three families, chosen in hindsight. Regret is an estimator's error minus
// that of such a predictor.
#ifndef TCPLEARN_REPLAY_HINDSIGHT_H
#define TCPLEARN_REPLAY_HINDSIGHT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/quantiles.h"

namespace tcplearn {

class Hindsight {
 public:
  static constexpr std::size_t kGains = 8;  // gains 1, 1/2, ..., 1/128
  // Penalties for a switch between estimators: 1 us to 12 s of error, in steps of sqrt(2).
  static constexpr std::size_t kPenalties = 48;
  // T samples allow at most T / kSamplesPerSwitch switches.
  static constexpr std::uint64_t kSamplesPerSwitch = 100;

  explicit Hindsight(std::size_t estimators) : estimators_(estimators) {}

  // Takes a sample with the prediction of each estimator. All samples but the first are scored.
  void add(double rtt_us, const double* predicted_us);

  std::uint64_t scored() const { return rtts_us_.count(); }
  // These functions return sums of |error| over the scored samples, 0 if there are none.
  double best_constant_us() const;
  double best_ewma_us() const;
  // Returns a lower bound for sequences of estimators with a limited number of switches. It is exact if
  // the costs for 0, 1, 2, ... switches are convex.
  double best_switching_us() const;

 private:
  using Costs = std::array<double, kPenalties>;
  void step(double rtt_us, const double* predicted_us);

  std::size_t estimators_;
  bool started_ = false;
  double sum_rtt_us_ = 0;
  double sum_least_us_ = 0;  // error of the best estimator of each sample, if switches cost nothing
  Quantiles rtts_us_;
  std::array<double, kGains> ewma_us_{}, ewma_error_us_{};
  std::vector<double> fixed_error_us_;  // error of each estimator alone, without a switch
  std::vector<Costs> costs_us_;  // cost of the best sequence that ends with an estimator, for each penalty
  Costs least_us_{};             // the smallest of these costs over the estimators
};

}  // namespace tcplearn

#endif
