// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Each fast retransmit of a run, with its features, the classifier's decision and the true cause.
#ifndef TCPLEARN_NS3_LOSS_RECORD_H
#define TCPLEARN_NS3_LOSS_RECORD_H

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "drop_log.h"

namespace tcplearn {

struct Recovery {
  std::uint32_t flow = 0;
  std::int64_t time_us = 0;
  std::uint32_t flight_segments = 0, cwnd_segments = 0, ssthresh_segments = 0;
  // drops of the segments in flight; the last transmission of each counts
  std::uint32_t queue_drops = 0, channel_drops = 0;
  DroppedBy head = DroppedBy::kNobody;  // who dropped the retransmitted segment
  double congestion = 0;                // the classifier's probability of congestion
  bool is_random = false;               // the classifier's decision
  std::vector<double> features;         // indexed by enum tl_loss_feature

  // Returns the true cause. Drops of both kinds count as congestion, because halving cwnd is safe.
  bool truly_congestion() const { return queue_drops > 0; }
};

class LossRecord {
 public:
  explicit LossRecord(std::uint32_t most_rows) : most_rows_(most_rows) {}

  // Adds a recovery. If there are more than most_rows, each row is kept with the same probability
  // (reservoir sampling); the counts include all.
  void add(Recovery recovery) {
    ++counts_[recovery.truly_congestion()][recovery.is_random];
    head_not_dropped_ += recovery.head == DroppedBy::kNobody;
    const std::uint64_t seen = added_++;
    if (seen < most_rows_) {
      rows_.push_back(std::move(recovery));
    } else if (const std::uint64_t at = draw_() % added_; at < most_rows_) {
      rows_[at] = std::move(recovery);
    }
  }
  // Returns the number of recoveries by true cause and decision.
  std::uint64_t count(bool congestion, bool called_random) const {
    return counts_[congestion][called_random];
  }
  std::uint64_t head_not_dropped() const { return head_not_dropped_; }
  const std::vector<Recovery>& rows() const { return rows_; }  // in arbitrary order

 private:
  std::uint32_t most_rows_;
  std::uint64_t added_ = 0;
  std::mt19937_64 draw_{1};
  std::vector<Recovery> rows_;
  std::uint64_t counts_[2][2] = {}, head_not_dropped_ = 0;
};

}  // namespace tcplearn

#endif
