// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "path_statistics.h"

#include <stdexcept>
#include <utility>

namespace tcplearn {

namespace {

constexpr std::int64_t kPriceUs = 100'000;  // the price of `priced` by default

}  // namespace

StatisticalTimer::StatisticalTimer(std::shared_ptr<const PathStatistics> path)
    : path_(std::move(path)), wait_(path_->first.lost_share(), path_->again.lost_share(), kPriceUs) {
  if (path_->rtt_us.empty()) throw std::invalid_argument("no round trip in the run that observes the path");
}

std::int64_t StatisticalTimer::begun_us(std::int64_t time_us) {
  began_us_ = time_us;
  return wait_.sent(rtts_near(path_->sent_us.data(), path_->rtt_us.data(), path_->rtt_us.size(), time_us));
}

std::int64_t StatisticalTimer::fired_us(std::int64_t time_us) { return wait_.fired(time_us - began_us_); }

}  // namespace tcplearn
