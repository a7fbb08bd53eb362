// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Each fast retransmit of a run, with its features, the decision and the true cause.
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
  std::uint32_t queue_drops = 0, channel_drops = 0;  // of the segments out, each by its last transmission
  DroppedBy head = DroppedBy::kNobody;               // of the segment that is sent again
  double congestion = 0;                             // probability that the classifier gave
  bool is_random = false;                            // what it decided
  std::vector<double> features;                      // by enum tl_loss_feature

  // Mixed windows count as congestion, because halving is the safe answer, and that of RFC 5681.
  bool truly_congestion() const { return queue_drops > 0; }
};

class LossRecord {
 public:
  explicit LossRecord(std::uint32_t most_rows) : most_rows_(most_rows) {}

  // If there are more than most_rows, each row is kept with the same probability (reservoir sampling); counts
  // include all.
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
  // Recoveries by true cause and decision.
  std::uint64_t count(bool congestion, bool called_random) const {
    return counts_[congestion][called_random];
  }
  std::uint64_t head_not_dropped() const { return head_not_dropped_; }
  const std::vector<Recovery>& rows() const { return rows_; }  // in no order

 private:
  std::uint32_t most_rows_;
  std::uint64_t added_ = 0;
  std::mt19937_64 draw_{1};
  std::vector<Recovery> rows_;
  std::uint64_t counts_[2][2] = {}, head_not_dropped_ = 0;
};

}  // namespace tcplearn

#endif
