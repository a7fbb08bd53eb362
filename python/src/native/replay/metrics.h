// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What is measured of one estimator on one flow.
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

// An ACK's wait for the retransmission timer, RFC 6298 section 5.
struct Wait {
  std::int64_t armed_us;      // the timer was (re)started
  std::int64_t head_sent_us;  // the oldest segment out was first sent
  std::int64_t acked_us;      // the ACK that ended the wait
  bool tail;                  // one segment out: its probe allows for a delayed ACK
};

// A segment that was lost, and what a sender saw of it: capture/loss.h says what the times are.
struct Loss {
  std::uint32_t id;
  std::int64_t sent_us, resent_us, armed_us, head_sent_us, probe_from_us;
  std::int64_t delivered_us, rack_us, rtt_us;  // -1: none
  bool tail, alone;
};

// How long after its sending a loss is known, us.
struct Detection {
  double rto_us;   // with the timer alone
  double rack_us;  // with RACK-TLP before it
};

struct Excess {
  double wait_us;  // RTO - sample, at least 0
  bool missed;
};

class Metrics {
 public:
  // The sample, and the prediction that stood just before it (papers' definition of the error): its size.
  double score(double rtt_us, double predicted_us);
  // The sample, and the prediction that stood when its segment was sent: the error's size.
  double score_at_send(double rtt_us, double predicted_us);
  // The sample, and the RTO in force when its segment was sent.
  Excess score_timer(double rtt_us, double timeout_us);
  // The sample, and the RTO that stood just before it.
  void score_timer_before(double rtt_us, double timeout_us) { misses_before += rtt_us > timeout_us; }
  // A wait that ended with the ACK of a segment that was not lost: whatever fires is spurious.
  void run_timer(const Wait& wait, double srtt_us, double timeout_us, bool from_head);
  // srtt_us 0: no sample yet.
  static Detection detect(const Loss& loss, double srtt_us, double timeout_us, bool from_head);
  void merge(const Metrics& other);

  Mean abs_error_us, error_us, at_send_error_us, rto_us, excess_us;
  Mean loss_actual_us, loss_rto_us, loss_rack_us;  // from a lost segment's sending to its detection
  std::uint64_t misses = 0;                        // samples above the RTO at their sending
  std::uint64_t misses_before = 0;                 // samples above the RTO just before them
  std::uint64_t spurious_timeouts = 0;             // waits in which the timer fired
  std::uint64_t spurious_timeouts_tlp = 0;         // the same with tail loss probes sent first (RFC 8985)
  std::uint64_t spurious_probes = 0;
  Quantiles abs_errors_us;
};

}  // namespace tcplearn

#endif
