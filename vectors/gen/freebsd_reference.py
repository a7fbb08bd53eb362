# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the RTT estimator `jacobson/freebsd-2.2` in integers, from docs/algorithms/jacobson.md. SRTT is
in 1/32 of a clock tick, RTTVAR in 1/16. Shifts are written as floor divisions. Results are whole
microseconds, unless the parameter `fraction` keeps SRTT's fraction of a tick."""

from fractions import Fraction

from arithmetic import clamp
from estimator_reference import Sampler


class FreeBsd:
    def __init__(self, a, p):
        self.a, self.p, self.tick_us = a, p, p["tick_us"]
        self.sampler = Sampler({"sampling": p["sampling"], "quantum_us": p["tick_us"]})
        self.srtt_32nds = self.rttvar_16ths = self.count = None

    def update(self, s):
        rtt_us = self.sampler.take(s)
        if rtt_us is None:
            return
        self.count, rest = divmod(rtt_us, self.tick_us)
        assert rest == 0
        if self.srtt_32nds is None:
            self.srtt_32nds, self.rttvar_16ths = 32 * self.count, 8 * self.count
            return
        error_quarters = 4 * (self.count - 1) - self.srtt_32nds // 8
        self.srtt_32nds = max(self.srtt_32nds + error_quarters, 1)
        self.rttvar_16ths = max(self.rttvar_16ths + abs(error_quarters) - self.rttvar_16ths // 4, 1)

    def query(self):
        p = self.p
        if self.count is None:
            return self.a.us(0), self.a.us(p["rto_initial_us"])
        srtt_ticks = Fraction(self.srtt_32nds, 32) if p["fraction"] else self.srtt_32nds // 32
        rtt_us = srtt_ticks * self.tick_us if srtt_ticks else 1
        rto = (self.srtt_32nds // 8 + self.rttvar_16ths) // 4
        rto = max(rto, self.count + p["above_rtt"], p["rto_min"])
        return self.a.us(rtt_us), self.a.us(clamp(rto, 1, p["rto_max"]) * self.tick_us)


DEFAULTS = {
    "tick_us": 500_000, "sampling": 2, "fraction": 0, "above_rtt": 2, "rto_min": 2, "rto_max": 128,
    "rto_initial_us": 3_000_000,
}  # fmt: skip

CASES = {
    "jacobson/freebsd-2.2": (FreeBsd, FreeBsd, DEFAULTS, [
        ("wan falling flights extremes", {"tick_us": 4000}),
        ("sawtooth hour", {"sampling": 0, "tick_us": 10_000, "above_rtt": 0}),
        ("large falling", {"tick_us": 10_000_000, "rto_max": 4}),
        ("wan rising", {"tick_us": 1000, "sampling": 1, "rto_min": 64}),
    ]),
    "jacobson/freebsd-2.2-fraction": (FreeBsd, FreeBsd, {**DEFAULTS, "fraction": 1}, [
        ("wan sawtooth", {"tick_us": 1001}),
    ]),
}  # fmt: skip
