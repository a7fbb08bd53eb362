# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the RTT estimators in fixed point with unbounded integers, from docs/algorithms/arithmetic.md.
Durations are in units of 2^-8 us. Ratios have 30 fractional bits, ticks 20, experts' losses 24 and weights
30."""

import decimal
from fractions import Fraction

from double_reference import RTT_MAX_US, Sampler, clamp, initial_ttl

ONE = 1 << 30
UNIT_MAX_US = 1 << 30


def nearest(value):
    """Return the integer nearest to the Fraction `value`. Halves are rounded away from zero."""
    mag = (2 * abs(value.numerator) + value.denominator) // (2 * value.denominator)
    return mag if value >= 0 else -mag


def over(a, n):
    """Return a / n rounded to the nearest integer, with halves rounded away from zero. n is positive."""
    mag = (2 * abs(a) + n) // (2 * n)
    return mag if a >= 0 else -mag


def ratio(value):
    return nearest(Fraction(str(value)) * ONE)


def times(a, r):
    return over(a * r, ONE)


def us(value):
    return value * 256


def sat62(a):
    return max(min(a, 1 << 62), -(1 << 62))


CONTEXT = decimal.Context(prec=40)


def power(j):
    """Return 4122220954 * 2^(-j/256), correctly rounded."""
    exact = CONTEXT.multiply(4122220954, CONTEXT.power(2, -decimal.Decimal(j) / 256))
    return int(exact.to_integral_value(decimal.ROUND_HALF_EVEN, CONTEXT))


POWERS = [power(j) for j in range(256)]


def two_to_minus(x):
    """Return 2^-x. Argument and result have 30 fractional bits."""
    whole, frac = divmod(x, ONE)
    if whole > 30:
        return 0
    j, r = divmod(frac, 1 << 22)
    parabola = (1550899691 - r) ** 2 + 2399654099552362303
    return (parabola >> 31) * POWERS[j] >> (33 + whole)


def decay(loss, eta):
    """Return e^-(eta loss) with 30 fractional bits. `loss` has 24 fractional bits, `eta` has 30."""
    return two_to_minus((loss * times(eta, 1549082005) + (1 << 23)) >> 24)


def bounded(seen, centre, variance, granularity_us, p):
    rto = centre + max(variance, us(granularity_us)) if seen else us(p["rto_initial_us"])
    return min(max(rto, us(max(p.get("rto_min_us", 0), 1))), us(p["rto_max_us"]))


class Last:
    def __init__(self, p):
        self.p, self.rtt, self.step, self.seen = p, 0, 0, False

    def update(self, s):
        y = us(clamp(s.rtt_us, 1, RTT_MAX_US))
        if self.seen:
            self.step += times(abs(y - self.rtt) - self.step, ratio(self.p["beta"]))
        else:
            self.step = over(y, 2)
        self.rtt, self.seen = y, True

    def query(self):
        p = self.p
        return self.rtt, bounded(self.seen, self.rtt, times(self.step, ratio(p["k"])), p["granularity_us"], p)


class Jacobson:
    def __init__(self, p):
        self.p, self.sampler, self.srtt, self.rttvar, self.seen = p, Sampler(p), 0, 0, False
        self.alpha, self.beta, self.k = ratio(p["alpha"]), ratio(p["beta"]), ratio(p["k"])

    def update(self, s):
        rtt = self.sampler.take(s)
        if rtt is None:
            return
        r = us(rtt)
        if self.seen:
            self.rttvar += times(abs(self.srtt - r) - self.rttvar, self.beta)
            self.srtt += times(r - self.srtt, self.alpha)
        else:
            self.srtt, self.rttvar = r, over(r, 2)
        self.seen = True

    def query(self):
        p = self.p
        return self.srtt, bounded(self.seen, self.srtt, times(self.rttvar, self.k), p["granularity_us"], p)


class Linux:
    def __init__(self, p):
        self.p, self.srtt, self.seen = p, 0, False
        self.rttvar = 0

    def update(self, s):
        y, floor = us(clamp(s.rtt_us, 1, RTT_MAX_US)), us(self.p["variance_floor_us"])
        if not self.seen:
            self.seen, self.srtt, self.mdev4, self.round_us = True, y, 2 * y, s.time_us
            self.peak4 = self.rttvar = max(2 * y, floor)
            return
        err = y - self.srtt
        self.srtt += over(err, 8)
        step = abs(err) - over(self.mdev4, 4)
        if err < 0 and step > 0:
            step = over(step, 8)
        self.mdev4 += step
        if self.mdev4 > self.peak4:
            self.peak4 = self.mdev4
            self.rttvar = max(self.rttvar, self.peak4)
        if s.sent_us >= self.round_us:
            if self.peak4 < self.rttvar:
                self.rttvar -= over(self.rttvar - self.peak4, 4)
            self.round_us, self.peak4 = s.time_us, floor

    def query(self):
        return self.srtt, bounded(self.seen, self.srtt, self.rttvar, 0, self.p)


class Rfc9002:
    def __init__(self, p):
        self.p, self.low_us, self.srtt = p, None, us(p["rtt_initial_us"])
        self.rttvar = over(self.srtt, 2)

    def update(self, s):
        latest = clamp(s.rtt_us, 1, RTT_MAX_US)
        if self.low_us is None:
            self.low_us, self.srtt, self.rttvar = latest, us(latest), over(us(latest), 2)
            return
        self.low_us = min(self.low_us, latest)
        delay = clamp(s.ack_delay_us, 0, self.p["max_ack_delay_us"])
        adjusted = us(latest - delay if latest - delay >= self.low_us else latest)
        self.rttvar += over(abs(self.srtt - adjusted) - self.rttvar, 4)
        self.srtt += over(adjusted - self.srtt, 8)

    def query(self):
        p = self.p
        return self.srtt, self.srtt + max(4 * self.rttvar, us(p["granularity_us"])) + us(
            p["max_ack_delay_us"]
        )


class Eifel:
    def __init__(self, p):
        self.p, self.srtt_fine, self.fine, self.seen, self.rto = p, 0, 0, False, us(p["rto_initial_us"])
        self.gain_max = ratio(p["gain_max"])

    def update(self, s):
        p, y = self.p, us(clamp(s.rtt_us, 1, RTT_MAX_US))
        flight, per_ack = clamp(s.flight_segments, 1, 1 << 20), p["segments_per_ack"]
        gain = over(per_ack * ONE, flight)
        capped = gain > self.gain_max
        if capped:
            gain = self.gain_max
        if not self.seen:
            self.seen, self.srtt_fine, self.fine = True, y << 16, times(2 * y << 16, gain)
        else:
            delta = (y << 16) - self.srtt_fine
            self.srtt_fine += times(delta, gain)
            if delta >= 0:
                step = delta - self.fine
                self.fine += times(times(step, gain) if step < 0 else step, gain)
        if capped:
            var = over(over(over(self.fine, 1 << 6) * ONE, gain), 1 << 10)
        else:
            var = over(over(sat62(self.fine * flight), per_ack), 1 << 16)
        srtt = over(self.srtt_fine, 1 << 16)
        self.rto = min(max(srtt + var, y + us(2 * p["tick_us"])), us(p["rto_max_us"]))

    def query(self):
        return over(self.srtt_fine, 1 << 16), self.rto


class Experts:
    def __init__(self, p):
        self.p, self.sampler, self.n, self.decays = p, Sampler(p), p["n"], {}
        self.r = {
            k: ratio(p[k])
            for k in ("eta", "alpha", "over", "under", "quantile", "rtt_min", "rtt_max", "beta", "k")
        }
        tau = self.r["quantile"]
        self.sides = ((self.r["over"], self.r["under"]), (ONE, ONE), (ONE - tau, tau))[max(p["loss"] - 2, 0)]
        self.unit_us = clamp(p["tick_us"] * p["scale"], 1, UNIT_MAX_US)
        self.x = [
            over(
                self.r["rtt_min"] + times(self.r["rtt_max"], two_to_minus(j * ONE // p["per_octave"])),
                1 << 10,
            )
            for j in range(self.n - 1, -1, -1)
        ]
        self.rttvar, self.last, self.seen = 0, 0, False
        self.spread()

    def spread(self):
        self.w = [over(ONE, self.n)] * self.n
        self.past, self.trials = list(self.w), 1
        self.rtt = self.to_duration(over(sum(self.x), self.n))

    def to_duration(self, ticks):
        return over(ticks * self.unit_us, 1 << 12)

    def ticks(self, rtt_us):
        return min(over(rtt_us << 20, self.unit_us), 2048 << 20)

    def loss(self, x, y):
        """Return the loss of expert `x` for the sample `y`, with 24 fractional bits; x and y have 20."""
        over_it, kind = x >= y, self.p["loss"]
        if kind >= 2:
            return times(abs(x - y) << 4, self.sides[0 if over_it else 1])
        if kind == 0 and not over_it:
            return 2 * y << 4
        return over((x - y) ** 2, 1 << 16)

    def decay(self, y):
        if y not in self.decays:
            losses = [self.loss(x, y) for x in self.x]
            least = min(losses)
            self.decays[y] = [decay(loss - least, self.r["eta"]) for loss in losses]
        return self.decays[y]

    def trial(self, y):
        w = [over(w * e, ONE) for w, e in zip(self.w, self.decay(y), strict=True)]
        if sum(w) == 0:
            self.spread()
            return
        self.w = (self.share_fixed, self.share_variable, self.share_past)[self.p["share"]](w, y)
        dot = sum(v * x for v, x in zip(self.w, self.x, strict=True))
        self.rtt = self.to_duration(over(dot, sum(self.w)))

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

    def update(self, s):
        p, rtt_us = self.p, self.sampler.take(s)
        if rtt_us is None:
            return
        y, r = self.ticks(rtt_us), us(rtt_us)
        if p["fit"] and (not self.seen or y < self.x[0] or y > self.x[-1]):
            self.unit_us = clamp(rtt_us // p["fit"], 1, UNIT_MAX_US)
            y = self.ticks(rtt_us)
            self.spread()
        if self.seen:
            before = self.rtt if p["variance"] == 0 else self.last
            self.rttvar += times(abs(r - before) - self.rttvar, self.r["beta"])
        else:
            self.rttvar = over(r, 2)
        self.last, self.seen = r, True
        self.trial(y)

    def query(self):
        return self.rtt, bounded(self.seen, self.rtt, times(self.rttvar, self.r["k"]), 0, self.p)


class Linreg:
    def __init__(self, p):
        self.p, self.low_us, self.rtt, self.error = p, None, 0, 0
        self.b = [ratio(p[k]) for k in ("b0_ms", "b1_hops_ms", "b2_min", "b3_max", "b4_ttl_ms")]

    def update(self, s):
        p, rtt_us, first = self.p, clamp(s.rtt_us, 1, RTT_MAX_US), self.low_us is None
        hops = s.hops or (initial_ttl(s.ttl) - s.ttl if s.ttl else p["hops"])
        self.low_us = rtt_us if first else min(self.low_us, rtt_us)
        self.high_us = rtt_us if first else max(self.high_us, rtt_us)
        ms, ttl = us(1000), s.ttl or p["ttl"]
        inputs = (ms, ms * hops, us(self.low_us), us(self.high_us), ms * ttl)
        self.rtt = sum(times(value, b) for value, b in zip(inputs, self.b, strict=True))
        error = self.rtt - us(rtt_us)
        if p["error"] == 1:
            error = abs(error)
        if p["error"] == 2:
            error = 0
        if p["error"] == 3:  # as in the authors' kernel: 3 ms if negative; the deviation begins at 1 s
            error = (error if error >= 0 else us(3000)) + (us(1_000_000) if first else 0)
        self.error = error if first else over(self.error + error, 2)

    def query(self):
        p = self.p
        if self.low_us is None:
            return 0, us(p["rto_initial_us"])
        rto = self.rtt + p["error_times"] * self.error
        return self.rtt, min(max(rto, us(1)), us(p["rto_max_us"]))
