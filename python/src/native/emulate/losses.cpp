// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/losses.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tcplearn::emulate {

namespace {

std::int64_t whole_ns(double ns) { return std::max<std::int64_t>(std::llround(ns), 1); }

}  // namespace

bool FadeTimes::holds(std::int64_t now_ns) {
  while (ends_ns_.empty() || ends_ns_.back() <= now_ns) {
    const bool is_pause = ends_ns_.size() % 2 == 0;
    const auto [shortest, longest] = drawn_.lasts_ns;
    const double chance = draw_.uniform();
    const double lasts = !is_pause            ? shortest * std::pow(longest / shortest, chance)
                         : drawn_.exponential ? -drawn_.apart_ns * std::log1p(-chance)
                                              : drawn_.apart_ns * (0.5 + chance);
    ends_ns_.push_back((ends_ns_.empty() ? 0 : ends_ns_.back()) + whole_ns(lasts));
  }
  const auto next = std::upper_bound(ends_ns_.begin(), ends_ns_.end(), now_ns);
  return (next - ends_ns_.begin()) % 2 == 1;
}

Losses::Losses(const Direction& direction, std::shared_ptr<FadeTimes> drawn, std::uint64_t seed,
               std::uint64_t hop, bool forward)
    : d_(direction),
      drawn_(std::move(drawn)),
      random_(seed, hop, forward, Purpose::kLoss),
      bursts_(seed, hop, forward, Purpose::kBursts),
      burst_loss_(seed, hop, forward, Purpose::kBurstLoss) {
  if (d_.policer) tokens_ = static_cast<double>(d_.policer->bytes);
  if (d_.bursts && d_.bursts->in_time) state_ends_ns_ = whole_ns(bursts_.exponential(d_.bursts->leave_good));
}

// Returns whether the policer drops the packet: its bucket is full at first, and has too few tokens now.
bool Losses::over_rate(std::int64_t now_ns, std::int64_t bytes) {
  const double filled = tokens_ + static_cast<double>(now_ns - filled_ns_) * d_.policer->mbps / 8e3;
  tokens_ = std::min(filled, static_cast<double>(d_.policer->bytes));
  filled_ns_ = now_ns;
  const bool drops = tokens_ < static_cast<double>(bytes);
  if (!drops) tokens_ -= static_cast<double>(bytes);
  return drops;
}

Cause Losses::cause(std::int64_t now_ns, std::int64_t bytes) {
  if (d_.policer && over_rate(now_ns, bytes)) return Cause::kPolicer;
  const double loss = d_.changes.empty() ? d_.loss : in_force(d_, now_ns).loss;
  const bool by_chance = loss > 0 && random_.uniform() < loss;
  const bool by_burst = d_.bursts && loss <= 0 && in_burst(now_ns);
  if (in_fade(now_ns)) return Cause::kFade;
  if (by_chance) return Cause::kRandom;
  return by_burst ? Cause::kBurst : Cause::kNone;
}

bool Losses::in_fade(std::int64_t now_ns) {
  return std::any_of(d_.fades.begin(), d_.fades.end(),
                     [&](const Dated& fade) { return fade.holds(now_ns); }) ||
         (drawn_ && drawn_->holds(now_ns));
}

bool Losses::in_burst(std::int64_t now_ns) {
  const Bursts& b = *d_.bursts;
  // as in netem, the state before a packet's transition decides on its loss
  const bool found_bad = after(now_ns, bad_);
  return burst_loss_.uniform() < (found_bad ? b.loss_in_bad : b.loss_in_good);
}

// Moves the state on to `now_ns`, or by one packet; returns the state that decides.
bool Losses::after(std::int64_t now_ns, bool found_bad) {
  const Bursts& b = *d_.bursts;
  if (b.in_time) {
    while (state_ends_ns_ <= now_ns) {
      bad_ = !bad_;
      state_ends_ns_ += whole_ns(bursts_.exponential(bad_ ? b.leave_bad : b.leave_good));
    }
    return bad_;
  }
  if (bursts_.uniform() < (bad_ ? b.leave_bad : b.leave_good)) bad_ = !bad_;
  return found_bad;
}

}  // namespace tcplearn::emulate
