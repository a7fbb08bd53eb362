# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement RTT estimators from papers, RFCs and docs/algorithms. The same code runs in floats and in
integers, with the classes of arithmetic.py; only Eifel has a class for each."""

import math

from arithmetic import ONE, RTT_MAX_US, clamp, over, sat62, times


class Sampler:
    """Selects the RTT samples that an estimator takes (all, or one for each round trip), and rounds them to
    clock ticks."""

    def __init__(self, p):
        self.one_per_rtt = p.get("sampling", 0) != 0
        self.counted = p.get("sampling", 0) == 2
        self.quantum_us = p.get("quantum_us", 0)
        self.next_sent_us = -math.inf

    def take(self, s):
        rtt = rtt_of(s)
        if self.one_per_rtt:
            if s.sent_us < self.next_sent_us:
                return None
            self.next_sent_us = s.time_us
        if self.quantum_us > 1 and self.counted:
            ticks = s.time_us // self.quantum_us - (s.time_us - rtt) // self.quantum_us
            rtt = (1 + ticks) * self.quantum_us
        elif self.quantum_us > 1:
            rtt = -(-rtt // self.quantum_us) * self.quantum_us
        return rtt


def rtt_of(s):
    """Return the RTT of the sample `s` in us, within the limits of a sample."""
    return clamp(s.rtt_us, 1, RTT_MAX_US)


class Estimator:
    """The base class of estimators, with the arithmetic `a` and the parameters `p`."""

    def __init__(self, a, p):
        self.a, self.p, self.seen = a, p, False

    def answer(self, rtt, wait):
        """Return the predicted RTT, `rtt`, and the RTO, which is `rtt` plus `wait` after the first sample."""
        rto = rtt + wait if self.seen else self.a.us(self.p["rto_initial_us"])
        return rtt, self.a.bounded(rto, self.p)


class Jacobson(Estimator):
    """The estimator of RFC 6298, section 2."""

    def __init__(self, a, p):
        super().__init__(a, p)
        self.sampler, self.srtt, self.rttvar = Sampler(p), a.us(0), a.us(0)
        self.alpha, self.beta, self.k = (a.ratio(p[name]) for name in ("alpha", "beta", "k"))

    def update(self, s):
        a, taken = self.a, self.sampler.take(s)
        if taken is None:
            return
        r = a.us(taken)
        if self.seen:
            self.rttvar = a.towards(self.rttvar, abs(self.srtt - r), self.beta)
            self.srtt = a.towards(self.srtt, r, self.alpha)
        else:
            self.seen, self.srtt, self.rttvar = True, r, a.half(r, 1)

    def query(self):
        a = self.a
        return self.answer(self.srtt, max(a.us(self.p["granularity_us"]), a.times(self.rttvar, self.k)))


class Last(Jacobson):
    """Predicts the last RTT. It is Jacobson's estimator with the gain 1 for the RTT."""

    def __init__(self, a, p):
        super().__init__(a, {**p, "alpha": 1})


class Linux(Estimator):
    """The RTT estimator of Linux (Sarolahti and Kuznetsov, 2002, section 4). `mdev4` and `peak4` are four
    times the mean deviation and its maximum."""

    def __init__(self, a, p):
        super().__init__(a, p)
        self.srtt = self.rttvar = a.us(0)

    def update(self, s):
        a, y = self.a, self.a.us(rtt_of(s))
        floor = a.us(self.p["variance_floor_us"])
        if not self.seen:
            self.seen, self.srtt, self.mdev4, self.round_us = True, y, 2 * y, s.time_us
            self.peak4 = self.rttvar = max(2 * y, floor)
            return
        err = y - self.srtt
        self.srtt = a.towards(self.srtt, y, a.ratio(0.125))
        step = abs(err) - a.half(self.mdev4, 2)
        self.mdev4 += a.half(step, 3) if err < 0 < step else step
        if self.mdev4 > self.peak4:
            self.peak4 = self.mdev4
            self.rttvar = max(self.rttvar, self.peak4)
        if s.sent_us >= self.round_us:
            if self.peak4 < self.rttvar:
                self.rttvar = a.towards(self.rttvar, self.peak4, a.ratio(0.25))
            self.round_us, self.peak4 = s.time_us, floor

    def query(self):
        return self.answer(self.srtt, self.rttvar)


class Rfc9002:
    """QUIC's estimator (RFC 9002, sections 5 and 6.2.1, appendix A.7)."""

    def __init__(self, a, p):
        self.a, self.p, self.min_rtt_us = a, p, None
        self.srtt = a.us(p["rtt_initial_us"])
        self.rttvar = a.half(self.srtt, 1)

    def update(self, s):
        a, latest = self.a, rtt_of(s)
        if self.min_rtt_us is None:
            self.min_rtt_us, self.srtt, self.rttvar = latest, a.us(latest), a.half(a.us(latest), 1)
            return
        self.min_rtt_us = min(self.min_rtt_us, latest)
        delay = clamp(s.ack_delay_us, 0, self.p["max_ack_delay_us"])
        adjusted = a.us(latest - delay if latest >= self.min_rtt_us + delay else latest)
        self.rttvar = a.towards(self.rttvar, abs(self.srtt - adjusted), a.ratio(0.25))
        self.srtt = a.towards(self.srtt, adjusted, a.ratio(0.125))

    def query(self):
        us, p = self.a.us, self.p
        return self.srtt, self.srtt + max(4 * self.rttvar, us(p["granularity_us"])) + us(
            p["max_ack_delay_us"]
        )


class Eifel:
    """The Eifel timer (Ludwig and Sklower, 2000), as in docs/algorithms/eifel.md, in floats."""

    def __init__(self, a, p):
        self.p, self.srtt, self.rto = p, None, float(p["rto_initial_us"])
        self.gain_max = a.ratio(p["gain_max"])

    def update(self, s):
        p, y = self.p, float(rtt_of(s))
        gain = min(p["segments_per_ack"] / clamp(s.flight_segments, 1, 2**20), self.gain_max)
        if self.srtt is None:
            self.srtt, self.rttvar = y, 2 * y * gain
        else:
            delta = y - self.srtt
            self.srtt += gain * delta
            if delta >= 0:
                falls = delta < self.rttvar
                self.rttvar += (gain**2 if falls else gain) * (delta - self.rttvar)
        rto = max(self.srtt + self.rttvar / gain, y + 2 * p["tick_us"])
        self.rto = float(min(rto, p["rto_max_us"]))

    def query(self):
        return (0.0 if self.srtt is None else self.srtt), self.rto


class EifelFixed:
    """The Eifel timer in integers."""

    def __init__(self, a, p):
        self.a, self.p, self.srtt_fine, self.fine, self.seen = a, p, 0, 0, False
        self.rto, self.gain_max = a.us(p["rto_initial_us"]), a.ratio(p["gain_max"])

    def update(self, s):
        a, p, y = self.a, self.p, self.a.us(rtt_of(s))
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
        self.rto = min(max(srtt + var, y + a.us(2 * p["tick_us"])), a.us(p["rto_max_us"]))

    def query(self):
        return over(self.srtt_fine, 1 << 16), self.rto


class Linreg(Estimator):
    """The linear regression of the RTT, in ms, with the coefficients that Baddam et al. 2018 print."""

    def __init__(self, a, p):
        super().__init__(a, p)
        self.rtt = self.error = a.us(0)
        self.b = [a.ratio(p[k]) for k in ("b0_ms", "b1_hops_ms", "b2_min", "b3_max", "b4_ttl_ms")]

    def update(self, s):
        a, p, rtt_us, first = self.a, self.p, rtt_of(s), not self.seen
        hops = s.hops or (initial_ttl(s.ttl) - s.ttl if s.ttl else p["hops"])
        self.low_us = rtt_us if first else min(self.low_us, rtt_us)
        self.high_us = rtt_us if first else max(self.high_us, rtt_us)
        self.rtt = a.combined(
            self.b, (1000, 1000 * hops, self.low_us, self.high_us, 1000 * (s.ttl or p["ttl"]))
        )
        error, begin = self.rtt - a.us(rtt_us), a.us(0)
        if p["error"] == 1:
            error = abs(error)
        if p["error"] == 2:
            error = a.us(0)
        if p["error"] == 3:  # as in the kernel of the paper's authors: 3 ms if negative; it begins at 1 s
            error, begin = a.us(3000) if error < 0 else error, a.us(1_000_000)
        self.error = begin + error if first else a.half(self.error + error, 1)
        self.seen = True

    def query(self):
        return self.answer(self.rtt, self.p["error_times"] * self.error)


def initial_ttl(ttl):
    return 64 if ttl <= 64 else 128 if ttl <= 128 else 255


BOUNDS = {"rto_initial_us": 1_000_000, "rto_max_us": 60_000_000}
LAST = {"beta": 0.25, "k": 4, "granularity_us": 1, "rto_min_us": 0, **BOUNDS}
JACOBSON = {**LAST, "alpha": 0.125, "quantum_us": 0, "sampling": 0}
LINUX = {"variance_floor_us": 200_000, "rto_initial_us": 1_000_000, "rto_max_us": 120_000_000}
RFC9002 = {"granularity_us": 1000, "max_ack_delay_us": 25_000, "rtt_initial_us": 333_000}
EIFEL = {"segments_per_ack": 1, "gain_max": "1/3", "tick_us": 1, **BOUNDS}


def linreg(b0, b1=0, b2=0, b3=0, b4=0, error=0, error_times=1):
    return {
        "b0_ms": b0, "b1_hops_ms": b1, "b2_min": b2, "b3_max": b3, "b4_ttl_ms": b4, "error": error,
        "error_times": error_times,
        "hops": 12, "ttl": 52, "rto_initial_us": 1_000_000, "rto_max_us": 120_000_000,
    }  # fmt: skip


CUBIC = (-0.52218434, 0.01509783, 0.58899585, 0.41376639, 0.00157301)
RENO = (0.12877645, -0.01079089, 0.9933091, 0.04338126, -0.00311428)
VEGAS = (-0.34314743, 0.00493765, 0.6949473, 0.3145146, 0.00192231)

CASES = {
    "last": (Last, Last, LAST, [("wan", {"beta": 0.5, "k": 8, "rto_min_us": 200_000})]),
    "jacobson": (Jacobson, Jacobson, JACOBSON, [
        ("flights wan", {"sampling": 1}),
        ("wan tiny", {"quantum_us": 10_000}),
        ("flights falling", {"sampling": 2, "quantum_us": 20_000}),
        ("falling large", {"alpha": 0.5, "beta": 0.01, "k": 2.5}),
        ("wan", {"alpha": 0, "granularity_us": 100_000, "rto_initial_us": 3_000_000}),
    ]),
    "jacobson/rfc6298": (Jacobson, Jacobson, {**JACOBSON, "rto_min_us": 1_000_000}, []),
    "jacobson/nunes2014": (
        Jacobson, Jacobson,
        {**JACOBSON, "granularity_us": 0, "rto_min_us": 1_000_000, "rto_max_us": 32_000_000},
        [("extremes rising", {"quantum_us": 500_000, "sampling": 1})],
    ),
    "linux": (Linux, Linux, LINUX, [("wan flights falling", {"variance_floor_us": 0})]),
    "linux/floor-5ms": (Linux, Linux, {**LINUX, "variance_floor_us": 5000}, []),
    "rfc9002": (Rfc9002, Rfc9002, RFC9002, [
        ("wan falling", {"max_ack_delay_us": 3000, "granularity_us": 60_000, "rtt_initial_us": 100_000}),
    ]),
    "eifel": (Eifel, EifelFixed, EIFEL, [
        ("wan flights rising", {"segments_per_ack": 2}),
        ("wan large", {"gain_max": 0.001, "tick_us": 10_000}),
        ("tiny falling", {"gain_max": 1}),
    ]),
    "linreg": (Linreg, Linreg, linreg(*CUBIC), [
        ("wan tiny", {"b1_hops_ms": 2.5, "hops": 3, "ttl": 200}),
        ("wan rising", {"error_times": 3}),
    ]),
    "linreg/magnitude": (Linreg, Linreg, linreg(*CUBIC, error=1), []),
    "linreg/no-error": (Linreg, Linreg, linreg(*CUBIC, error=2), []),
    "linreg/reno": (Linreg, Linreg, linreg(*RENO), []),
    "linreg/reno-magnitude": (Linreg, Linreg, linreg(*RENO, error=1), []),
    "linreg/reno-no-error": (Linreg, Linreg, linreg(*RENO, error=2), []),
    "linreg/vegas": (Linreg, Linreg, linreg(*VEGAS), []),
    "linreg/vegas-magnitude": (Linreg, Linreg, linreg(*VEGAS, error=1), []),
    "linreg/vegas-no-error": (Linreg, Linreg, linreg(*VEGAS, error=2), []),
    "linreg/kernel": (Linreg, Linreg, linreg(9, error=3, error_times=2), []),
    "linreg/reno-kernel": (Linreg, Linreg, linreg(93, error=3), []),
    "linreg/vegas-kernel": (Linreg, Linreg, linreg(93, error=3, error_times=2), []),
}  # fmt: skip
