// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "resend/limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tcplearn {

namespace {

constexpr std::int64_t kUntilAnswered = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::int64_t kLongestWait = 120'000'000;  // Linux's TCP_RTO_MAX
// Recorded RTTs on each side of a time from which the distribution near it is taken.
constexpr std::size_t kSide = 32;

}  // namespace

std::int64_t Clairvoyant::sent_us(std::int64_t, const Fate& fate) {
  next_us_ = fate.rtt_us;
  resends_ = 0;
  return fate.lost ? next_us_ : kUntilAnswered;
}

std::int64_t Clairvoyant::fired_us(std::int64_t, const Fate& fate) {
  if (!doubles_)
    next_us_ = fate.rtt_us;
  else if (resends_++ > 0)  // after the first, which stands for a probe, the wait stays
    next_us_ = std::min(2 * next_us_, kLongestWait);
  return fate.lost ? next_us_ : kUntilAnswered;
}

// Returns the recorded RTTs around a time, `kSide` before and after, in rising order; fewer at the ends of
// the record, which repeats as in rtt_at().
std::vector<std::int64_t> Statistical::near(std::int64_t at_us) const {
  const std::int64_t length_us = std::max<std::int64_t>(record_.time_us[record_.rows - 1], 1);
  const auto* end = record_.time_us + record_.rows;
  const auto row =
      static_cast<std::size_t>(std::lower_bound(record_.time_us, end, at_us % length_us) - record_.time_us);
  const std::size_t first = row > kSide ? row - kSide : 0, last = std::min(row + kSide, record_.rows);
  std::vector<std::int64_t> out(record_.rtt_us + first, record_.rtt_us + last);
  std::sort(out.begin(), out.end());
  return out;
}

// Returns the next wait, one of the RTTs near the time, with the lowest expected cost of this wait alone.
// With the chance `needed` nothing is under way, so that the wait is lost time; with the chance `late` the
// first transmission is only late; with the chance `through` the one just sent is on its way.
std::int64_t Statistical::cheapest_us(double needed, double late, double through) const {
  const std::size_t rows = rtts_us_.size(), past = rows_until(waited_us_);
  const auto logs = [this](std::size_t from, std::int64_t less_us) {  // sums of logarithms from each row on
    std::vector<double> out(rtts_us_.size() + 1);
    for (std::size_t k = rtts_us_.size(); k-- > from;)
      out[k] = out[k + 1] + std::log2(static_cast<double>(rtts_us_[k] - less_us));
    return out;
  };
  const std::vector<double> fresh = logs(0, 0), left = logs(past, waited_us_);
  const auto beyond = [rows](const std::vector<double>& sums, std::size_t from, double wait) {
    return static_cast<double>(rows - from) * (1 - std::log2(wait)) + sums[from];
  };
  std::int64_t best_us = kLongestWait;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t wait_us : rtts_us_) {
    const auto wait = static_cast<double>(wait_us);
    double spurious = through / static_cast<double>(rows) * beyond(fresh, rows_until(wait_us), wait);
    if (past < rows)
      spurious +=
          late / static_cast<double>(rows - past) * beyond(left, rows_until(waited_us_ + wait_us), wait);
    const double cost = needed * wait + price_us_ * spurious;
    if (cost < least) {
      least = cost;
      best_us = wait_us;
    }
  }
  return best_us + 1;  // an answer that takes as long arrives before
}

// Returns the number of RTTs near the first transmission that are at most `us`.
std::size_t Statistical::rows_until(std::int64_t us) const {
  return static_cast<std::size_t>(std::upper_bound(rtts_us_.begin(), rtts_us_.end(), us) - rtts_us_.begin());
}

std::int64_t Statistical::sent_us(std::int64_t at_us, const Fate&) {
  rtts_us_ = near(at_us);
  waited_us_ = 0;
  began_us_ = at_us;
  return cheapest_us(lost_, 0, 1 - lost_);
}

std::int64_t Statistical::fired_us(std::int64_t at_us, const Fate&) {
  waited_us_ = at_us - began_us_;
  const auto still = static_cast<double>(rtts_us_.size() - rows_until(waited_us_));
  const double late = (1 - lost_) * still / static_cast<double>(rtts_us_.size());
  const double lost = lost_ / std::max(lost_ + late, 1e-12);
  return cheapest_us(lost * lost_again_, 1 - lost, lost * (1 - lost_again_));
}

}  // namespace tcplearn
