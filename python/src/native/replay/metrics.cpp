// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/metrics.h"

#include <algorithm>
#include <cmath>

namespace tcplearn {

namespace {
constexpr double kMaxAckDelayUs = 200e3;  // TLP.max_ack_delay: RFC 8985, 7.2's worst-case delayed ACK
constexpr double kInitialPtoUs = 1e6;     // RFC 8985, 7.2: before SRTT is known
}  // namespace

void Metrics::score(double rtt_us, double predicted_us) {
  const double error = predicted_us - rtt_us;
  error_us.add(error);
  abs_error_us.add(std::fabs(error));
  abs_errors_us.add(std::fabs(error));
}

void Metrics::score_at_send(double rtt_us, double predicted_us) {
  at_send_error_us.add(std::fabs(predicted_us - rtt_us));
}

void Metrics::score_timer(double rtt_us, double timeout_us) {
  rto_us.add(timeout_us);
  excess_us.add(std::max(timeout_us - rtt_us, 0.0));
  misses += rtt_us > timeout_us;
}

void Metrics::run_timer(const Wait& wait, double srtt_us, double timeout_us, bool from_head) {
  const auto armed = static_cast<double>(wait.armed_us);
  const auto acked = static_cast<double>(wait.acked_us);
  // RFC 6298, 5.3: RTO from the ACK that restarts the timer; Eifel: less the age of the oldest segment
  const double start = from_head ? static_cast<double>(wait.head_sent_us) : armed;
  const double expiry = std::max(armed, start + timeout_us);
  spurious_timeouts += expiry < acked;

  // RFC 8985, 7.2 and 7.3: a probe goes after PTO, or in place of the RTO where that would expire sooner,
  // and restarts the RTO
  const double pto_us = srtt_us > 0 ? 2 * srtt_us + (wait.tail ? kMaxAckDelayUs : 0) : kInitialPtoUs;
  const double probe = std::min(armed + pto_us, expiry);
  spurious_probes += probe < acked;
  spurious_timeouts_tlp += probe + timeout_us < acked;
}

void Metrics::merge(const Metrics& o) {
  abs_error_us.merge(o.abs_error_us);
  error_us.merge(o.error_us);
  at_send_error_us.merge(o.at_send_error_us);
  rto_us.merge(o.rto_us);
  excess_us.merge(o.excess_us);
  misses += o.misses;
  spurious_timeouts += o.spurious_timeouts;
  spurious_timeouts_tlp += o.spurious_timeouts_tlp;
  spurious_probes += o.spurious_probes;
  abs_errors_us.merge(o.abs_errors_us);
}

}  // namespace tcplearn
