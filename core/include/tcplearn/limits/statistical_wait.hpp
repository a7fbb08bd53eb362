// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The waits of a retransmission timer that knows the distribution of the RTTs near the time of sending and
// the shares of transmissions that are lost, but not what becomes of a single transmission. No sender has
// such a timer. Simulations over recorded RTTs and in ns-3 use it as a limit: how much better statistics
// could help a resend policy. It is C++ for programs on a host; the C library does not contain it.
#ifndef TCPLEARN_LIMITS_STATISTICAL_WAIT_HPP
#define TCPLEARN_LIMITS_STATISTICAL_WAIT_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tcplearn {

// Returns the RTTs around the time `at_us`, 32 recorded before it and 32 after it, in rising order; fewer at
// the ends of the record. `time_us` has `rows` rising times, `rtt_us` the RTT at each.
inline std::vector<std::int64_t> rtts_near(const std::int64_t* time_us, const std::int64_t* rtt_us,
                                           std::size_t rows, std::int64_t at_us) {
  constexpr std::size_t kSide = 32;
  const auto row = static_cast<std::size_t>(std::lower_bound(time_us, time_us + rows, at_us) - time_us);
  const std::size_t first = row > kSide ? row - kSide : 0, last = std::min(row + kSide, rows);
  std::vector<std::int64_t> out(rtt_us + first, rtt_us + last);
  std::sort(out.begin(), out.end());
  return out;
}

// The waits of one request. Each has the lowest expected cost, chosen for that wait alone: the waiting for
// what is lost, and `price_us` for each spurious retransmission, one more for each doubling (as `priced`
// counts them).
class StatisticalWait {
 public:
  // `lost` is the share of first transmissions that are lost, `lost_again` that of retransmissions after a
  // loss.
  StatisticalWait(double lost, double lost_again, std::int64_t price_us)
      : lost_(lost), lost_again_(lost_again), price_us_(static_cast<double>(price_us)) {}

  // Returns the wait in microseconds after a first transmission. `rtts_us` has the RTTs near its time in
  // rising order, at least one.
  std::int64_t sent(std::vector<std::int64_t> rtts_us) {
    rtts_us_ = std::move(rtts_us);
    return cheapest_us(0, {lost_, 0, 1 - lost_});
  }

  // Returns the next wait, if the answer to the first transmission is still missing after `waited_us`.
  std::int64_t fired(std::int64_t waited_us) const {
    const auto still = static_cast<double>(rtts_us_.size() - rows_until(waited_us));
    const double late = (1 - lost_) * still / static_cast<double>(rtts_us_.size());
    const double lost = lost_ / std::max(lost_ + late, 1e-12);
    return cheapest_us(waited_us, {lost * lost_again_, 1 - lost, lost * (1 - lost_again_)});
  }

 private:
  // The chances that nothing is under way, that the first transmission is only late, and that the one just
  // sent is on its way.
  struct Chances {
    double needed, late, through;
  };

  // Returns the number of RTTs that are at most `us`.
  std::size_t rows_until(std::int64_t us) const {
    return static_cast<std::size_t>(std::upper_bound(rtts_us_.begin(), rtts_us_.end(), us) -
                                    rtts_us_.begin());
  }

  std::int64_t cheapest_us(std::int64_t waited_us, const Chances& chances) const {
    const std::size_t rows = rtts_us_.size(), past = rows_until(waited_us);
    const auto logs = [this](std::size_t from, std::int64_t less_us) {  // sums of logarithms from each row on
      std::vector<double> out(rtts_us_.size() + 1);
      for (std::size_t k = rtts_us_.size(); k-- > from;)
        out[k] = out[k + 1] + std::log2(static_cast<double>(rtts_us_[k] - less_us));
      return out;
    };
    const std::vector<double> fresh = logs(0, 0), left = logs(past, waited_us);
    const auto beyond = [rows](const std::vector<double>& sums, std::size_t from, double wait) {
      return static_cast<double>(rows - from) * (1 - std::log2(wait)) + sums[from];
    };
    std::int64_t best_us = kLongestWaitUs;
    double least = std::numeric_limits<double>::infinity();
    for (const std::int64_t wait_us : rtts_us_) {
      const auto wait = static_cast<double>(wait_us);
      double spurious =
          chances.through / static_cast<double>(rows) * beyond(fresh, rows_until(wait_us), wait);
      if (past < rows)
        spurious += chances.late / static_cast<double>(rows - past) *
                    beyond(left, rows_until(waited_us + wait_us), wait);
      const double cost = chances.needed * wait + price_us_ * spurious;
      if (cost < least) {
        least = cost;
        best_us = wait_us;
      }
    }
    return best_us + 1;  // an answer that takes as long arrives before
  }

  static constexpr std::int64_t kLongestWaitUs = 120'000'000;  // Linux's TCP_RTO_MAX
  double lost_, lost_again_, price_us_;
  std::vector<std::int64_t> rtts_us_;
};

}  // namespace tcplearn

#endif
