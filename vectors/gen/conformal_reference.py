# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement `conformal`, a retransmission timer with a chosen miss rate (share of RTTs above the RTO). The
same code runs in floats and in integers, with the classes of conformal_numbers.py."""

import tracking_reference as tracking
from estimator_reference import BOUNDS, JACOBSON, LAST, Jacobson, Last, rtt_of
from tracking_reference import Tracking


class Timer:
    """Computes how far the RTO is above the predicted RTT, and detects changes of the level of the RTT. This
    class is used if the parameter `width` is 1."""

    def __init__(self, a, miss, integral, steps):
        self.a, self.integral, self.steps = a, integral, steps
        self.alpha = a.rate(miss)
        self.u, self.excess, self.deferred = a.start(self.alpha), 0 * a.one, 0 * a.one
        self.slow, self.slow_n, self.count = None, 4, 0
        self.stage, self.missed, self.quick = 0, 0, 0

    def raw(self, p):
        return p + self.a.width(self.u, self.slow, self.fast)

    def update(self, y, p, low, high):
        if self.slow is None:
            self.slow = self.fast = max(self.a.fine(self.a.half(y, 2)), self.a.least)
        raw = self.raw(p)
        missed = y > min(max(raw, low), high)
        if self.steps:
            self.watch(y, p)
        if (missed and raw <= high) or (not missed and raw >= low and self.u > -4 * self.a.one):
            self.take(missed)
        if self.stage == 8:
            self.defer()
        self.learn_scales(abs(y - p), p)
        self.count += 1

    def watch(self, y, p):
        if self.stage and not (2 * y > 3 * self.before if self.up else 3 * y < 2 * self.before):
            self.stage = 0
        elif self.stage:
            self.stage += 1
        if not self.stage and (2 * y > 3 * p or 3 * y < 2 * p):
            self.stage, self.up, self.before, self.missed = 1, y > p, p, 0
            self.epoch_end, self.epoch_n, self.epoch_mean = 8, 0, 0 * p

    def take(self, missed):
        a, one, quarter = self.a, self.a.one, self.a.half(self.a.one, 2)
        self.u -= a.half(self.alpha, 2)
        self.excess -= self.alpha
        if missed:
            self.excess += one
            if self.stage > 8 and self.deferred <= 5 * one:
                self.deferred += one
            else:
                self.u += quarter
                self.missed += self.stage > 0
        if self.deferred > 0:
            part = min(self.deferred, a.half(self.alpha, 4))
            self.deferred -= part
            self.u += a.half(part, 2)
        if self.integral:
            e = self.excess - self.deferred
            beyond = min(abs(e) - one, 7 * one)
            if beyond > 0:
                self.u += a.half(a.product(self.alpha, beyond if e > 0 else -beyond), 5)

    def defer(self):
        one = self.a.one
        if self.deferred > 0:
            self.stage = 0
            return
        moved = min(self.missed, 6)
        less = self.a.half(moved * one, 2)
        if self.u - less >= -4 * one:
            self.u -= less
            self.deferred += moved * one

    def learn_scales(self, error, p):
        a, error = self.a, self.a.fine(error)
        least = max(a.half(a.fine(p), 16), a.least)
        self.slow_n = min(self.slow_n + 1, 256)
        self.fast = max(self.fast + a.half(error - self.fast, 2), least)
        self.slow = max(self.slow + a.div(error - self.slow, self.slow_n), least)
        if self.stage:
            if 2 * self.stage > self.epoch_end:
                self.epoch_n += 1
                self.epoch_mean += a.div(error - self.epoch_mean, self.epoch_n)
            if self.stage == self.epoch_end:
                self.slow = self.fast = max(self.epoch_mean, least)
                self.slow_n, self.quick = self.epoch_n, 64
                self.epoch_n, self.epoch_mean, self.epoch_end = 0, 0 * error, 2 * self.epoch_end
                if self.epoch_end > 32:
                    self.stage = 0
        if self.quick:
            self.quick -= 1
            if self.slow > 3 * self.fast and self.count > 16:
                self.slow_n = max(self.slow_n // 2, 8)


BINS = 105


class Tail:
    """Computes how far the RTO is above the predicted RTT: a quantile of the amounts by which RTTs exceeded
    their predictions, corrected for the misses (RTTs above the RTO) so far."""

    def __init__(self, a, miss, count, wary, steps):
        self.a, self.counts_misses, self.wary, self.steps = a, count, wary, steps
        self.alpha = a.rate(miss)
        self.laplace, self.memory = a.start(self.alpha), a.memory(self.alpha)
        self.excess, self.deferred = 0 * a.one, 0 * a.one
        self.bins, self.top, self.total, self.wide, self.low = [0] * BINS, 0, 0, 0, False
        self.caution = a.half(5 * a.one, 2)
        self.flight, self.count, self.stage = 256, 0, 0
        self.gain = 10  # `push` for one miss more than chosen, in 1/256 octave
        self.full = 0  # octaves of `push` that count in full, the rest by a quarter; 0: see raw()

    def start(self, y):
        self.error, self.error_n = max(self.a.fine(self.a.div(y, 5)), self.a.least), 5
        self.place, self.count = y, 1

    def width(self):
        a, one = self.a, self.a.one
        width = self.laplace + a.level(self.error)
        if self.total:
            need = self.alpha * self.total
            k, above = self.top, 0
            while k and (above + self.bins[k]) * one < need:
                above += self.bins[k]
                k -= 1
            found = 0 * one
            if (above + self.bins[k]) * one >= need:
                found = a.half((k + 1) * one, 2) - a.div(need - above * one, 4 * self.bins[k])
            width += a.product(a.trust(a.div(256 * need, self.flight)), found - width)
        if self.stage >= 8 and self.early > 3 * self.error_before:
            width = max(width, self.laplace + a.level(self.early))
        return width

    def raw(self, p):
        a, most = self.a, (self.full or 3) * self.a.one
        width = self.width()
        push = a.div(self.gain * a.square(self.excess - self.deferred), self.flight)
        if (self.full or self.flight > 256) and push > most:
            push = most + a.half(push - most, 2)
        self.low = 8 * push <= -45 * a.one
        wider = (0 * a.one, a.half(self.caution, 1), self.caution)[self.wide]
        return p + a.power(width + push + wider)

    def judge(self, y, p, raw, low, high):
        a, one = self.a, self.a.one
        missed = y > min(max(raw, low), high)
        if self.counts_misses and (raw <= high if missed else raw >= low and not self.low):
            self.excess += one - self.alpha if missed else -self.alpha
            self.deferred -= min(self.deferred, a.half(self.alpha, 1))
        self.total += 1
        if y > p:
            k = min(max(a.bin(a.level(a.fine(y - p))), 0), BINS - 1)
            self.bins[k] += 1
            self.top = max(self.top, k)  # start of the search for the quantile
        if self.total >= min(self.memory * self.flight // 256, 32768):
            self.total //= 2
            left = 0
            for k in reversed(range(BINS)):
                self.bins[k], left = divmod(self.bins[k] + left, 2)
        return missed

    def learn(self, y, p, error, missed):
        a, error, before = self.a, self.a.fine(error), self.error
        least = max(a.half(a.fine(p), 16), a.least)
        if self.wide == 2:
            self.caution += a.half((31 if missed else -1) * a.one, 5)
            self.caution = min(max(self.caution, 0 * a.one), a.half(5 * a.one, 1))
        self.wide = 2 if missed and self.wary else max(self.wide - 1, 0)
        self.error_n = min(self.error_n + 1, 256)
        clipped = min(error, 4 * before) if self.count > 16 else error
        self.error = max(before + a.div(clipped - before, self.error_n), least)
        self.count += 1
        if not self.steps:
            return
        self.watch(y, error, before)
        to = min(max(y, a.half(self.place, 1)), 2 * self.place) - self.place
        self.place += a.half(to, 6) if self.count >= 64 else a.div(to, self.count)
        if self.stage == 48:
            self.renew(y, least)

    @staticmethod
    def side(y, place):
        return (2 * y > 3 * place) - (3 * y < 2 * place)

    def watch(self, y, error, before):
        side = self.side(y, self.before if self.stage else self.place)
        if self.stage and side != self.up:
            self.stage, side = 0, self.side(y, self.place)
        if not side:
            return
        if not self.stage:
            self.before, self.up, self.error_before = self.place, side, before
            self.early = self.late = 0 * error
        self.stage += 1
        if self.stage > 4:
            self.early += self.a.div(error - self.early, min(self.stage - 4, 16))
        if self.stage > 24:
            self.late += error

    def renew(self, y, least):
        error, one = max(self.a.div(self.late, 24), least), self.a.one
        self.stage, self.place = 0, y
        if 3 * error >= self.error_before and error <= 3 * self.error_before:
            return
        self.error, self.error_n = error, 24
        self.bins, self.top, self.total, self.wide = [0] * BINS, 0, 0, 0
        if self.deferred == 0 and self.up > 0 and y < 16 * self.before and self.excess > 0:
            self.deferred = min(self.excess, 3 * one)


class Conformal:
    def __init__(self, a, p):
        self.a, self.p = a, p
        over, defaults = OVER[p["over"]]
        self.over = over(a, defaults)
        self.scales = p["width"] == 1
        if self.scales:
            self.timer = Timer(a, p["miss"], p["integral"] == 0, p["steps"] == 0)
        else:
            self.timer = Tail(a, p["miss"], p["count"] == 0, p["wary"] == 0, p["steps"] == 0)
        self.high = a.us(p["rto_max_us"])
        self.low = min(a.us(p["rto_min_us"]), self.high)
        self.rtt, self.rto = 0 * self.low, min(max(a.us(p["rto_initial_us"]), self.low), self.high)
        self.now = self.sent_before = (self.rtt, self.rto)  # prediction, RTO before limits
        self.turn_us = None
        self.flight = []  # (error, whether it was a miss) of each sample since the last update of the RTO

    def update(self, s):
        y = self.a.us(rtt_of(s))
        if self.scales:
            self.timer.update(y, self.rtt if self.timer.count else y, self.low, self.high)
        elif not self.learn(s, y):
            return
        self.over.update(s)
        self.rtt = self.over.query()[0]
        raw = self.timer.raw(self.rtt)
        self.rto = min(max(raw, self.low), self.high)
        self.now, self.turn_us, self.flight = (self.rtt, raw), s.time_us, []

    def learn(self, s, y):
        """Learn from the sample `s` with RTT `y`, and return whether the RTO may change."""
        t = self.timer
        if not t.count:
            t.start(y)
            self.sent_before = (y, self.rto)
            return True
        turns = self.p["at"] == 0 or s.sent_us >= self.turn_us
        p, raw = self.now if turns else self.sent_before
        self.flight.append((abs(y - p), t.judge(y, p, raw, self.low, self.high)))
        if not turns:
            return False
        if self.p["at"]:
            n = min(t.count + 1, 8)
            t.flight = ((n - 1) * t.flight + 256 * len(self.flight)) // n
        t.learn(y, self.now[0], max(e for e, _ in self.flight), any(m for _, m in self.flight))
        self.sent_before = self.now
        return True

    def query(self):
        return self.rtt, self.rto


DEFAULTS = {
    "miss": 0.01, "over": 0, "integral": 0, "steps": 0, "width": 0, "at": 0, "count": 0, "wary": 0,
    "rto_min_us": 1000, **BOUNDS,
}  # fmt: skip
FIRST = {**DEFAULTS, "over": 3, "width": 1}
OVER = ((Tracking, tracking.DEFAULTS), (Jacobson, JACOBSON), (Last, LAST), (Tracking, tracking.FIRST))


FIRST_VARIANTS = [
    ("stairs", {}),
    ("wan hour flights stairs", {"miss": 0.05}),
    ("stairs", {"miss": 0.5, "over": 2}),
    ("wan tiny", {"miss": 0.5}),
    ("wan sawtooth falling", {"over": 2}),
    ("wan hour", {"integral": 1}),
    ("hour falling rising", {"steps": 1}),
    ("wan tiny", {"rto_min_us": 60_000}),
    ("wan extremes large", {"rto_max_us": 70_000}),
    ("wan", {"rto_min_us": 2_000_000, "rto_max_us": 50_000}),
]
CASES = {
    "conformal": (Conformal, Conformal, DEFAULTS, [
        *(v for v in FIRST_VARIANTS if "integral" not in v[1]),
        ("hour stairs", {"miss": 0.2, "over": 2}),
        ("wan sawtooth stairs", {"count": 1}),
        ("wan sawtooth stairs", {"wary": 1, "miss": 0.1}),
        ("sawtooth stairs", {"over": 3}),
        ("sawtooth stairs", {"width": 1}),
    ]),
    "conformal/at-send": (Conformal, Conformal, {**DEFAULTS, "at": 1}, [
        ("stairs", {}),
        ("flights hour", {"miss": 0.1}),
        ("flights", {"miss": 0.3, "over": 2, "rto_max_us": 80_000}),
    ]),
    "conformal/thousandth": (Conformal, Conformal, {**DEFAULTS, "miss": 0.001}, []),
    "conformal/over-jacobson": (Conformal, Conformal, {**DEFAULTS, "over": 1}, [
        ("stairs", {}),
        ("wan falling rising stairs", {"miss": 0.1}),
    ]),
    "conformal/first": (Conformal, Conformal, FIRST, FIRST_VARIANTS),
}  # fmt: skip
