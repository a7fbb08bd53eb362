# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the estimator `experts` of Nunes et al. 2014, Algorithm 1, in floats and in integers: a weighted
mean of fixed RTTs (experts). Each expert has a loss at each sample."""

import math

from arithmetic import ONE, clamp, decay, e_to_minus, over, times, two_to_minus
from estimator_reference import Estimator, Sampler

UNIT_MAX_US = 1 << 30


class Experts(Estimator):
    """The base class. Its subclasses compute with the experts' RTTs `x`, in ticks of `unit_us`, and the
    experts' weights `w`."""

    def __init__(self, a, p):
        super().__init__(a, p)
        self.sampler, self.n, self.decays = Sampler(p), p["n"], {}
        names = ("eta", "alpha", "over", "under", "quantile", "rtt_min", "rtt_max", "beta", "k")
        self.r = {name: a.ratio(p[name]) for name in names}
        one, tau = a.ratio(1), self.r["quantile"]
        self.sides = ((self.r["over"], self.r["under"]), (one, one), (one - tau, tau))[max(p["loss"] - 2, 0)]
        self.unit_us = clamp(p["tick_us"] * p["scale"], 1, UNIT_MAX_US)
        self.x = self.grid()
        self.rttvar = self.last = a.us(0)
        self.spread()

    def decay(self, y):
        """Return the factors of the experts' weights at the sample `y`."""
        if y not in self.decays:
            losses = [self.loss(x, y) for x in self.x]
            least = min(losses)
            self.decays[y] = [self.factor(loss - least, self.r["eta"]) for loss in losses]
        return self.decays[y]

    def trial(self, y):
        w = [self.a.times(w, e) for w, e in zip(self.w, self.decay(y), strict=True)]
        if self.vanish(w):
            self.spread()
            return
        self.w = (self.share_fixed, self.share_variable, self.share_past)[self.p["share"]](w, y)
        self.predict()

    def update(self, s):
        a, p, rtt_us = self.a, self.p, self.sampler.take(s)
        if rtt_us is None:
            return
        y, r = self.ticks(rtt_us), a.us(rtt_us)
        if p["fit"] and (not self.seen or y < self.x[0] or y > self.x[-1]):
            self.unit_us = clamp(rtt_us // p["fit"], 1, UNIT_MAX_US)
            y = self.ticks(rtt_us)
            self.spread()
        if self.seen:
            before = self.rtt if p["variance"] == 0 else self.last
            self.rttvar = a.towards(self.rttvar, abs(r - before), self.r["beta"])
        else:
            self.rttvar = a.half(r, 1)
        self.last, self.seen = r, True
        self.trial(y)

    def query(self):
        return self.answer(self.rtt, self.a.times(self.rttvar, self.r["k"]))


class ExpertsDouble(Experts):
    factor = staticmethod(lambda loss, eta: e_to_minus(eta * loss))

    def grid(self):
        p, below = self.p, range(self.n - 1, -1, -1)
        return [p["rtt_min"] + p["rtt_max"] * 2.0 ** (-j / p["per_octave"]) for j in below]

    def ticks(self, rtt_us):
        return min(rtt_us / self.unit_us, 2048.0)

    def spread(self):
        self.w = [1 / self.n] * self.n
        self.past = [list(self.w)]
        self.predict()

    def predict(self):
        dot = math.fsum(w * x for w, x in zip(self.w, self.x, strict=True))
        self.rtt = dot / math.fsum(self.w) * self.unit_us

    def loss(self, x, y):
        kind = self.p["loss"]
        if kind >= 2:
            return self.sides[0] * (x - y) if x >= y else self.sides[1] * (y - x)
        return 2 * y if kind == 0 and x < y else (x - y) ** 2

    def vanish(self, w):
        return math.fsum(w) <= 1e-290

    def share_fixed(self, w, _):
        alpha, total = self.r["alpha"], math.fsum(w)
        pool = alpha * total
        return [((1 - alpha) * v + pool / self.n) / total for v in w]

    def share_variable(self, w, y):
        total = math.fsum(w)
        rates = [1 - self.factor(self.loss(x, y), self.r["alpha"]) for x in self.x]
        pool = math.fsum(r * v for r, v in zip(rates, w, strict=True))
        mixed = [((1 - r) * v + pool / self.n) / total for r, v in zip(rates, w, strict=True)]
        return [max(v, 2.0**-30) for v in mixed]

    def share_past(self, w, _):
        alpha, total = self.r["alpha"], math.fsum(w)
        means = [math.fsum(past) / len(past) for past in zip(*self.past, strict=True)]
        self.past.append([v / total for v in w])
        mixed = [(1 - alpha) * v + alpha * m for v, m in zip(self.past[-1], means, strict=True)]
        return [max(v, 2.0**-30) for v in mixed]


class ExpertsFixed(Experts):
    factor = staticmethod(decay)

    def grid(self):
        low, high, each = self.r["rtt_min"], self.r["rtt_max"], self.p["per_octave"]
        below = range(self.n - 1, -1, -1)
        return [over(low + times(high, two_to_minus(j * ONE // each)), 1 << 10) for j in below]

    def ticks(self, rtt_us):
        return min(over(rtt_us << 20, self.unit_us), 2048 << 20)

    def spread(self):
        self.w = [over(ONE, self.n)] * self.n
        self.past, self.trials = list(self.w), 1
        self.predict()

    def predict(self):
        dot = sum(v * x for v, x in zip(self.w, self.x, strict=True))
        self.rtt = over(over(dot, sum(self.w)) * self.unit_us, 1 << 12)

    def loss(self, x, y):
        """Return the loss of expert `x` for the sample `y`, with 24 fractional bits; x and y have 20."""
        kind = self.p["loss"]
        if kind >= 2:
            return times(abs(x - y) << 4, self.sides[0 if x >= y else 1])
        return 2 * y << 4 if kind == 0 and x < y else over((x - y) ** 2, 1 << 16)

    def vanish(self, w):
        return sum(w) == 0

    def share_fixed(self, w, _):
        alpha = self.r["alpha"]
        keep, share = (ONE - alpha) * ONE // sum(w), alpha // self.n
        return [over(v * keep, ONE) + share for v in w]

    def share_variable(self, w, y):
        alpha, scale = self.r["alpha"], ONE * ONE // sum(w)
        kept = [over(v * decay(self.loss(x, y), alpha), ONE) for v, x in zip(w, self.x, strict=True)]
        share = ((sum(w) - sum(kept)) * scale // ONE) // self.n
        return [max(over(v * scale, ONE) + share, 1) for v in kept]

    def share_past(self, w, _):
        alpha, scale = self.r["alpha"], ONE * ONE // sum(w)
        w = [over(v * scale, ONE) for v in w]
        mixed = [
            max(over(v * (ONE - alpha), ONE) + over(total // self.trials * alpha, ONE), 1)
            for v, total in zip(w, self.past, strict=True)
        ]
        self.past = [total + v for total, v in zip(self.past, w, strict=True)]
        self.trials += 1
        return mixed


EXPERTS = {
    "n": 100, "eta": 2, "alpha": 0.08, "share": 0, "loss": 0, "over": 1, "under": 1, "quantile": 0.5,
    "tick_us": 500_000, "scale": 1,
    "rtt_min": 1, "rtt_max": 128, "per_octave": 4, "fit": 0, "variance": 0, "beta": 0.25, "k": 4,
    "rto_initial_us": 1_000_000, "rto_min_us": 1_000_000, "rto_max_us": 32_000_000,
    "quantum_us": 0, "sampling": 0,
}  # fmt: skip
FITTED = {**EXPERTS, "fit": 16, "per_octave": 16, "rto_min_us": 0, "rto_max_us": 60_000_000}
EXPERTS_4MS = {
    **EXPERTS, "tick_us": 4000, "rtt_max": 2000, "variance": 1,
    "rto_initial_us": 3_000_000, "rto_min_us": 200_000, "rto_max_us": 120_000_000,
}  # fmt: skip

CASES = {
    "experts": (ExpertsDouble, ExpertsFixed, EXPERTS, [
        ("extremes large", {"loss": 1}),
        ("extremes large wan", {"loss": 2, "over": 0.5, "under": 3}),
        ("extremes", {"alpha": 0}),
        ("extremes wan", {"eta": 0}),
        ("extremes large", {"eta": 0.0001, "alpha": 0.001}),
        ("wan sawtooth", {"tick_us": 4000, "scale": 2, "variance": 1}),
        ("wan large", {"n": 10, "per_octave": 1, "rtt_min": 0.5, "rtt_max": 2000}),
        ("flights", {"sampling": 1, "tick_us": 5000}),
        ("extremes", {"quantum_us": 500_000}),
        ("extremes flights", {"quantum_us": 500_000, "sampling": 2}),
        ("large", {"tick_us": 1_000_000_000, "scale": 1000}),
        ("wan", {"n": 1000, "per_octave": 256, "tick_us": 1000}),
        ("extremes large wan", {"loss": 3, "tick_us": 4000}),
        ("extremes large wan", {"loss": 4, "quantile": 0.9, "tick_us": 4000}),
        ("extremes large", {"loss": 4, "quantile": 1, "eta": 64}),
        ("wan extremes large falling", {"share": 1, "tick_us": 4000}),
        ("wan extremes", {"share": 1, "alpha": 0}),
        ("flights tiny", {"share": 1, "alpha": 0.999, "loss": 2, "over": 0.5, "under": 3, "tick_us": 1000}),
        ("wan extremes large falling", {"share": 2, "tick_us": 4000}),
        ("wan extremes", {"share": 2, "alpha": 0}),
        ("sawtooth flights", {"share": 2, "alpha": 0.999, "n": 17, "tick_us": 1000}),
    ]),
    "experts/fitted": (ExpertsDouble, ExpertsFixed, FITTED, [
        ("wan sawtooth", {"loss": 1, "eta": 0.5}),
        ("large", {"fit": 1}),
        ("extremes", {"fit": 1, "rtt_min": 48, "rtt_max": 2000}),  # the RTTs reach the largest expert
        ("wan rising", {"alpha": 0.3, "variance": 1, "k": 2}),
        ("sawtooth flights", {"loss": 2, "over": 0.25, "under": 1, "n": 20}),
        ("extremes rising", {"share": 2, "fit": 1}),
        ("sawtooth rising", {"share": 1, "loss": 3, "eta": 0.5}),
    ]),
    "experts/nunes2014-4ms": (ExpertsDouble, ExpertsFixed, EXPERTS_4MS, [
        ("extremes flights", {"rtt_max": 128}),
    ]),
}  # fmt: skip
