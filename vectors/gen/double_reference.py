# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement RTT estimators in double precision, from papers, RFCs and docs/algorithms. Times are in us."""

import math

RTT_MAX_US = 2**32


def clamp(value, low, high):
    return min(max(value, low), high)


class Sampler:
    """Selects the RTT samples that an estimator takes (all, or one for each round trip), and rounds them to
    clock ticks."""

    def __init__(self, p):
        self.one_per_rtt = p.get("sampling", 0) != 0
        self.counted = p.get("sampling", 0) == 2
        self.quantum_us = p.get("quantum_us", 0)
        self.next_sent_us = -math.inf

    def take(self, s):
        rtt = clamp(s.rtt_us, 1, RTT_MAX_US)
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


class Last:
    def __init__(self, p):
        self.p, self.rtt, self.step = p, None, None

    def update(self, s):
        y = float(clamp(s.rtt_us, 1, RTT_MAX_US))
        if self.rtt is None:
            self.step = y / 2
        else:
            b = self.p["beta"]
            self.step = (1 - b) * self.step + b * abs(y - self.rtt)
        self.rtt = y

    def query(self):
        p = self.p
        if self.rtt is None:
            return 0.0, bounded(p["rto_initial_us"], p)
        return self.rtt, bounded(self.rtt + max(p["granularity_us"], p["k"] * self.step), p)


def bounded(rto, p):
    return float(min(max(rto, p.get("rto_min_us", 0), 1), p["rto_max_us"]))


class Jacobson:
    """The estimator of RFC 6298, section 2."""

    def __init__(self, p):
        self.p, self.sampler, self.srtt, self.rttvar = p, Sampler(p), None, None

    def update(self, s):
        r = self.sampler.take(s)
        if r is None:
            return
        if self.srtt is None:
            self.srtt, self.rttvar = float(r), r / 2
        else:
            a, b = self.p["alpha"], self.p["beta"]
            self.rttvar = (1 - b) * self.rttvar + b * abs(self.srtt - r)
            self.srtt = (1 - a) * self.srtt + a * r

    def query(self):
        p = self.p
        if self.srtt is None:
            return 0.0, bounded(p["rto_initial_us"], p)
        return self.srtt, bounded(self.srtt + max(p["granularity_us"], p["k"] * self.rttvar), p)


class Linux:
    """The RTT estimator of Linux (Sarolahti and Kuznetsov, 2002, section 4). The C core stores four times
    `mdev`."""

    def __init__(self, p):
        self.p, self.srtt = p, None

    def update(self, s):
        y, floor = float(clamp(s.rtt_us, 1, RTT_MAX_US)), float(self.p["variance_floor_us"])
        if self.srtt is None:
            self.srtt, self.mdev = y, y / 2
            self.peak = self.rttvar = max(4 * self.mdev, floor)
            self.round_us = s.time_us
            return
        err = y - self.srtt
        self.srtt = self.srtt * 7 / 8 + y / 8
        gain = 1 / 32 if err < 0 and abs(err) > self.mdev else 1 / 4
        self.mdev += (abs(err) - self.mdev) * gain
        if 4 * self.mdev > self.peak:
            self.peak = 4 * self.mdev
            self.rttvar = max(self.rttvar, self.peak)
        if s.sent_us >= self.round_us:
            if self.peak < self.rttvar:
                self.rttvar = self.rttvar * 3 / 4 + self.peak / 4
            self.round_us, self.peak = s.time_us, floor

    def query(self):
        if self.srtt is None:
            return 0.0, bounded(self.p["rto_initial_us"], self.p)
        return self.srtt, bounded(self.srtt + self.rttvar, self.p)


class Rfc9002:
    """QUIC's estimator (RFC 9002, sections 5 and 6.2.1, appendix A.7)."""

    def __init__(self, p):
        self.p, self.min_rtt = p, None
        self.srtt, self.rttvar = float(p["rtt_initial_us"]), p["rtt_initial_us"] / 2

    def update(self, s):
        latest = clamp(s.rtt_us, 1, RTT_MAX_US)
        if self.min_rtt is None:
            self.min_rtt, self.srtt, self.rttvar = latest, float(latest), latest / 2
            return
        self.min_rtt = min(self.min_rtt, latest)
        delay = clamp(s.ack_delay_us, 0, self.p["max_ack_delay_us"])
        adjusted = latest - delay if latest >= self.min_rtt + delay else latest
        self.rttvar = self.rttvar * 3 / 4 + abs(self.srtt - adjusted) / 4
        self.srtt = self.srtt * 7 / 8 + adjusted / 8

    def query(self):
        p = self.p
        return self.srtt, self.srtt + max(4 * self.rttvar, p["granularity_us"]) + p["max_ack_delay_us"]


class Eifel:
    """The Eifel timer (Ludwig and Sklower, 2000), as in docs/algorithms/eifel.md."""

    def __init__(self, p):
        self.p, self.srtt, self.rto = p, None, float(p["rto_initial_us"])

    def update(self, s):
        p, y = self.p, float(clamp(s.rtt_us, 1, RTT_MAX_US))
        gain = min(p["segments_per_ack"] / clamp(s.flight_segments, 1, 2**20), p["gain_max"])
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


def e_to_minus(x):
    return 0.0 if x > 708 else math.exp(-x)


class Experts:
    """The estimator of Nunes et al. 2014, Algorithm 1: a weighted mean of fixed RTTs (experts). Each expert
    has a loss at each sample."""

    UNIT_MAX_US = 2**30

    def __init__(self, p):
        self.p, self.sampler, self.n = p, Sampler(p), p["n"]
        self.unit_us = clamp(p["tick_us"] * p["scale"], 1, self.UNIT_MAX_US)
        self.x = [
            p["rtt_min"] + p["rtt_max"] * 2.0 ** ((i - self.n) / p["per_octave"])
            for i in range(1, self.n + 1)
        ]
        self.rttvar, self.last, self.seen, self.decays = 0.0, 0.0, False, {}
        self.spread()

    def spread(self):
        self.w = [1 / self.n] * self.n
        self.past = [list(self.w)]
        self.predict()

    def predict(self):
        dot = math.fsum(w * x for w, x in zip(self.w, self.x, strict=True))
        self.rtt = dot / math.fsum(self.w) * self.unit_us

    def loss(self, x, y):
        p = self.p
        if p["loss"] == 0:
            return (x - y) ** 2 if x >= y else 2 * y
        if p["loss"] == 1:
            return (x - y) ** 2
        over, under = ((p["over"], p["under"]), (1, 1), (1 - p["quantile"], p["quantile"]))[p["loss"] - 2]
        return over * (x - y) if x >= y else under * (y - x)

    def decay(self, y):
        if y not in self.decays:
            losses = [self.loss(x, y) for x in self.x]
            least = min(losses)
            self.decays[y] = [e_to_minus(self.p["eta"] * (loss - least)) for loss in losses]
        return self.decays[y]

    def shared(self, w, y):
        """Return the experts' weights `w`, divided by their sum, after the sample `y` and step 4 of the
        algorithm, by which experts share weight (docs/algorithms/experts.md)."""
        alpha, n, total = self.p["alpha"], self.n, math.fsum(w)
        if self.p["share"] == 1:
            rates = [1 - e_to_minus(alpha * self.loss(x, y)) for x in self.x]
            pool = math.fsum(r * v for r, v in zip(rates, w, strict=True))
            mixed = [((1 - r) * v + pool / n) / total for r, v in zip(rates, w, strict=True)]
            return [max(v, 2.0**-30) for v in mixed]
        if self.p["share"] == 2:
            means = [math.fsum(past) / len(past) for past in zip(*self.past, strict=True)]
            self.past.append([v / total for v in w])
            mixed = [(1 - alpha) * v + alpha * m for v, m in zip(self.past[-1], means, strict=True)]
            return [max(v, 2.0**-30) for v in mixed]
        pool = alpha * total
        return [((1 - alpha) * v + pool / n) / total for v in w]

    def trial(self, y):
        w = [w * e for w, e in zip(self.w, self.decay(y), strict=True)]
        if math.fsum(w) <= 1e-290:
            self.spread()
            return
        self.w = self.shared(w, y)
        self.predict()

    def update(self, s):
        p, rtt = self.p, self.sampler.take(s)
        if rtt is None:
            return
        y = min(rtt / self.unit_us, 2048.0)
        if p["fit"] and (not self.seen or y < self.x[0] or y > self.x[-1]):
            self.unit_us = clamp(rtt // p["fit"], 1, self.UNIT_MAX_US)
            y = min(rtt / self.unit_us, 2048.0)
            self.spread()
        if not self.seen:
            self.rttvar = rtt / 2
        else:
            b = p["beta"]
            self.rttvar = (1 - b) * self.rttvar + b * abs(
                rtt - (self.rtt if p["variance"] == 0 else self.last)
            )
        self.last, self.seen = rtt, True
        self.trial(y)

    def query(self):
        p = self.p
        rto = self.rtt + p["k"] * self.rttvar if self.seen else p["rto_initial_us"]
        return self.rtt, bounded(rto, p)


class Linreg:
    """The linear regression of the RTT, in ms, with the coefficients that Baddam et al. 2018 print."""

    def __init__(self, p):
        self.p, self.low, self.rtt, self.error = p, None, 0.0, 0.0

    def update(self, s):
        p, rtt = self.p, clamp(s.rtt_us, 1, RTT_MAX_US)
        hops = s.hops or (initial_ttl(s.ttl) - s.ttl if s.ttl else p["hops"])
        first = self.low is None
        self.low = rtt if first else min(self.low, rtt)
        self.high = rtt if first else max(self.high, rtt)
        ms = math.fsum(
            (
                p["b0_ms"],
                p["b1_hops_ms"] * hops,
                p["b2_min"] * (self.low / 1000),
                p["b3_max"] * (self.high / 1000),
                p["b4_ttl_ms"] * (s.ttl or p["ttl"]),
            )
        )
        self.rtt = ms * 1000
        error = self.rtt - rtt
        if p["error"] == 1:
            error = abs(error)
        if p["error"] == 2:
            error = 0
        if p["error"] == 3:  # as in the kernel of the paper's authors
            error = 3000 if error < 0 else error
        begin = 1_000_000 if p["error"] == 3 else 0
        self.error = begin + error if first else (self.error + error) / 2

    def query(self):
        p = self.p
        if self.low is None:
            return 0.0, float(p["rto_initial_us"])
        rto = self.rtt + p["error_times"] * self.error
        return self.rtt, float(min(max(rto, 1.0), p["rto_max_us"]))


def initial_ttl(ttl):
    return 64 if ttl <= 64 else 128 if ttl <= 128 else 255
