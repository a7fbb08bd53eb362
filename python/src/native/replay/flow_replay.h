// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// One flow under every estimator: predictions, metrics and a thinned series.
#ifndef TCPLEARN_REPLAY_FLOW_REPLAY_H
#define TCPLEARN_REPLAY_FLOW_REPLAY_H

#include <cstdint>
#include <deque>
#include <vector>

#include "replay/blocks.h"
#include "replay/hindsight.h"
#include "replay/metrics.h"
#include "tcplearn/tcplearn.h"

namespace tcplearn {

// An estimator of the core with its parameters set.
struct Chosen {
  const tl_estimator* estimator = nullptr;
  std::vector<std::uint64_t> params;  // aligned storage for params_bytes
  std::size_t state_words = 0;        // 64-bit words its state takes
};

// What one row of a Batch says, with the columns that estimators and metrics read.
struct RowView {
  tl_sample sample;  // rtt_us < 0: an ACK without a sample
  std::int64_t armed_us, head_sent_us;
  bool retransmitted;
};

// At most 2 * kPoints points; when they are full, neighbours are merged.
struct Thinned {
  static constexpr std::size_t kPoints = 1200;
  std::uint64_t per_point = 1, in_last = 0;
  std::vector<double> time_us, low_us, high_us;
  std::vector<double> prediction_us, rto_us;  // point-major: [point * estimators + e]

  void add(double time, double rtt, const double* prediction, const double* rto, std::size_t estimators);
  std::size_t points() const { return time_us.size(); }

 private:
  void halve(std::size_t estimators);
};

class FlowReplay {
 public:
  // `others` estimators beyond the chosen ones are predicted by the caller, row by row.
  FlowReplay(const std::vector<Chosen>& chosen, std::size_t others, double min_rto_us);

  // other_rtt_us, other_rto_us: what the caller's estimators said just before this row.
  void add(const RowView& row, const double* other_rtt_us, const double* other_rto_us);

  // A loss told with the row last added.
  void lost(const Loss& loss);
  // It was none.
  void withdraw(std::uint32_t id);
  // Counts the losses but for the newest `most`, which may be withdrawn yet.
  void settle(std::size_t most);

  std::uint64_t samples() const { return samples_; }
  std::vector<Metrics>& metrics() { return metrics_; }
  // Segments out just before the ACK of a sample, where that is known.
  const Mean& flight() const { return flight_; }
  const Thinned& series() const { return series_; }
  const Blocks& blocks() const { return blocks_; }
  const Hindsight& hindsight() const { return hindsight_; }

 private:
  // What stood just before a row: the row's time tells until when.
  struct Stood {
    std::int64_t time_us = 0;
    bool any_sample = false;
    std::vector<double> rtt_us, rto_us;
  };
  struct PendingLoss {
    std::uint32_t id;
    double actual_us;
    std::vector<Detection> detection;  // by estimator
  };
  void remember(const RowView& row);
  bool from_head(std::size_t e) const {
    return e < chosen_.size() && chosen_[e].estimator->timer == TL_TIMER_FROM_HEAD;
  }
  const Stood& at_send(std::int64_t sent_us) const;

  const std::vector<Chosen>& chosen_;
  std::size_t count_;
  double min_rto_us_;
  std::vector<std::uint64_t> states_;
  std::vector<Metrics> metrics_;
  std::deque<Stood> history_;  // rows after the oldest segment out was sent: bounded by a flight
  Stood spare_;                // one taken off the history, for its memory
  std::vector<double> rtt_us_, rto_us_;
  Thinned series_;
  Blocks blocks_;
  Hindsight hindsight_;
  std::vector<PendingLoss> losses_;
  Mean flight_;
  std::uint64_t samples_ = 0;
  std::int64_t longest_rtt_us_ = 0;
};

}  // namespace tcplearn

#endif
