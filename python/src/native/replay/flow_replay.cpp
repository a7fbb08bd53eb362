// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/flow_replay.h"

#include <algorithm>
#include <utility>

namespace tcplearn {

void Thinned::add(double time, double rtt, const double* prediction, const double* rto,
                  std::size_t estimators) {
  if (in_last == per_point || time_us.empty()) {
    if (points() == 2 * kPoints) halve(estimators);
  }
  if (time_us.empty() || in_last == per_point) {
    time_us.push_back(time);
    low_us.push_back(rtt);
    high_us.push_back(rtt);
    prediction_us.insert(prediction_us.end(), prediction, prediction + estimators);
    rto_us.insert(rto_us.end(), rto, rto + estimators);
    in_last = 1;
    return;
  }
  ++in_last;
  time_us.back() = time;
  low_us.back() = std::min(low_us.back(), rtt);
  high_us.back() = std::max(high_us.back(), rtt);
  const auto back = static_cast<std::ptrdiff_t>(estimators);
  std::copy(prediction, prediction + estimators, prediction_us.end() - back);
  std::copy(rto, rto + estimators, rto_us.end() - back);
}

void Thinned::halve(std::size_t estimators) {
  const std::size_t half = points() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    time_us[i] = time_us[2 * i + 1];
    low_us[i] = std::min(low_us[2 * i], low_us[2 * i + 1]);
    high_us[i] = std::max(high_us[2 * i], high_us[2 * i + 1]);
    for (std::size_t e = 0; e < estimators; ++e) {
      prediction_us[i * estimators + e] = prediction_us[(2 * i + 1) * estimators + e];
      rto_us[i * estimators + e] = rto_us[(2 * i + 1) * estimators + e];
    }
  }
  time_us.resize(half);
  low_us.resize(half);
  high_us.resize(half);
  prediction_us.resize(half * estimators);
  rto_us.resize(half * estimators);
  per_point *= 2;
  in_last = per_point;
}

FlowReplay::FlowReplay(const std::vector<Chosen>& chosen, std::size_t others, double min_rto_us)
    : chosen_(chosen),
      count_(chosen.size() + others),
      min_rto_us_(min_rto_us),
      metrics_(count_),
      rtt_us_(count_),
      rto_us_(count_),
      blocks_(count_),
      hindsight_(count_) {
  std::size_t words = 0;
  for (const auto& c : chosen_) words += c.state_words;
  states_.resize(words);
  std::uint64_t* state = states_.data();
  for (const auto& c : chosen_) {
    c.estimator->init(state, c.params.data());
    state += c.state_words;
  }
}

void FlowReplay::remember(const RowView& row) {
  // no later sample was sent before the oldest segment out was; lists of RTTs do not tell where samples
  // overtake one another, so what stood eight of the longest RTTs ago is kept
  longest_rtt_us_ = std::max(longest_rtt_us_, row.sample.rtt_us);
  const std::int64_t done_us = std::min(row.head_sent_us, row.sample.time_us - 8 * longest_rtt_us_);
  while (!history_.empty() && history_.front().time_us <= done_us) {
    spare_ = std::move(history_.front());
    history_.pop_front();
  }
  spare_.time_us = row.sample.time_us;
  spare_.any_sample = samples_ > 0;
  spare_.rtt_us.assign(rtt_us_.begin(), rtt_us_.end());
  spare_.rto_us.assign(rto_us_.begin(), rto_us_.end());
  history_.push_back(std::move(spare_));
}

const FlowReplay::Stood& FlowReplay::at_send(std::int64_t sent_us) const {
  // the first row after the sending: until it came, what stood before it was in force
  const auto it = std::upper_bound(history_.begin(), history_.end(), sent_us,
                                   [](std::int64_t sent, const Stood& s) { return sent < s.time_us; });
  return it == history_.end() ? history_.back() : *it;
}

void FlowReplay::lost(const Loss& loss) {
  // What stood once the timer was armed. It is still in the history: the row after it came later than the
  // lost segment was sent, and nothing older than that segment was out before this row.
  const Stood& then = at_send(loss.armed_us);
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

void FlowReplay::add(const RowView& row, const double* other_rtt_us, const double* other_rto_us) {
  std::uint64_t* state = states_.data();
  for (std::size_t e = 0; e < count_; ++e) {
    if (e < chosen_.size()) {
      tl_prediction p;
      chosen_[e].estimator->query(state, &p);
      state += chosen_[e].state_words;
      rtt_us_[e] = p.rtt_us;
      rto_us_[e] = p.rto_us;
    } else {
      rtt_us_[e] = other_rtt_us[e - chosen_.size()];
      rto_us_[e] = other_rto_us[e - chosen_.size()];
    }
    rto_us_[e] = std::max(rto_us_[e], min_rto_us_);
  }
  remember(row);

  if (!row.retransmitted) {
    const Wait wait{row.armed_us, row.head_sent_us, row.sample.time_us, row.sample.flight_segments == 1};
    for (std::size_t e = 0; e < count_; ++e) {
      metrics_[e].run_timer(wait, samples_ > 0 ? rtt_us_[e] : 0, rto_us_[e], from_head(e));
    }
  }
  if (row.sample.rtt_us < 0) return;

  const auto rtt = static_cast<double>(row.sample.rtt_us);
  const Stood& sent = at_send(row.sample.sent_us);
  double* sums = blocks_.next();
  for (std::size_t e = 0; e < count_; ++e, sums += Blocks::kSums) {
    if (samples_ > 0) sums[Blocks::kAbsError] += metrics_[e].score(rtt, rtt_us_[e]);
    if (sent.any_sample) sums[Blocks::kAtSendError] += metrics_[e].score_at_send(rtt, sent.rtt_us[e]);
    metrics_[e].score_timer_before(rtt, rto_us_[e]);
    const Excess excess = metrics_[e].score_timer(rtt, sent.rto_us[e]);
    sums[Blocks::kMisses] += excess.missed;
    sums[Blocks::kRto] += sent.rto_us[e];
    sums[Blocks::kExcess] += excess.wait_us;
  }
  if (row.sample.flight_segments > 0) flight_.add(row.sample.flight_segments);
  hindsight_.add(rtt, rtt_us_.data());
  if (samples_ > 0)
    series_.add(static_cast<double>(row.sample.time_us), rtt, rtt_us_.data(), rto_us_.data(), count_);
  state = states_.data();
  for (const auto& c : chosen_) {
    c.estimator->update(state, &row.sample);
    state += c.state_words;
  }
  ++samples_;
}

}  // namespace tcplearn
