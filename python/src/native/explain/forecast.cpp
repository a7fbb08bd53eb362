// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "forecast.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>

namespace tcplearn {
namespace {

// The most retransmissions of an unanswered segment; after these the waits are minutes.
constexpr std::size_t kMostFires = 64;

// Returns when a path that was down is assumed to work again. The time is drawn, reproducibly, from
// between the last lost transmission and the one that arrived; 5 % at either end are left out, because
// the model of a timer is only approximate.
std::int64_t back_us(const TimedLoss& lost) {
  if (lost.resends < 2) return lost.silent_until_us;
  constexpr double kGolden = 0.6180339887498949, kEnds = 0.05;
  const double even = std::fmod(static_cast<double>(lost.start_us) * kGolden, 1.0);
  const double part = kEnds + (1 - 2 * kEnds) * even;
  return lost.silent_until_us + std::llround(part * static_cast<double>(lost.end_us - lost.silent_until_us));
}

std::int32_t since(std::int64_t from_us, std::int64_t to_us) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(to_us - from_us, 0, std::numeric_limits<std::int32_t>::max()));
}

// Returns `spec` with {N} replaced by N us, rounded up to whole ticks, and {N ticks} by N ticks in us.
std::string in_ticks(const std::string& spec, std::int64_t tick_us) {
  const std::size_t open = spec.find('{'), close = spec.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return spec;
  const std::string inner = spec.substr(open + 1, close - open - 1);
  const std::int64_t number = std::atoll(inner.c_str());
  const std::int64_t ticks =
      inner.find(" ticks") == std::string::npos ? (number + tick_us - 1) / tick_us : number;
  return spec.substr(0, open) + std::to_string(ticks * tick_us) + spec.substr(close + 1);
}

}  // namespace

Candidates::Candidates(const std::vector<std::string>& specs) {
  if (specs.size() > kMostCandidates) throw std::invalid_argument("too many resend policies");
  static const std::string kAnd = " + ";
  for (const std::string& spec : specs) {
    Candidate one;
    for (std::size_t from = 0; from != std::string::npos;) {
      const std::size_t to = spec.find(kAnd, from);
      one.push_back(read(spec.substr(from, to == std::string::npos ? to : to - from)));
      from = to == std::string::npos ? to : to + kAnd.size();
    }
    all_.push_back(std::move(one));
  }
}

Candidates::Policy Candidates::read(const std::string& spec) {
  Policy out;
  char error[TL_ERROR_BYTES_MAX];
  for (std::size_t i = 0; i < out.params.size(); ++i) {
    out.params[i].resize(TL_PARAMS_BYTES_MAX / 8);
    const tl_algorithm* found =
        tl_algorithm_read(TL_KIND_RESEND, TL_FIX, in_ticks(spec, TimerTicks::kTicksUs[i]).c_str(),
                          out.params[i].data(), nullptr, error, sizeof(error));
    if (found == nullptr) throw std::invalid_argument(error);
    out.core = reinterpret_cast<const tl_resend_policy*>(found);
  }
  out.at = words_;
  words_ += (out.core->algorithm.state_bytes(out.params[0].data()) + 7) / 8;
  return out;
}

Forecast::Forecast(const Candidates& candidates, TimerTicks& ticks, const std::vector<std::uint64_t>* earlier)
    : candidates_(candidates), ticks_(ticks), states_(candidates.words()) {
  for (const Candidates::Candidate& candidate : candidates_.all_)
    for (const Candidates::Policy& one : candidate) {
      one.core->algorithm.init(state(one), one.params[ticks_.best()].data());
      if (earlier != nullptr) one.core->inherit(state(one), earlier->data() + one.at);
    }
}

template <typename Tell>
std::int64_t Forecast::longest(std::size_t k, Tell tell) {
  std::int64_t most_us = 1;
  for (const Candidates::Policy& one : candidates_.all_[k]) {
    tl_resend_wait wait{};
    tell(*one.core, state(one), wait);
    most_us = std::max(most_us, wait.wait_us);
  }
  return most_us;
}

std::int64_t Forecast::sent(std::size_t k, const tl_resend_event& event) {
  return longest(k, [&](const auto& core, void* state, auto& wait) { core.send(state, &event, &wait); });
}

std::int64_t Forecast::expired(std::size_t k, const tl_resend_event& event) {
  return longest(k, [&](const auto& core, void* state, auto& wait) { core.timer(state, &event, &wait); });
}

std::int64_t Forecast::acked(std::size_t k, const tl_resend_ack& ack) {
  return longest(k, [&](const auto& core, void* state, auto& wait) { core.ack(state, &ack, &wait); });
}

void Forecast::on_sent(std::int64_t now_us, std::uint32_t out) {
  now_us_ = std::max(now_us_, now_us);
  out_ = out;
  for (std::size_t k = 0; k < candidates_.size(); ++k) {
    fire(k, now_us_);
    const std::int64_t wait_us = sent(k, {now_us_, out});
    if (k == 0) asked_us_ = wait_us;
    arm(k, now_us_, wait_us);
  }
}

void Forecast::arm(std::size_t k, std::int64_t from_us, std::int64_t wait_us) {
  running_[k].due_us = ticks_.fires_us(from_us, wait_us);
}

// Runs the candidate's timer: retransmits at each wait that ends before `until_us`.
void Forecast::fire(std::size_t k, std::int64_t until_us) {
  Running& run = running_[k];
  while (run.due_us >= 0 && run.due_us < until_us && run.sent_us.size() < kMostFires) {
    run.sent_us.push_back(run.due_us);
    arm(k, run.due_us, expired(k, {run.due_us, out_}));
  }
}

void Forecast::on_ack(std::int64_t now_us, std::int64_t rtt_us, std::uint32_t out, const TimedLoss* lost,
                      const UnheardAcks& unheard, bool clear, Fates& fates) {
  const std::int64_t before_us = now_us_;
  now_us_ = std::max(now_us_, now_us);
  if (lost != nullptr && lost->waited_us >= 0) ticks_.seen(asked_us_, lost->waited_us);
  for (std::size_t k = 0; k < candidates_.size(); ++k) {
    Running& run = running_[k];
    std::int64_t acked_us = now_us_;
    if (lost != nullptr) {
      repair(k, *lost, fates);
      const std::int64_t answered_us = lost->start_us + fates.repaired_us[k] + (now_us - lost->end_us);
      acked_us = std::clamp(answered_us, before_us, now_us_);
    } else if (unheard.copies > 0) {
      acked_us = std::clamp(heard_us(k, unheard), before_us, now_us_);
    }
    fire(k, acked_us);
    const bool again = !run.sent_us.empty();
    if (lost == nullptr) {
      spurious_[k] += static_cast<std::int32_t>(run.sent_us.size());
    } else if (!again) {
      expired(k, {acked_us, out_});
    }
    const auto answers = static_cast<std::uint32_t>(again && !clear   ? TL_RESEND_UNCLEAR
                                                    : lost != nullptr ? TL_RESEND_LATER
                                                                      : TL_RESEND_FIRST);
    const tl_resend_ack ack{acked_us, lost != nullptr ? now_us - lost->end_us : rtt_us, out, answers};
    const std::int64_t wait_us = acked(k, ack);
    run.sent_us.clear();
    run.due_us = -1;
    if (out > 0) arm(k, now_us_, wait_us);
  }
  out_ = std::max(out, 1u);
}

// Returns what the candidate's timer does until now, without a change of its state: it learns nothing from
// waits that it would not have had, because an ACK may have come long before the sender's.
Forecast::Running Forecast::until_now(std::size_t k) {
  const Running before = running_[k];
  const std::vector<std::uint64_t> kept = copied(k);
  fire(k, now_us_);
  restore(k, kept);
  return std::exchange(running_[k], before);
}

// Computes when the candidate would have repaired the loss.
void Forecast::repair(std::size_t k, const TimedLoss& lost, Fates& fates) {
  const Running run = until_now(k);
  // if not retransmitted yet, the running wait decides
  const std::size_t number = std::max(lost.resends, 1u) - 1;
  const std::int64_t same_us = number < run.sent_us.size() ? run.sent_us[number] : run.due_us;
  const auto heard = std::upper_bound(run.sent_us.begin(), run.sent_us.end(), back_us(lost));
  const std::int64_t repaired_us = heard == run.sent_us.end() ? run.due_us : *heard;
  fates.same_us[k] = since(lost.start_us, same_us);
  fates.repaired_us[k] = since(lost.start_us, repaired_us);
}

std::int64_t Forecast::heard_us(std::size_t k, const UnheardAcks& unheard) {
  const Running run = until_now(k);
  const bool heard = unheard.copies <= run.sent_us.size();
  return heard ? run.sent_us[unheard.copies - 1] + unheard.round_us : now_us_;
}

std::vector<std::uint64_t> Forecast::copied(std::size_t k) const {
  const std::size_t end = k + 1 < candidates_.size() ? candidates_.all_[k + 1].front().at : states_.size();
  return {states_.begin() + static_cast<std::ptrdiff_t>(candidates_.all_[k].front().at),
          states_.begin() + static_cast<std::ptrdiff_t>(end)};
}

void Forecast::restore(std::size_t k, const std::vector<std::uint64_t>& kept) {
  const auto at = static_cast<std::ptrdiff_t>(candidates_.all_[k].front().at);
  std::copy(kept.begin(), kept.end(), states_.begin() + at);
}

void Forecast::on_unseen(std::int64_t due_us, Fates& fates) {
  for (std::size_t k = 0; k < candidates_.size(); ++k) {
    // afterwards the policy continues as if the segment was sent now
    const std::vector<std::uint64_t> kept = copied(k);
    const std::int64_t from_us = std::max(due_us, now_us_);
    fates.same_us[k] = fates.repaired_us[k] = since(from_us, ticks_.fires_us(from_us, sent(k, {from_us, 1})));
    restore(k, kept);
  }
}

}  // namespace tcplearn
