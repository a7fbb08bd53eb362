// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "loss.h"

#include <algorithm>

namespace tcplearn {

void Losses::clear() {
#define TCPLEARN_X(type, name, unknown, meaning) name.clear();
  TCPLEARN_LOSS_COLUMNS(TCPLEARN_X)
  TCPLEARN_WITHDRAWN_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
}

void Deliveries::add(std::int64_t now_us, std::int64_t sent_us, std::int64_t end, bool no_window) {
  const std::int64_t rtt = now_us - sent_us;
  if (min_rtt_us_ < 0 || rtt < min_rtt_us_) min_rtt_us_ = rtt;
  if (!log_.empty()) {
    const Delivery& newest = log_.back();
    if (sent_us < newest.sent_us || (sent_us == newest.sent_us && end <= newest.end)) return;
  }
  rtt_us_ = rtt;
  // RFC 8985, 6.2, step 4: without reordering, RACK's window is 0 in recovery or after DupThresh SACKs
  const std::int64_t window = no_window && !reordering_ ? 0 : min_rtt_us_ / 4;
  log_.push_back({now_us, sent_us, end, window});
}

void Deliveries::forget_before(std::int64_t sent_us) {
  while (first_ + 1 < log_.size() && log_[first_].sent_us < sent_us) ++first_;
  if (first_ > 64 && first_ > log_.size() / 2) {
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

Deliveries::Verdict Deliveries::judge(std::int64_t sent_us, std::int64_t end) const {
  Verdict verdict;
  auto it = std::find_if(
      log_.begin() + static_cast<std::ptrdiff_t>(first_), log_.end(),
      [&](const Delivery& d) { return d.sent_us > sent_us || (d.sent_us == sent_us && d.end > end); });
  if (it == log_.end()) return verdict;
  verdict.delivered_us = it->at_us;
  // RFC 8985, 6.2, step 5: lost after sent_us + RACK.rtt + window; later deliveries update this
  for (; it != log_.end(); ++it) {
    verdict.rack_us = it->at_us + std::max<std::int64_t>(it->window_us - (it->sent_us - sent_us), 0);
    if (it + 1 == log_.end() || (it + 1)->at_us >= verdict.rack_us) break;
  }
  return verdict;
}

void LossTracker::on_new_data(std::int64_t now_us, bool first_out) {
  last_new_us_ = now_us;
  if (!first_out) return;
  armed_us_ = now_us;  // RFC 6298, (5.1)
  head_sent_us_ = now_us;
}

Repair LossTracker::on_repair(std::int64_t now_us, std::int64_t sent_us, std::int64_t nxt,
                              std::int64_t armed_us, std::int64_t head_sent_us) {
  if (!recovering_) {
    recovering_ = true;
    recovery_since_us_ = now_us;
    recovery_point_ = nxt;
  }
  Repair repair{};
  repair.resent_us = now_us;
  // Later losses of a recovery count from the timer of its first loss, as if nothing had restarted it.
  const bool together = sent_us < recovery_since_us_;
  repair.armed_us = together ? armed_us_ : armed_us;
  repair.head_sent_us = together ? head_sent_us_ : head_sent_us;
  const std::int64_t last_new_us = together ? std::min(last_new_us_, recovery_since_us_) : last_new_us_;
  repair.probe_from_us = std::max(repair.armed_us, last_new_us);
  repair.rtt_us = deliveries.rtt_us();
  return repair;
}

void LossTracker::on_ack(std::int64_t now_us, std::int64_t ack, bool by_repair) {
  by_repair_ = recovering_ && by_repair && ack < recovery_point_;
  if (ack >= recovery_point_) recovering_ = false;
  if (!by_repair_) armed_us_ = now_us;  // RFC 6298, (5.3)
}

void LossTracker::lost(std::uint32_t flow, std::uint32_t row, std::int64_t start, std::int64_t end,
                       std::int64_t sent_us, const Repair& repair, std::size_t copies, Losses& out) {
  const Deliveries::Verdict rack = deliveries.judge(sent_us, end);
  out.flow.push_back(flow);
  out.row.push_back(row);
  out.id.push_back(next_id_);
  out.sent_us.push_back(sent_us);
  out.resent_us.push_back(repair.resent_us);
  out.armed_us.push_back(repair.armed_us);
  out.head_sent_us.push_back(repair.head_sent_us);
  out.probe_from_us.push_back(repair.probe_from_us);
  out.delivered_us.push_back(rack.delivered_us);
  out.rack_us.push_back(rack.rack_us);
  out.rtt_us.push_back(repair.rtt_us);
  out.tail.push_back(repair.tail ? 1 : 0);
  out.alone.push_back(repair.alone ? 1 : 0);
  reported_.push_back({start, end, next_id_++, copies});
  if (reported_.size() > Losses::kRemembered) reported_.erase(reported_.begin());
}

void LossTracker::duplicate(std::uint32_t flow, std::int64_t left, std::int64_t right, Losses& out) {
  for (Reported& loss : reported_) {
    if (loss.start < left || loss.end > right || loss.copies == 0 || --loss.copies > 0) continue;
    out.withdrawn_flow.push_back(flow);
    out.withdrawn_id.push_back(loss.id);
  }
}

}  // namespace tcplearn
