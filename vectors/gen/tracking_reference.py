# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the estimator `tracking` from docs/algorithms/tracking.md. The same code runs in floats and in
integers, with the classes of tracking_numbers.py."""

from arithmetic import RTT_MAX_US, clamp
from estimator_reference import LAST, Estimator, rtt_of
from tracking_numbers import COUNT, added


def sign(a, dead):
    return (a > dead) - (a < -dead)


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


class Predictors:
    """Computes several predictions of the RTT: averages and medians that follow its level, the RTT that was
    usual after a similar deviation from the level, and the last sample."""

    def __init__(self, a, y, median_start, dead_zone, by_outlier):
        self.a, self.median_start, self.dead_zone, self.by_outlier = a, median_start, dead_zone, by_outlier
        self.scale = max(a.half(y, 3), a.least)
        self.hub = self.slow_hub = self.step_median = self.ewma8 = self.ewma32 = self.median5 = self.last = y
        self.deviation = 0 * y
        self.ring, self.count = [y] * 5, 0
        self.drift, self.drift_scale = [0 * y] * 16, [self.scale] * 16
        self.offset, self.slope = [0 * y] * 4, [8] * 4
        self.ratio, self.map8, self.map16 = [8] * 8, [0 * y] * 8, [0 * y] * 16
        self.cell4, self.cell8, self.cell16, self.was_out = 0, 3, 5, False
        self.x = [y] * COUNT

    def dead(self):
        return self.a.half(self.scale, 5) if self.dead_zone else 0 * self.scale

    def floor(self):
        return max(self.a.half(self.hub, 12), self.a.least)

    def update(self, y):
        dead, deviation = self.dead(), y - self.hub
        if self.count:
            self.learn(y, deviation, dead)
        self.choose_cells(deviation, dead)
        self.track(y, deviation)
        self.answer()

    def learn(self, y, follows, dead):
        half, g, s = self.a.half, self.deviation, self.scale
        c, b, m = self.cell4, self.cell8, self.cell16
        d = self.drift_cell()
        at, side = self.drift_scale[d], sign(g, dead)
        wander = y - self.last - self.drift[d]
        off = follows - half(self.slope[c] * g, 4) - self.offset[c]
        most = half(at, 2 if self.by_outlier else 1)
        self.drift[d] += clamp(wander, -most, most)
        self.drift_scale[d] = max(at + half(min(abs(wander), 4 * at) - at, 4), self.floor())
        self.slope[c] = clamp(self.slope[c] + sign(off, dead) * side, -4, 20)
        self.offset[c] += clamp(off, -half(at, 3), half(at, 3))
        rest = follows - half(self.ratio[b] * g, 4)
        self.ratio[b] = clamp(self.ratio[b] + sign(rest, dead) * side, -4, 20)
        self.map8[b] += clamp(follows - self.map8[b], -half(s, 3), half(s, 3))
        self.map16[m] += clamp(follows - self.map16[m], -half(s, 3), half(s, 3))

    def drift_cell(self):
        return self.cell4 if self.by_outlier else self.cell16

    def choose_cells(self, deviation, dead):
        s, out = self.scale, abs(deviation) > 4 * self.scale
        self.cell4 = {(False, False): 0, (True, False): 1, (True, True): 2, (False, True): 3}[
            out, self.was_out
        ]
        self.was_out = out
        if self.cell4 == 0:
            self.cell8 = 1 + (deviation >= -s) + (deviation >= -dead) + (deviation >= s)
        else:
            self.cell8 = {1: 5 if deviation > 0 else 0, 2: 6, 3: 7}[self.cell4]
        level = (4 * deviation >= -3 * s) + (4 * deviation >= s) + (2 * deviation >= 3 * s)
        self.cell16 = self.cell16 % 4 * 4 + level

    def step(self, distance, n, k):
        """Return the change of a mean at its `n`-th sample, which differs from the mean by `distance`. From
        sample 2^k on, the mean is an EWMA with gain 1/2^k."""
        return self.a.half(distance, k) if n >= 1 << k else self.a.div(distance, n)

    def track(self, y, deviation):
        half = self.a.half
        n = self.count + 1
        self.ring[self.count % 5] = y
        self.ewma8 += half(y - self.ewma8, 3)
        self.ewma32 += self.step(y - self.ewma32, n, 5) if self.median_start else half(y - self.ewma32, 5)
        if self.median_start and n <= 5:
            seen = self.ring[:n]
            self.hub = self.slow_hub = self.step_median = self.median5 = lower_median(seen)
            if n > 1:
                distances = sorted(abs(v - self.hub) for v in seen)
                self.scale = half(5 * distances[n // 2], 2)
        else:
            s, clip = self.scale, self.median_start or n > 4
            distance, far = abs(deviation), y - self.slow_hub
            if clip:
                far, deviation = clamp(far, -2 * s, 2 * s), clamp(deviation, -2 * s, 2 * s)
                distance = min(distance, 3 * s)
            self.median5 = sorted(self.ring)[2]
            self.slow_hub += self.step(far, n, 6)
            self.step_median += clamp(y - self.step_median, -half(s, 3), half(s, 3))
            self.hub += self.step(deviation, n, 4)
            self.scale += self.step(distance - s, n, 4) if n > 1 else half(distance - s, 4)
        self.scale = max(self.scale, self.floor())
        self.last, self.deviation, self.count = y, y - self.hub, n

    def answer(self):
        half, hub, g, dead, c = self.a.half, self.hub, self.deviation, self.dead(), self.cell4
        least = 0 * hub if self.dead_zone else -4 * hub
        on = self.last + self.drift[self.drift_cell()]
        drift = self.last
        if not self.by_outlier:
            drift = max(on, least)
        elif g > dead:
            drift = max(on, hub)
        elif g < -dead or not self.dead_zone:
            drift = max(min(on, hub), least)
        self.x = [
            self.last, self.ewma8, self.ewma32, self.median5, self.slow_hub, self.step_median, drift,
            hub + half(g, 1),
            max(hub + half(self.ratio[self.cell8] * g, 4), least),
            max(hub + self.map8[self.cell8], 0 * hub),
            max(hub + self.map16[self.cell16], 0 * hub),
            max(hub + half(self.slope[c] * g, 4) + self.offset[c], 0 * hub),
        ]  # fmt: skip


class Memory:
    """Holds the regret of each predictor and, as the last value, that of the mixture with the learned
    correction. A regret is the sum of the plain mixture's absolute errors minus the sum of the predictor's.
    With each sample it loses 1/2^k of itself, where k is an argument."""

    def __init__(self, a, k, used, y):
        self.a, self.k, self.used = a, k, used
        self.regret, self.mixture = [0 * y] * (len(used) + 1), y

    def update(self, y, x, rounded):
        lost, forget = abs(self.mixture - y), self.a.half if rounded else self.a.shrink
        for i, v in enumerate(x):
            r = self.regret[i]
            self.regret[i] = r + (lost - abs(v - y) - forget(r, self.k))

    def positive(self, x):
        return [(w, v) for w, v in zip(self.regret, x, strict=False) if w > 0]


class Tracking(Estimator):
    def __init__(self, a, p):
        super().__init__(a, p)
        self.rtt = self.rttvar = a.us(0)
        self.used = [k for k in range(COUNT) if p["predictors"] >> k & 1]
        self.by_regret, self.two = p["combiner"] == 0, p["memory"] == 0
        self.corrects = self.by_regret and p["correction"] == 0
        self.beta, self.k = a.ratio(p["beta"]), a.ratio(p["k"])
        self.eta, self.alpha = a.ratio(p["eta"]), a.ratio(p["alpha"])
        self.weight = [a.equal] * len(self.used)

    def update(self, s):
        a, y = self.a, self.a.us(rtt_of(s))
        if not self.seen:
            p, self.seen = self.p, True
            self.bank = Predictors(a, y, p["warm_up"] == 0, p["dead_zone"] == 0, p["drift"] == 1)
            self.budget, self.rttvar = 0 * y, a.half(y, 1)
            self.memories = [Memory(a, k, self.used, y) for k in ((5, 9) if self.two else (7,))]
            self.base = self.corrected = y
            self.moved = [a.ratio(0)] * 3
        else:
            self.rttvar += a.times(abs(y - self.rtt) - self.rttvar, self.beta)
            self.grant(y)
            if self.by_regret:
                self.regrets(y)
            else:
                self.fixed_share(y)
            if self.corrects:
                self.learn_correction(y)
        self.bank.update(y)
        self.rtt, last = self.mix(), self.bank.last
        if self.p["budget"] != 1:
            self.rtt = clamp(self.rtt, last - self.budget, last + self.budget)

    def grant(self, y):
        a, bank, first = self.a, self.bank, self.p["budget"] == 2
        change = abs(y - bank.last)
        upward = 5 if first else 2
        b = self.budget + (
            a.half(upward * change if y > bank.last else change, 4) + change - abs(self.rtt - y)
        )
        if 2 <= bank.count <= 16:
            b += min(change, bank.scale)
        b = max(b, 0 * b)
        self.budget = b - a.half(b, 8 if first or bank.count < 256 else 6)

    def regrets(self, y):
        x = [self.bank.x[k] for k in self.used] + ([self.corrected] if self.corrects else [])
        for memory in self.memories:
            memory.update(y, x, not self.two)

    def towards(self, reach):
        """Return the differences of three predictions from the mixture of all predictions, each limited to
        +-`reach`. The three are the last sample and the predictors TL_P_SLOW_HUB and TL_P_MAP16 of
        tracking_predictors.h."""
        return [clamp(self.bank.x[k] - self.base, -reach, reach) for k in (0, 4, 10)]

    def learn_correction(self, y):
        s = self.bank.scale
        error = clamp(y - self.corrected, -s, s)
        steps = zip(self.moved, self.towards(s), strict=True)
        self.moved = [self.a.step(c, error, d, s) for c, d in steps]

    def correct(self):
        parts = zip(self.towards(4 * self.bank.scale), self.moved, strict=True)
        x = self.base
        for d, c in parts:
            x += self.a.times(d, c)
        self.corrected = clamp(x, 0 * x, self.a.us(RTT_MAX_US))

    def mix_regrets(self, fallback):
        a, x = self.a, [self.bank.x[k] for k in self.used]
        for m in self.memories:
            positive = m.positive(x)
            mean = a.summed_mean if self.two else a.mean
            m.mixture = mean(*zip(*positive, strict=True)) if positive else fallback
        self.base = self.middle()
        if not self.corrects:
            return self.base
        self.correct()
        for m in self.memories:
            part, rest = m.regret[-1], added(w for w, _ in m.positive(x))
            if part > 0:
                m.mixture = a.blend(m.mixture, self.corrected, part, rest)
        return self.middle()

    def middle(self):
        both = [m.mixture for m in self.memories]
        return self.a.half(sum(both), 1) if self.two else both[0]

    def fixed_share(self, y):
        a, s = self.a, self.bank.scale
        losses = [a.loss(min(abs(self.bank.x[k] - y), 1024 * s), s) for k in self.used]
        w = [a.decay(w, v - min(losses), self.eta) for w, v in zip(self.weight, losses, strict=True)]
        self.weight = a.share(w, self.alpha)
        if self.weight is None:
            self.weight = [a.equal] * len(self.used)

    def mix(self):
        last = self.bank.last
        fallback = self.a.half(last + self.bank.hub, 1) if self.p["warm_up"] == 0 else last
        if self.by_regret:
            return self.mix_regrets(fallback)
        positive = [(w, self.bank.x[k]) for w, k in zip(self.weight, self.used, strict=True) if w > 0]
        return self.a.mean(*zip(*positive, strict=True)) if positive else fallback

    def query(self):
        a, p = self.a, self.p
        return self.answer(self.rtt, max(a.times(self.rttvar, self.k), a.us(p["granularity_us"])))


DEFAULTS = {
    "predictors": 3965, "combiner": 0, "budget": 0, "drift": 0, "memory": 0, "correction": 0,
    "warm_up": 0, "dead_zone": 0, "eta": 2, "alpha": 0.08,
    **LAST,
}  # fmt: skip
FIRST = {**DEFAULTS, "budget": 2, "drift": 1, "memory": 1, "correction": 1}
STUDY = {**FIRST, "predictors": 4095, "budget": 1, "warm_up": 1, "dead_zone": 1}

VARIANTS = [
    ("wan sawtooth extremes flights", {"combiner": 1}),
    ("wan extremes", {"combiner": 1, "alpha": 0, "eta": 20}),
    ("large tiny", {"combiner": 1, "alpha": 0.5, "eta": 0.25, "predictors": 127}),
    ("wan sawtooth falling", {"budget": 1}),
    ("wan rising tiny", {"warm_up": 1}),
    ("wan sawtooth tiny", {"dead_zone": 1}),
    ("wan flights", {"predictors": 1}),
    ("wan sawtooth", {"predictors": 64}),
    ("wan extremes tiny", {"predictors": 4095}),
    ("wan falling", {"beta": 0.5, "k": 8, "granularity_us": 20_000, "rto_min_us": 200_000}),
    ("extremes large", {"combiner": 1, "eta": 0.001}),
    ("stairs", {}),
]
CASES = {
    "tracking": (Tracking, Tracking, DEFAULTS, [
        *VARIANTS,
        ("wan sawtooth stairs", {"budget": 2}),
        ("wan sawtooth stairs", {"drift": 1}),
        ("wan sawtooth stairs", {"memory": 1}),
        ("wan sawtooth stairs", {"correction": 1}),
        ("wan tiny", {"memory": 1, "correction": 1, "drift": 1, "dead_zone": 1}),
    ]),
    "tracking/first": (Tracking, Tracking, FIRST, VARIANTS),
    "tracking/study": (Tracking, Tracking, STUDY, [("wan flights", {"predictors": 3965})]),
}  # fmt: skip
