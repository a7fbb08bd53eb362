# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the estimator `experts` of Nunes et al. 2014 as its authors' kernel computes it (sections 6.1 to
6.3 of the paper): in Q16.16, with truncation and saturation. e^-z and the powers in the experts' grid are
correctly rounded by decimal arithmetic. The C core gives the same integers in double precision and in fixed
point."""

from decimal import Decimal
from functools import cache

from arithmetic import CONTEXT, correctly_rounded
from estimator_reference import rtt_of

ONE, TOP = 1 << 16, (1 << 32) - 1


@cache
def e_to_minus(z):
    return correctly_rounded(CONTEXT.multiply(ONE, CONTEXT.exp(CONTEXT.divide(-z, ONE))))


def two_to_minus_quarter(j):
    return correctly_rounded(CONTEXT.multiply(ONE, CONTEXT.power(2, Decimal(-j) / 4)))


def sat(v):
    return min(v, TOP)


def times(a, b):
    return sat(a * b >> 16)


class ExpertsQ16:
    def __init__(self, _, p):
        self.p, self.n, self.seen, self.trials = p, p["n"], False, 0
        quarters = [two_to_minus_quarter(j) for j in range(4)]
        below = range(self.n - 1, -1, -1)
        self.x = [sat(p["rtt_min"] * ONE + (p["rtt_max"] * quarters[j % 4] >> j // 4)) for j in below]
        self.w = [ONE // self.n] * self.n
        self.rttvar = self.last = 0
        self.predict()

    def predict(self):
        dot = sum(times(w, x) for w, x in zip(self.w, self.x, strict=True))
        self.rtt = sat((sat(dot) << 16) // sat(sum(self.w)))

    def runs(self):
        """Return the ranges (first, end) of experts among which `spread` chooses when all weights are zero:
        those that begin at the lowest expert, longest first, then those that end at the highest."""
        return [(0, i) for i in range(self.n, 0, -1)] + [(i, self.n) for i in range(1, self.n)]

    def spread(self, y):
        def gap(run):
            return abs(sum(self.x[run[0] : run[1]]) // (run[1] - run[0]) - y)

        low, high = min(self.runs(), key=gap)
        self.w = [ONE // (high - low) if low <= i < high else 0 for i in range(self.n)]

    def trial(self, y):
        eta, alpha = self.p["eta_q16"], self.p["alpha_q16"]
        w = []
        for weight, x in zip(self.w, self.x, strict=True):
            loss = times(x - y, x - y) if x >= y else sat(2 * y)
            w.append(times(weight, e_to_minus(times(eta, loss))))
        part = sat(sum(times(alpha, v) for v in w) // self.n)
        self.w = [sat(times(ONE - alpha, v) + part) for v in w]
        if sum(self.w) == 0:
            self.spread(y)
            self.predict()
            return
        self.predict()
        self.rescale()

    def rescale(self):
        """Divide the weights by their sum, with truncation. This is done once in every `rescale` samples, or
        never if `rescale` is 0. Samples after which all weights are zero are not counted."""
        self.trials += 1
        if self.p["rescale"] and self.trials % self.p["rescale"] == 0:
            total = sat(sum(self.w))
            self.w = [(v << 16) // total for v in self.w]

    def update(self, s):
        ticks = sat(rtt_of(s) // self.p["tick_us"] * ONE)
        if self.seen:
            self.rttvar = sat(times(3 * ONE // 4, self.rttvar) + times(ONE // 4, abs(ticks - self.last)))
        else:
            self.rttvar = ticks // 2
        self.last, self.seen = ticks, True
        self.trial(ticks // self.p["scale"])

    def query(self):
        p = self.p
        rtt_us = self.rtt * p["scale"] * p["tick_us"] >> 16
        rto_us = rtt_us + (self.rttvar * 4 * p["tick_us"] >> 16) if self.seen else p["rto_initial_us"]
        return rtt_us, min(max(rto_us, p["rto_min_us"], 1), p["rto_max_us"])


Q16 = {
    "n": 100, "eta_q16": 131072, "alpha_q16": 5243, "tick_us": 4000, "scale": 125, "rtt_min": 1,
    "rtt_max": 128, "rescale": 0,
    "rto_initial_us": 3_000_000, "rto_min_us": 200_000, "rto_max_us": 120_000_000,
}  # fmt: skip

Q16_4MS = {**Q16, "scale": 1, "rtt_max": 2000}

CASES = {
    "experts/nunes2014-linux": (ExpertsQ16, None, Q16, [
        ("wan extremes falling", {"tick_us": 1000, "scale": 1}),
        ("extremes large", {"n": 10, "alpha_q16": 0}),
        ("large", {"eta_q16": 655, "alpha_q16": 65536, "tick_us": 1_000_000, "scale": 1000}),
    ]),
    "experts/nunes2014-4ms-q16": (ExpertsQ16, None, Q16_4MS, []),
    "experts/nunes2014-4ms-rescaled": (ExpertsQ16, None, {**Q16_4MS, "rescale": 1}, [
        ("wan falling", {"rescale": 7}),
        ("large", {"eta_q16": 655, "rescale": 3}),
    ]),
}  # fmt: skip
