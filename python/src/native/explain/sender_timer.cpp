// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sender_timer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "tcplearn/tcplearn.h"

namespace tcplearn {
namespace {

// Linux's RTO after its first sample R: R + 4 · max(R / 2, 50 ms) (RFC 6298, 2.2, with tcp_rto_min).
constexpr std::int64_t kLeastVarianceUs = 200'000;

struct Model {
  const tl_estimator* estimator = tl_estimator_find("linux", TL_F64);
  std::vector<std::uint64_t> params = std::vector<std::uint64_t>(estimator->algorithm.params_bytes / 8 + 1);
  std::size_t words = 0;
  Model() {
    estimator->algorithm.defaults(params.data());
    words = (estimator->algorithm.state_bytes(params.data()) + 7) / 8;
  }
};

const Model& model() {
  static const Model made;
  return made;
}

// Returns the granularity, in ticks, of the timer wheel's level for a wait.
std::int64_t granularity(std::int64_t wait_us, std::int64_t tick_us) {
  std::int64_t out = 1;
  const std::int64_t ticks = (wait_us + tick_us - 1) / tick_us;
  for (std::int64_t most = 63; ticks >= most && out < 4096; most *= 8) out *= 8;
  return out;
}

}  // namespace

void SenderTimer::sample(std::int64_t now_us, std::int64_t rtt_us) {
  const Model& linux_tcp = model();
  if (!state_) {
    state_ = std::make_unique<std::uint64_t[]>(linux_tcp.words);
    linux_tcp.estimator->algorithm.init(state_.get(), linux_tcp.params.data());
    if (begun_us_ >= 0) sample(now_us - rtt_us, begun_us_);
  }
  tl_sample in{};
  in.time_us = now_us;
  in.rtt_us = std::max<std::int64_t>(rtt_us, 1);
  in.sent_us = now_us - in.rtt_us;
  linux_tcp.estimator->update(state_.get(), &in);
}

std::int64_t SenderTimer::srtt_us() const {
  if (!state_) return begun_us_;
  tl_prediction said{};
  model().estimator->query(state_.get(), &said);
  return std::llround(said.rtt_us);
}

std::int64_t SenderTimer::rto_us() const {
  if (!state_) return begun_us_ < 0 ? -1 : begun_us_ + std::max(kLeastVarianceUs, 2 * begun_us_);
  tl_prediction said{};
  model().estimator->query(state_.get(), &said);
  return std::llround(said.rto_us);
}

std::int64_t TimerTicks::fires_us(std::int64_t now_us, std::int64_t wait_us) const {
  const std::int64_t tick_us = kTicksUs[best_];
  const std::int64_t steps = granularity(wait_us, tick_us);
  const std::int64_t ticks = now_us / tick_us + (wait_us + tick_us - 1) / tick_us;
  return (ticks / steps + 1) * steps * tick_us;
}

void TimerTicks::seen(std::int64_t wait_us, std::int64_t waited_us) {
  for (std::size_t i = 0; i < kTicksUs.size(); ++i) {
    // the mean delay over all phases of the tick
    const std::int64_t late_us = kTicksUs[i] * (granularity(wait_us, kTicksUs[i]) + 1) / 2;
    const std::int64_t error_us = std::abs(waited_us - wait_us - late_us);
    errors_us_[i] += static_cast<std::int32_t>(std::min<std::int64_t>(error_us, kMostErrorUs));
    if (errors_us_[i] < errors_us_[best_]) best_ = static_cast<std::uint8_t>(i);
  }
  // only the differences between the sums count
  if (*std::max_element(errors_us_.begin(), errors_us_.end()) > kMostSumUs)
    for (std::int32_t& error_us : errors_us_) error_us /= 2;
}

}  // namespace tcplearn
