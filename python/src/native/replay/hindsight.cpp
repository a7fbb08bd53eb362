// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/hindsight.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tcplearn {

namespace {
const std::array<double, Hindsight::kPenalties>& penalties_us() {
  static const auto table = [] {
    std::array<double, Hindsight::kPenalties> p{};
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::exp2(0.5 * static_cast<double>(i));
    return p;
  }();
  return table;
}
}  // namespace

void Hindsight::add(double rtt_us, const double* predicted_us) {
  if (started_) {
    sum_rtt_us_ += rtt_us;
    rtts_us_.add(rtt_us);
    step(rtt_us, predicted_us);
    double gain = 1;
    for (std::size_t g = 0; g < kGains; ++g, gain /= 2) {
      const double error = rtt_us - ewma_us_[g];
      ewma_error_us_[g] += std::fabs(error);
      ewma_us_[g] += gain * error;
    }
    return;
  }
  started_ = true;
  ewma_us_.fill(rtt_us);
  fixed_error_us_.assign(estimators_, 0.0);
  costs_us_.assign(estimators_, Costs{});
}

// One step of the Viterbi algorithm over the estimators, for each penalty: stay with an estimator, or
// switch from the cheapest one and pay the penalty.
void Hindsight::step(double rtt_us, const double* predicted_us) {
  Costs moved, least;
  const Costs& penalty = penalties_us();
  for (std::size_t i = 0; i < kPenalties; ++i) moved[i] = least_us_[i] + penalty[i];
  least.fill(std::numeric_limits<double>::infinity());
  double least_error = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < estimators_; ++e) {
    const double error = std::fabs(predicted_us[e] - rtt_us);
    fixed_error_us_[e] += error;
    least_error = error < least_error ? error : least_error;
    Costs& cost = costs_us_[e];
    for (std::size_t i = 0; i < kPenalties; ++i) {
      const double c = (cost[i] < moved[i] ? cost[i] : moved[i]) + error;
      cost[i] = c;
      least[i] = c < least[i] ? c : least[i];
    }
  }
  sum_least_us_ += least_error;
  least_us_ = least;
}

double Hindsight::best_constant_us() const {
  if (scored() == 0) return 0;
  // Any median has the least error. Only the sum below the median comes from the sketch, because its
  // error is bounded by the smallest RTT; the sum above has no such bound.
  const double median = rtts_us_.at({0.5}).front();
  return sum_rtt_us_ - static_cast<double>(scored()) * median + 2 * rtts_us_.sum_below(median);
}

double Hindsight::best_ewma_us() const {
  return *std::min_element(ewma_error_us_.begin(), ewma_error_us_.end());
}

double Hindsight::best_switching_us() const {
  if (scored() == 0 || estimators_ == 0) return 0;
  const std::uint64_t switches = scored() / kSamplesPerSwitch;
  if (switches == 0) return *std::min_element(fixed_error_us_.begin(), fixed_error_us_.end());
  // A sequence s with n(s) <= k switches costs L(s) >= L(s) + p (n(s) - k) >= least(p) - p k, for any p
  // >= 0.
  double bound = sum_least_us_;
  for (std::size_t i = 0; i < kPenalties; ++i) {
    bound = std::max(bound, least_us_[i] - penalties_us()[i] * static_cast<double>(switches));
  }
  return bound;
}

}  // namespace tcplearn
