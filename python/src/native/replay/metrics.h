// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Measures one estimator on one flow.
#ifndef TCPLEARN_REPLAY_METRICS_H
#define TCPLEARN_REPLAY_METRICS_H

#include <cstdint>

#include "replay/quantiles.h"

namespace tcplearn {

struct Mean {
  double sum = 0;
  std::uint64_t count = 0;

  void add(double v) {
    sum += v;
    ++count;
  }
  void merge(const Mean& o) {
    sum += o.sum;
    count += o.count;
  }
};

// A wait of the retransmission timer that an ACK ends (RFC 6298, section 5).
struct Wait {
  std::int64_t armed_us;      // when the timer was started or restarted
  std::int64_t head_sent_us;  // first transmission of the oldest segment in flight
  std::int64_t acked_us;      // time of the ACK that ended the wait
  bool tail;                  // only one segment was in flight; its probe allows for a delayed ACK
};

// A lost segment, and what the sender saw of the loss; capture/loss.h defines the times.
struct Loss {
  std::uint32_t id;
  std::int64_t sent_us, resent_us, armed_us, head_sent_us, probe_from_us;
  std::int64_t delivered_us, rack_us, rtt_us;  // -1: no value
  bool tail, alone;
};

// The time from the transmission of a lost segment to the detection of its loss, in us.
struct Detection {
  double rto_us;   // by the retransmission timer alone
  double rack_us;  // by RACK-TLP, or else by the timer
};

// The prediction and the RTO of an estimator at one time.
struct Answer {
  double rtt_us, rto_us;
  bool any_sample;  // whether a sample had arrived, so that the prediction counts
};

// An estimator's errors for one sample, and its RTO when the segment was sent. A value is 0 if no sample had
// arrived before the time to which it belongs.
struct Scored {
  double abs_error_us, at_send_error_us, rto_us;
  double excess_us;  // RTO - sample, at least 0
  bool missed;
};

// Sums of a timer compared with the samples.
struct TimerSums {
  Mean rto_us, excess_us;
  std::uint64_t misses = 0;  // samples longer than the RTO

  void merge(const TimerSums& o);
};

class Metrics {
 public:
  // Scores a sample. `before`: prediction and RTO in force just before the sample (the papers' definition
  // of the error). `at_send`: those in force when its segment was sent. The RTO before the first sample
  // is no estimate, so samples sent under it are only counted.
  Scored score(double rtt_us, const Answer& before, const Answer& at_send);
  // Adds a wait for the ACK of a segment that was not lost, so any timeout in it is spurious.
  void run_timer(const Wait& wait, double srtt_us, double timeout_us, bool from_head);
  // Returns the detection time of a loss. srtt_us = 0: no sample yet.
  static Detection detect(const Loss& loss, double srtt_us, double timeout_us, bool from_head);
  void merge(const Metrics& other);

  // Calls visit(name, Mean or count) for each figure, with its name in tcplearn.metrics (Python).
  template <typename Visit>
  void named(Visit&& visit) const {
    visit("mean_abs_error_us", abs_error_us);
    visit("bias_us", error_us);
    visit("at_send_error_us", at_send_error_us);
    visit("mean_rto_us", at_send.rto_us);
    visit("excess_wait_us", at_send.excess_us);
    visit("losses", loss_actual_us.count);
    visit("loss_detect_actual_us", loss_actual_us);
    visit("loss_detect_rto_us", loss_rto_us);
    visit("loss_detect_rack_us", loss_rack_us);
    visit("misses", at_send.misses);
    visit("misses_before", before.misses);
    visit("timed", at_send.rto_us.count);
    visit("timed_before", before.rto_us.count);
    visit("handshakes", handshakes);
    visit("spurious_timeouts", spurious_timeouts);
    visit("spurious_timeouts_tlp", spurious_timeouts_tlp);
    visit("spurious_probes", spurious_probes);
  }

  Mean abs_error_us, error_us, at_send_error_us;
  // with the RTO at the transmission of a sample's segment; with the RTO just before the sample
  TimerSums at_send, before;
  Mean loss_actual_us, loss_rto_us, loss_rack_us;  // from a lost segment's transmission to its detection
  std::uint64_t spurious_timeouts = 0;             // waits in which the timer fired, with the timer alone
  // waits in which the timer fired, if tail loss probes are sent first (RFC 8985)
  std::uint64_t spurious_timeouts_tlp = 0;
  std::uint64_t spurious_probes = 0;
  std::uint64_t handshakes = 0;  // samples of segments that were sent before the first sample arrived
  Quantiles abs_errors_us;
};

}  // namespace tcplearn

#endif
