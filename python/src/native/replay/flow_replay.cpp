// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/flow_replay.h"

#include <algorithm>
#include <utility>

namespace tcplearn {

FlowReplay::FlowReplay(const std::vector<Chosen>& chosen, std::size_t others, double min_rto_us,
                       bool sums_only)
    : chosen_(chosen),
      count_(chosen.size() + others),
      min_rto_us_(min_rto_us),
      metrics_(count_),
      history_(count_) {
  if (!sums_only) details_.emplace(count_);
  std::size_t words = 0;
  for (const auto& c : chosen_) words += c.state_words;
  states_.resize(words);
  std::uint64_t* state = states_.data();
  for (const auto& c : chosen_) {
    c.estimator->algorithm.init(state, c.params.data());
    state += c.state_words;
  }
}

InForce FlowReplay::query(const RowView& row, const double* other_rtt_us, const double* other_rto_us) {
  // Forgets rows before the oldest segment in flight, since no later sample was sent before it. Traces
  // that are mere lists of RTTs do not show the order of transmission, so values in force up to eight
  // times the longest RTT ago are kept.
  longest_rtt_us_ = std::max(longest_rtt_us_, row.sample.rtt_us);
  history_.forget(std::min(row.head_sent_us, row.sample.time_us - 8 * longest_rtt_us_), row.head_sent_us);
  const InForce now = history_.add(row.sample.time_us, samples_ > 0);

  const std::uint64_t* state = states_.data();
  std::size_t e = 0;
  for (const auto& c : chosen_) {
    tl_prediction p;
    c.estimator->query(state, &p);
    state += c.state_words;
    now.rtt_us[e] = p.rtt_us;
    now.rto_us[e++] = p.rto_us;
  }
  std::copy(other_rtt_us, other_rtt_us + (count_ - e), now.rtt_us + e);
  std::copy(other_rto_us, other_rto_us + (count_ - e), now.rto_us + e);
  for (e = 0; e < count_; ++e) now.rto_us[e] = std::max(now.rto_us[e], min_rto_us_);
  return now;
}

void FlowReplay::lost(const Loss& loss) {
  // The RTO in force when the timer was armed. It is still in the history: the next row came after the
  // lost segment was sent, and no older segment was in flight before this row.
  const InForce then = history_.at(loss.armed_us);
  PendingLoss pending{loss.id, static_cast<double>(loss.resent_us - loss.sent_us), {}};
  pending.detection.reserve(count_);
  for (std::size_t e = 0; e < count_; ++e) {
    const double srtt_us = then.any_sample ? then.rtt_us[e] : 0;
    pending.detection.push_back(Metrics::detect(loss, srtt_us, then.rto_us[e], from_head(e)));
  }
  losses_.push_back(std::move(pending));
}

void FlowReplay::withdraw(std::uint32_t id) {
  losses_.erase(std::remove_if(losses_.begin(), losses_.end(), [id](const auto& l) { return l.id == id; }),
                losses_.end());
}

void FlowReplay::settle(std::size_t most) {
  if (losses_.size() <= most) return;
  const auto end = losses_.end() - static_cast<std::ptrdiff_t>(most);
  for (auto loss = losses_.begin(); loss != end; ++loss) {
    for (std::size_t e = 0; e < count_; ++e) {
      metrics_[e].loss_actual_us.add(loss->actual_us);
      metrics_[e].loss_rto_us.add(loss->detection[e].rto_us);
      metrics_[e].loss_rack_us.add(loss->detection[e].rack_us);
    }
  }
  losses_.erase(losses_.begin(), end);
}

void FlowReplay::run_timers(const RowView& row, const InForce& now) {
  const Wait wait{row.armed_us, row.head_sent_us, row.sample.time_us, row.sample.flight_segments == 1};
  for (std::size_t e = 0; e < count_; ++e) {
    metrics_[e].run_timer(wait, samples_ > 0 ? now.rtt_us[e] : 0, now.rto_us[e], from_head(e));
  }
}

void FlowReplay::score(double rtt_us, const InForce& now, const InForce& sent) {
  double* block = details_ ? details_->blocks.next() : nullptr;
  for (std::size_t e = 0; e < count_; ++e) {
    Metrics& m = metrics_[e];
    const Scored s = m.score(rtt_us, {now.rtt_us[e], now.rto_us[e], samples_ > 0},
                             {sent.rtt_us[e], sent.rto_us[e], sent.any_sample});
    if (!block) continue;
    if (samples_ > 0) m.abs_errors_us.add(s.abs_error_us);
    block[Blocks::kAbsError] += s.abs_error_us;
    block[Blocks::kAtSendError] += s.at_send_error_us;
    block[Blocks::kMisses] += s.missed;
    block[Blocks::kRto] += s.rto_us;
    block[Blocks::kExcess] += s.excess_us;
    block += Blocks::kSums;
  }
}

void FlowReplay::add(const RowView& row, const double* other_rtt_us, const double* other_rto_us) {
  const InForce now = query(row, other_rtt_us, other_rto_us);
  if (details_ && !row.retransmitted) run_timers(row, now);
  if (row.sample.rtt_us < 0) return;

  const auto rtt_us = static_cast<double>(row.sample.rtt_us);
  score(rtt_us, now, history_.at(row.sample.sent_us));
  if (details_) {
    if (row.sample.flight_segments > 0) details_->flight.add(row.sample.flight_segments);
    details_->hindsight.add(rtt_us, now.rtt_us);
    if (samples_ > 0)
      details_->series.add(static_cast<double>(row.sample.time_us), rtt_us, now.rtt_us, now.rto_us, count_);
  }
  std::uint64_t* state = states_.data();
  for (const auto& c : chosen_) {
    c.estimator->update(state, &row.sample);
    state += c.state_words;
  }
  digest_.add(row.sample.time_us, row.sample.rtt_us);
  ++samples_;
}

}  // namespace tcplearn
