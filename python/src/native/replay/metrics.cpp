// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "replay/metrics.h"

#include <algorithm>
#include <cmath>

namespace tcplearn {

namespace {
constexpr double kMaxAckDelayUs = 200e3;  // TLP.max_ack_delay: worst-case delayed ACK (RFC 8985, 7.2)
constexpr double kInitialPtoUs = 1e6;     // PTO before SRTT is known (RFC 8985, 7.2)

// Returns the probe timeout (PTO) by RFC 8985, 7.2.
double probe_timeout_us(double srtt_us, bool alone) {
  return srtt_us > 0 ? 2 * srtt_us + (alone ? kMaxAckDelayUs : 0) : kInitialPtoUs;
}

double excess_us(double rtt_us, double timeout_us) { return std::max(timeout_us - rtt_us, 0.0); }

void hold(TimerSums& timer, double rtt_us, double timeout_us) {
  timer.rto_us.add(timeout_us);
  timer.excess_us.add(excess_us(rtt_us, timeout_us));
  timer.misses += rtt_us > timeout_us;
}
}  // namespace

void TimerSums::merge(const TimerSums& o) {
  rto_us.merge(o.rto_us);
  excess_us.merge(o.excess_us);
  misses += o.misses;
}

Scored Metrics::score(double rtt_us, const Answer& now, const Answer& sent) {
  Scored s{};
  if (now.any_sample) {
    const double error = now.rtt_us - rtt_us;
    s.abs_error_us = std::fabs(error);
    error_us.add(error);
    abs_error_us.add(s.abs_error_us);
    hold(before, rtt_us, now.rto_us);
  }
  if (!sent.any_sample) {
    ++handshakes;
    return s;
  }
  s.at_send_error_us = std::fabs(sent.rtt_us - rtt_us);
  at_send_error_us.add(s.at_send_error_us);
  hold(at_send, rtt_us, sent.rto_us);
  s.rto_us = sent.rto_us;
  s.excess_us = excess_us(rtt_us, sent.rto_us);
  s.missed = rtt_us > sent.rto_us;
  return s;
}

void Metrics::run_timer(const Wait& wait, double srtt_us, double timeout_us, bool from_head) {
  const auto armed = static_cast<double>(wait.armed_us);
  const auto acked = static_cast<double>(wait.acked_us);
  // RFC 6298, 5.3: RTO after the ACK that restarts the timer; Eifel: minus the age of the oldest segment
  const double start = from_head ? static_cast<double>(wait.head_sent_us) : armed;
  const double expiry = std::max(armed, start + timeout_us);
  spurious_timeouts += expiry < acked;

  // RFC 8985, 7.2 and 7.3: a probe comes after PTO, or in place of an earlier RTO, and restarts the RTO
  const double probe = std::min(armed + probe_timeout_us(srtt_us, wait.tail), expiry);
  spurious_probes += probe < acked;
  spurious_timeouts_tlp += probe + timeout_us < acked;
}

Detection Metrics::detect(const Loss& loss, double srtt_us, double timeout_us, bool from_head) {
  const auto sent = static_cast<double>(loss.sent_us);
  const auto armed = static_cast<double>(loss.armed_us);
  const double start = from_head ? static_cast<double>(loss.head_sent_us) : armed;
  double expiry = std::max(armed, start + timeout_us);
  // the timer fired before this segment was sent, for an older segment, and was started again
  if (expiry < sent) expiry = sent + timeout_us;

  double known = expiry;
  // RFC 8985, 7.2: no probe once a segment was SACKed, because RACK's own timer runs; otherwise after
  // PTO, or in place of an RTO that would expire sooner
  const double pto = static_cast<double>(loss.probe_from_us) + probe_timeout_us(srtt_us, loss.alone);
  const double probe = std::min(pto, expiry);
  if (loss.delivered_us < 0 || static_cast<double>(loss.delivered_us) > probe) {
    // the probe repeats the last segment: this is the lost one, or the probe's ACK shows the loss one RTT
    // later
    const double answer =
        loss.rtt_us >= 0 ? std::min(static_cast<double>(loss.rtt_us), timeout_us) : timeout_us;
    known = loss.tail ? probe : probe + answer;
  }
  if (loss.rack_us >= 0) known = std::min(known, static_cast<double>(loss.rack_us));
  return {expiry - sent, std::max(known - sent, 0.0)};
}

void Metrics::merge(const Metrics& o) {
  abs_error_us.merge(o.abs_error_us);
  error_us.merge(o.error_us);
  at_send_error_us.merge(o.at_send_error_us);
  at_send.merge(o.at_send);
  before.merge(o.before);
  loss_actual_us.merge(o.loss_actual_us);
  loss_rto_us.merge(o.loss_rto_us);
  loss_rack_us.merge(o.loss_rack_us);
  spurious_timeouts += o.spurious_timeouts;
  spurious_timeouts_tlp += o.spurious_timeouts_tlp;
  spurious_probes += o.spurious_probes;
  handshakes += o.handshakes;
  abs_errors_us.merge(o.abs_errors_us);
}

}  // namespace tcplearn
