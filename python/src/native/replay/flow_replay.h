// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Replays one flow under every estimator and keeps predictions, metrics and a thinned series.
#ifndef TCPLEARN_REPLAY_FLOW_REPLAY_H
#define TCPLEARN_REPLAY_FLOW_REPLAY_H

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/blocks.h"
#include "replay/hindsight.h"
#include "replay/history.h"
#include "replay/metrics.h"
#include "replay/sample_digest.h"
#include "replay/thinned.h"
#include "tcplearn/tcplearn.h"

namespace tcplearn {

// An estimator of the core with its parameters.
struct Chosen {
  const tl_estimator* estimator = nullptr;
  std::vector<std::uint64_t> params;  // storage of params_bytes, aligned for int64_t
  std::size_t state_words = 0;        // number of 64-bit words of its state
};

// One row of a batch: the columns that estimators and metrics use.
struct RowView {
  tl_sample sample;  // rtt_us < 0: an ACK without a sample
  std::int64_t armed_us, head_sent_us;
  bool retransmitted;
};

// What is kept of a replayed flow besides the sums of its metrics.
struct Details {
  explicit Details(std::size_t estimators) : blocks(estimators), hindsight(estimators) {}

  Thinned series;
  Blocks blocks;
  Hindsight hindsight;
  Mean flight;  // segments in flight just before the ACK of a sample, if known
};

class FlowReplay {
 public:
  // `others` is the number of further estimators that the caller runs, row by row. `sums_only` leaves out
  // details, quantiles and spurious timeouts.
  FlowReplay(const std::vector<Chosen>& chosen, std::size_t others, double min_rto_us, bool sums_only);

  // Takes a row, with the predictions of the caller's estimators just before it.
  void add(const RowView& row, const double* other_rtt_us, const double* other_rto_us);

  // Adds a loss that is reported with the last added row.
  void lost(const Loss& loss);
  // Withdraws a loss.
  void withdraw(std::uint32_t id);
  // Counts the losses, except the newest `most`, which may still be withdrawn.
  void settle(std::size_t most);

  std::uint64_t samples() const { return samples_; }
  const SampleDigest& digest() const { return digest_; }
  const std::vector<Metrics>& metrics() const { return metrics_; }
  const std::optional<Details>& details() const { return details_; }

 private:
  struct PendingLoss {
    std::uint32_t id;
    double actual_us;
    std::vector<Detection> detection;  // one for each estimator
  };
  // Stores the prediction of each estimator just before the row.
  InForce query(const RowView& row, const double* other_rtt_us, const double* other_rto_us);
  void run_timers(const RowView& row, const InForce& now);
  // `sent` has the predictions in force when the sample's segment was sent.
  void score(double rtt_us, const InForce& now, const InForce& sent);
  bool from_head(std::size_t e) const {
    return e < chosen_.size() && chosen_[e].estimator->timer == TL_TIMER_FROM_HEAD;
  }

  const std::vector<Chosen>& chosen_;
  std::size_t count_;
  double min_rto_us_;
  std::vector<std::uint64_t> states_;
  std::vector<Metrics> metrics_;
  History history_;
  std::optional<Details> details_;
  std::vector<PendingLoss> losses_;
  std::uint64_t samples_ = 0;
  SampleDigest digest_;
  std::int64_t longest_rtt_us_ = 0;
};

}  // namespace tcplearn

#endif
