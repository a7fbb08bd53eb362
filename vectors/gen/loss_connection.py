# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the features from which loss classifiers decide (docs/algorithms/loss/features.md), in floats and
in integers, with the classes of loss_numbers.py (durations in 2^-8 us, ratios with 30 fractional bits)."""

from arithmetic import RTT_MAX_US
from loss_series import BEGUN, TIMEOUT

COUNT_MAX = 1 << 20


def count(n):
    return min(max(n, 1), COUNT_MAX)


class Connection:
    """The state of a connection from which features are computed."""

    def __init__(self, numbers):
        self.n, zero = numbers, numbers.us(0)
        self.last_us = self.new_us = self.duplicate_us = self.round_us = self.recovery_us = 0
        self.rtt = self.low = self.high = self.srtt = self.rttvar = zero
        self.recent = self.before = self.mean = self.mean_before = zero
        self.interval = zero
        self.some8, self.some32, self.jitter8, self.jitter32 = zero, zero, zero, zero
        self.packet, self.packet_least, self.past_rtt = zero, zero, zero
        self.past_veno = self.past_log = numbers.number(0)
        self.rtts = self.acks = self.round_rtts = self.round_packets = self.since = self.recoveries = 0
        self.duplicates = 0

    def apart(self, a_us, b_us):
        return self.n.us(min(max(b_us - a_us, 0), RTT_MAX_US))

    def towards(self, a, x, n):
        return a + self.n.div(x - a, n)

    def ack(self, a):
        if self.acks == 0:
            self.round_us = self.recovery_us = self.new_us = a.time_us
        else:
            self.time_between(self.apart(self.last_us, a.time_us))
        self.acks += 1
        self.last_us = a.time_us
        self.end_of_round(a.time_us)
        if a.rtt_us > 0:
            self.sample(self.n.us(min(a.rtt_us, RTT_MAX_US)))
        self.round_packets = min(self.round_packets + a.delivered, 0xFFFFFFFE)
        self.since = min(self.since + a.delivered, 0xFFFFFFFE)
        if a.duplicate:
            self.duplicate_us = self.duplicate_us if self.duplicates else a.time_us
            self.duplicates += 1
        else:
            self.new_us, self.duplicates = a.time_us, 0

    def time_between(self, x):
        if self.acks == 1:
            self.some8 = self.some32 = x
        else:
            self.jitter8 = self.towards(self.jitter8, abs(x - self.some8), 8)
            self.jitter32 = self.towards(self.jitter32, abs(x - self.some32), 32)
            self.some8, self.some32 = self.towards(self.some8, x, 8), self.towards(self.some32, x, 32)
        self.interval = x

    def end_of_round(self, now_us):
        lasted = self.apart(self.round_us, now_us)
        if self.rtts == 0 or lasted < self.srtt:
            return
        if self.round_packets:
            self.packet = self.n.div(lasted, self.round_packets)
            self.packet_least = min(self.packet_least or self.packet, self.packet)
        if self.round_rtts:
            self.mean_before = self.mean
        self.mean = self.n.us(0)
        self.round_rtts = self.round_packets = 0
        self.round_us = now_us

    def sample(self, y):
        if self.rtts == 0:
            self.low = self.high = self.srtt = y
            self.rttvar = self.n.div(y, 2)
        else:
            self.rttvar = self.towards(self.rttvar, abs(self.srtt - y), 4)
            self.srtt = self.towards(self.srtt, y, 8)
            self.low, self.high = min(self.low, y), max(self.high, y)
        self.rtt, self.recent = y, max(self.recent, y)
        self.rtts += 1
        self.round_rtts += 1
        self.mean = self.towards(self.mean, y, self.round_rtts)

    def over(self, a, b):
        return self.n.quotient(a, b) if b > 0 else self.n.number(0)

    def log_over(self, a, b):
        one = self.n.us(1)
        return self.n.log2(self.n.quotient(a + one, b + one))

    def veno(self, cwnd):
        return self.n.product(self.over(self.rtt - self.low, self.rtt), count(cwnd))

    def log_count(self, n):
        return self.n.log2(self.n.number(n))

    def change(self, at):
        if at.change == BEGUN and self.rtts:
            past = (self.past_rtt, self.past_veno, self.past_log)
            now = (self.rtt, self.veno(at.cwnd), self.log_count(min(self.since + 1, 0xFFFFFFFE)))
            if self.recoveries:
                now = tuple(self.towards(a, x, 4) for a, x in zip(past, now, strict=True))
            self.past_rtt, self.past_veno, self.past_log = now
            self.recoveries += 1
            self.before, self.recent = self.recent, self.n.us(0)
        if at.change in (BEGUN, TIMEOUT):
            self.recovery_us, self.since = at.time_us, 0

    def features(self, at):
        """Return the features at the decision `at`, limited to their bounds, by name in the order of
        feature_list.h."""
        found = self.unclipped(at) if self.rtts else dict.fromkeys(BOUNDS, self.n.number(0))
        if not self.rtts:
            return found
        assert list(found) == list(BOUNDS)
        return {
            k: min(max(v, self.n.number(BOUNDS[k][0])), self.n.number(BOUNDS[k][1])) for k, v in found.items()
        }

    def unclipped(self, at):
        n, p, cwnd = self.n, count(at.flight), count(at.cwnd)
        ms, nought, one = n.us(1000), n.number(0), n.number(1)
        above, span = self.rtt - self.low, self.high - self.low
        low_ms, rtt_ms = n.div(n.quotient(self.low, ms), p), n.div(n.quotient(self.rtt, ms), p)
        first_us = self.duplicate_us if self.duplicates else at.time_us
        gap, spacing = self.apart(self.new_us, first_us), n.div(self.apart(first_us, at.time_us), 2)
        veno, log_p, log_cwnd = self.veno(cwnd), self.log_count(p), self.log_count(cwnd)
        log_since, log_veno = self.log_count(self.since + 1), n.log2(one + veno)
        trips = self.over(self.apart(self.recovery_us, at.time_us), self.srtt)
        sloped = self.round_rtts and self.mean_before > 0
        return {
            "rtt_min_per_packet": low_ms,
            "rtt_per_packet": rtt_ms,
            "ack_interval": n.quotient(self.interval, ms),
            "veno_packets": veno,
            "log_rtt_min_per_packet": n.log2(low_ms),
            "log_rtt_per_packet": n.log2(rtt_ms),
            "rtt_min_to_rtt": max(self.over(self.low, self.rtt), n.least),
            "rtt_min_to_srtt": self.over(self.low, self.srtt),
            "queue_position": self.over(above, span),
            "recent_position": self.over(above, max(self.recent, self.before) - self.low),
            "log_veno_packets": log_veno,
            "log_flight": log_p,
            "log_cwnd": log_cwnd,
            "rtt_trend": self.over(self.rtt, self.mean_before) if self.mean_before > 0 else one,
            "rtt_slope": self.over(self.mean - self.mean_before, self.low) if sloped else nought,
            "rttvar_to_srtt": self.over(self.rttvar, self.srtt),
            "rttvar_to_range": self.over(self.rttvar, span),
            "log_rtt_range": self.log_over(span, self.low),
            "ack_jitter": self.over(self.jitter8, self.some8),
            "ack_jitter_slow": self.over(self.jitter32, self.some32),
            "log_ack_rate": self.log_over(self.some8, self.rtt) + log_p,
            "log_ack_rate_slow": self.log_over(self.some32, self.rtt) + log_p,
            "log_packets_since": log_since,
            "log_rtts_since": n.log2(trips + n.ratio("0.1")),
            "log_packets_to_square": log_since - 2 * log_p,
            "log_cwnd_to_ssthresh": log_cwnd - self.log_count(count(at.ssthresh)),
            "rate_to_max": self.over(self.packet_least, self.packet),
            "log_gap_to_duplicates": self.log_over(gap, spacing),
            "log_gap_to_packet": self.log_over(gap, self.packet),
            "log_veno_to_past": log_veno - n.log2(one + self.past_veno) if self.recoveries else nought,
            "past_position": self.over(self.rtt - self.past_rtt, span) if self.recoveries else nought,
            "past_log_packets": self.past_log,
        }


BOUNDS = {
    "rtt_min_per_packet": (0, 4294968), "rtt_per_packet": (0, 4294968), "ack_interval": (0, 4294968),
    "veno_packets": (0, 1048576), "log_rtt_min_per_packet": (-30, 30), "log_rtt_per_packet": (-30, 30),
    "rtt_min_to_rtt": (0, 1), "rtt_min_to_srtt": (0, 4), "queue_position": (0, 1), "recent_position": (0, 3),
    "log_veno_packets": (0, 21), "log_flight": (0, 20), "log_cwnd": (0, 20), "rtt_trend": (0, 4),
    "rtt_slope": (-3, 3), "rttvar_to_srtt": (0, 4), "rttvar_to_range": (0, 4), "log_rtt_range": (-10, 10),
    "ack_jitter": (0, 8), "ack_jitter_slow": (0, 8), "log_ack_rate": (-8, 8), "log_ack_rate_slow": (-8, 8),
    "log_packets_since": (0, 32), "log_rtts_since": (-4, 12), "log_packets_to_square": (-40, 32),
    "log_cwnd_to_ssthresh": (-8, 4), "rate_to_max": (0, 1), "log_gap_to_duplicates": (-6, 6),
    "log_gap_to_packet": (-6, 6), "log_veno_to_past": (-6, 6), "past_position": (-3, 3),
    "past_log_packets": (0, 32),
}  # fmt: skip
FEATURES = list(BOUNDS)
