// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "loss_judge.h"

#include <algorithm>

#include "ns3/simulator.h"
#include "rtt_estimator.h"

namespace tcplearn {
namespace {

std::uint32_t segments(std::uint32_t bytes, std::uint32_t segment) {
  return static_cast<std::uint32_t>((std::uint64_t{bytes} + segment - 1) / segment);
}

}  // namespace

LossJudge::LossJudge(std::uint32_t flow, const LossSettings& settings, std::shared_ptr<LossRecord> record,
                     std::shared_ptr<DropLog> drops)
    : flow_(flow),
      acts_(settings.acts),
      by_probability_(settings.by_probability),
      classifier_(make_loss_classifier(settings.classifier, settings.model)),
      record_(std::move(record)),
      drops_(std::move(drops)) {}

void LossJudge::sent(ns3::SequenceNumber32 from, ns3::SequenceNumber32 end, std::uint64_t serial) {
  out_[from] = {end, serial};
}

void LossJudge::acknowledged(ns3::SequenceNumber32 upto, std::int64_t rtt_us, const SenderState& sender) {
  tl_loss_ack ack{};
  ack.time_us = whole_us(ns3::Simulator::Now());
  ack.rtt_us = rtt_us;
  ack.duplicate = upto <= sender.head && sender.high > sender.head;
  ack.delivered_segments =
      upto > sender.head ? segments(static_cast<std::uint32_t>(upto - sender.head), sender.segment_bytes)
                         : ack.duplicate;
  classifier_->observe(ack);
  while (!out_.empty() && out_.begin()->second.end <= upto) {
    drops_->forget(flow_, out_.begin()->second.serial);
    out_.erase(out_.begin());
  }
}

tl_loss_moment LossJudge::moment(const SenderState& s) const {
  tl_loss_moment at{};
  at.time_us = whole_us(ns3::Simulator::Now());
  at.flight_segments = segments(static_cast<std::uint32_t>(s.high - s.head), s.segment_bytes);
  at.cwnd_segments = s.cwnd_bytes / s.segment_bytes;
  at.ssthresh_segments = s.ssthresh_bytes / s.segment_bytes;
  at.truth = TL_LOSS_UNKNOWN;
  return at;
}

void LossJudge::count_drops(const SenderState& sender, Recovery& out) const {
  for (const auto& [from, sending] : out_) {
    if (from >= sender.high) break;
    const DroppedBy who = drops_->fate(flow_, sending.serial);
    if (from <= sender.head && sending.end > sender.head) out.head = who;
    out.queue_drops += who == DroppedBy::kQueue;
    out.channel_drops += who == DroppedBy::kChannel;
  }
}

void LossJudge::recovery_begins(const SenderState& sender) {
  tl_loss_moment at = moment(sender);
  Recovery row;
  count_drops(sender, row);
  at.truth = row.truly_congestion() ? TL_LOSS_CONGESTION : TL_LOSS_RANDOM;
  const tl_loss_decision answer = classifier_->decide(at);
  row.flow = flow_;
  row.time_us = at.time_us;
  row.flight_segments = at.flight_segments;
  row.cwnd_segments = at.cwnd_segments;
  row.ssthresh_segments = at.ssthresh_segments;
  row.congestion = answer.congestion;
  row.is_random = answer.cause == TL_LOSS_RANDOM;
  row.features = classifier_->features(at);
  const bool keeps = acts_ && row.is_random;
  *kept_ = acts_ && by_probability_ ? 1 - row.congestion : keeps;
  record_->add(std::move(row));
  classifier_->change(at, TL_LOSS_BEGUN, keeps ? TL_LOSS_RANDOM : TL_LOSS_CONGESTION);
}

void LossJudge::recovery_ends(const SenderState& sender) {
  classifier_->change(moment(sender), TL_LOSS_ENDED, TL_LOSS_UNKNOWN);
}

void LossJudge::timed_out(const SenderState& sender) {
  classifier_->change(moment(sender), TL_LOSS_TIMEOUT, TL_LOSS_CONGESTION);
}

}  // namespace tcplearn
