// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The best predictor of each of three families, chosen in hindsight, with which regret is computed.
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
  static constexpr std::size_t kGains = 8;  // 1, 1/2, ..., 1/128
  // Penalties of a switch in us of error, from 1 us in steps of the square root of 2 to 12 s.
  static constexpr std::size_t kPenalties = 48;
  // T samples allow at most T / kSamplesPerSwitch switches.
  static constexpr std::uint64_t kSamplesPerSwitch = 100;

  explicit Hindsight(std::size_t estimators) : estimators_(estimators) {}

  // The first sample starts the EWMAs; the others are scored, with the prediction of each estimator.
  void add(double rtt_us, const double* predicted_us);

  std::uint64_t scored() const { return rtts_us_.count(); }
  // Sums of |error| over the scored samples; 0 without any.
  double best_constant_us() const;
  double best_ewma_us() const;
  // A lower bound, tight if the costs for 0, 1, 2, ... switches are convex.
  double best_switching_us() const;

 private:
  using Costs = std::array<double, kPenalties>;
  void step(double rtt_us, const double* predicted_us);

  std::size_t estimators_;
  bool started_ = false;
  double sum_rtt_us_ = 0;
  double sum_least_us_ = 0;  // the best estimator of each sample, with free switches
  Quantiles rtts_us_;
  std::array<double, kGains> ewma_us_{}, ewma_error_us_{};
  std::vector<double> fixed_error_us_;  // each estimator alone: no switch
  std::vector<Costs> costs_us_;         // of the best sequence that ends with an estimator, by penalty
  Costs least_us_{};                    // the smallest of these over the estimators
};

}  // namespace tcplearn

#endif
