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

class Metrics {
 public:
  // The sample, and the prediction that stood just before it (papers' definition of the error).
  void score(double rtt_us, double predicted_us);
  // The sample, and the prediction that stood when its segment was sent.
  void score_at_send(double rtt_us, double predicted_us);
  // The sample, and the RTO in force when its segment was sent.
  void score_timer(double rtt_us, double timeout_us);
  // A wait that ended with the ACK of a segment that was not lost: whatever fires is spurious.
  void run_timer(const Wait& wait, double srtt_us, double timeout_us, bool from_head);
  void merge(const Metrics& other);

  Mean abs_error_us, error_us, at_send_error_us, rto_us, excess_us;
  std::uint64_t misses = 0;                 // samples above the RTO
  std::uint64_t spurious_timeouts = 0;      // waits in which the timer fired
  std::uint64_t spurious_timeouts_tlp = 0;  // the same with tail loss probes sent first (RFC 8985)
  std::uint64_t spurious_probes = 0;
  Quantiles abs_errors_us;
};

}  // namespace tcplearn

#endif
