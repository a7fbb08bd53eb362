# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the resend policies (TCP's wait before a retransmission) of docs/algorithms/resend."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import ClassVar

from arithmetic import clamp
from estimator_reference import Linux
from loss_numbers import Float, Whole

LIMIT = 1 << 32
FIRST, LATER, UNCLEAR = range(3)
FLOORS_MS = (1, 5, 10, 20, 50, 100)


class Floats(Float):
    def whole_us(self, a):
        return math.floor(a + 0.5)


class Wholes(Whole):
    def whole_us(self, a):
        return (a + 128) // 256


def log2(x):
    """Return Mitchell's approximation of the base-2 logarithm of `x`, in units of 1/65,536, truncated."""
    top = x.bit_length() - 1
    return top * 65536 + math.floor(Fraction(x - 2**top, 2**top) * 65536)


def since(a, b):
    return min(max(b - a, 0), LIMIT)


def wrapped(x):
    """Return `x` wrapped to a signed 64-bit integer."""
    return (x + 2**63) % 2**64 - 2**63


def handed_on(flights):
    """Return the fraction of a sum over `flights` flights that the next connection to the same host inherits:
    32 / `flights`, so that it counts as 32 flights, or 31/32 if there were at most 32 flights."""
    return (32, flights) if flights > 32 else (31, 32)


class Policy:
    """Holds the segments in flight and their timer. A subclass decides how long the timer waits."""

    defaults: ClassVar = {}

    def __init__(self, numbers, changed):
        self.n, self.p = numbers, {**self.defaults, **changed}
        p = {"variance_floor_us": self.p["rto_min_us"], "rto_initial_us": 1_000_000}
        self.rtt = Linux(numbers, {**p, "rto_max_us": self.p["rto_max_us"]})
        self.flight, self.hold, self.kept = None, 0, 0
        self.probes = self.p["probe"] == 0
        self.start()

    def rto(self):
        return self.n.whole_us(self.rtt.query()[1])

    def stock_first(self, out, rto):
        if not (self.probes and self.rtt.seen):
            return rto
        beyond = self.p["probe_min_us"] if out > 1 else self.p["rto_min_us"]
        return min(self.n.whole_us(self.rtt.srtt + self.rtt.srtt) + beyond, rto)

    def begin(self, time, segments, out):
        if self.flight is None:
            self.flight = SimpleNamespace(
                first=time, armed=time, set=time, wait=1, acked=None, rtt=0, segments=segments, resends=0
            )
            self.open(out)

    def arm(self, time, out):
        f = self.flight
        f.armed = f.set = time
        f.wait = clamp(self.first(out), 1, LIMIT)

    def left(self, time):
        f = self.flight
        return max(f.wait - since(f.set, time), 1), int(self.probes and f.resends == 0)

    def send(self, time, out):
        self.begin(time, 0, out)
        f = self.flight
        f.segments += 1
        if f.resends == 0 and (self.probes or f.segments == 1):
            self.arm(time, out)
        return self.left(time)

    def timer(self, time, out):
        self.begin(time, out, out)
        f = self.flight
        f.resends, f.set = f.resends + 1, time
        f.wait = clamp(self.next(since(f.armed, time), out), 1, LIMIT)
        return self.left(time)

    def ack(self, time, rtt, out, answers):
        f = self.flight
        if f is None:
            if rtt > 0:
                self.sample(time, clamp(rtt, 1, LIMIT))
        else:
            self.answered(f, time, clamp(rtt, 0, LIMIT), out, answers)
        if out == 0:
            return 0, 0
        self.begin(time, out, out)
        self.arm(time, out)
        return self.left(time)

    def answered(self, f, time, rtt, out, answers):
        sent = wrapped(time - rtt)
        again = f.resends > 0
        clear = not again or answers < UNCLEAR
        early = not clear and f.resends == 1 and f.segments <= 1 and since(f.set, time) < self.early()
        lost = again and answers != FIRST and not early
        if clear and rtt > 0:
            self.sample(time, rtt)
            if sent >= f.first:
                f.rtt = rtt
        later = f.acked is not None and rtt > 0 and sent > f.acked
        if again or out == 0 or later:
            episode = since(f.armed, sent if clear and rtt > 0 else f.set)
            self.end(f, clear, lost, episode, since(f.armed, time))
            self.flight = None
        elif f.acked is None:
            f.acked = time

    def sample(self, time, rtt):
        sample = SimpleNamespace(time_us=time, rtt_us=rtt, sent_us=wrapped(time - rtt))
        self.rtt.update(sample)
        self.hold = self.kept = 0

    def start(self):
        pass

    def next_connection(self):
        """Return the policy for the next connection to the same destination."""
        later = type(self)(self.n, self.p)
        later.inherit(self)
        return later

    def inherit(self, earlier):
        pass

    def open(self, out):
        pass

    def early(self):
        return 0


class Stock(Policy):
    defaults: ClassVar = {
        "rto_min_us": 200_000,
        "probe": 0,  # on
        "probe_min_us": 8000,
        "linear": 0,
        "rto_max_us": 120_000_000,
        "lone": 0,  # on
    }

    def first(self, out):
        return self.stock_first(out if self.p["lone"] == 0 else 2, max(self.rto(), self.hold))

    def next(self, waited, out):
        rto, resends = max(self.rto(), self.hold), self.flight.resends
        timeouts = max(resends - self.probes, 0)
        return min(rto * 2 ** min(max(timeouts - self.p["linear"], 0), 64), self.p["rto_max_us"])

    def end(self, f, clear, lost, episode, waited):
        if not clear and f.resends > 1:
            self.hold = f.wait


class Priced(Policy):
    defaults: ClassVar = {
        "price_us": 100_000,
        "spacing": 0,  # doubling
        "budget": 40,
        "refill": 0.2,
        "prior_misses": 0.25,
        "prior_loss": 0.004,
        "most_loss": 0.11,
        "most_loss_queued": 0.06,
        "probe": 0,
        "probe_min_us": 8000,
        "rto_min_us": 200_000,
        "rto_max_us": 120_000_000,
        "backoff_percent": 200,
    }

    def start(self):
        n, p = self.n, self.p
        prior = n.ratio(p["prior_misses"])
        self.waits = [n.us(0)] * 7
        self.misses = [n.div(n.product(prior, k), 30) for k in (6, 5, 4, 3, 2, 1)] + [n.number(0)]
        self.frozen, self.chosen = None, 6
        self.loss, self.flights = n.ratio(p["prior_loss"]), 0
        self.tokens = n.number(p["budget"])
        self.recent = min(n.div(n.product(self.lower_limit(), 7), 5), n.number(1))
        self.least = LIMIT
        self.late, self.episodes = [0] * 28, [0] * 20

    def inherit(self, earlier):
        n, (part, whole) = self.n, handed_on(earlier.flights)
        self.waits = [n.div(n.product(w, part), whole) for w in earlier.waits]
        misses = zip(earlier.misses, self.misses, strict=True)
        self.misses = [b + n.div(n.product(m - b, part), whole) for m, b in misses]
        self.loss, self.recent = earlier.loss, earlier.recent
        self.flights = earlier.flights * part // whole
        self.late = [c * part // whole for c in earlier.late]
        self.episodes = [c * part // whole for c in earlier.episodes]

    def refill(self, by):
        self.tokens = min(self.tokens + by, self.n.number(self.p["budget"]))

    def sample(self, time, rtt):
        super().sample(time, rtt)
        self.least = min(self.least, rtt)

    def early(self):
        return self.n.whole_us(self.rtt.srtt) // 2 if self.rtt.seen else 0

    def stock(self, out):
        return self.stock_first(out, max(self.rto(), self.kept))

    def open(self, out):
        n = self.n
        self.refill(n.ratio(self.p["refill"]))
        if not self.rtt.seen:
            return
        floors = [n.us(1000 * ms) for ms in FLOORS_MS]
        self.frozen = [n.whole_us(self.rtt.srtt + max(self.rtt.mdev4, f)) for f in floors] + [self.stock(out)]
        price = n.us(self.p["price_us"])
        prior, swing = n.ratio(self.p["prior_misses"]), 2 * n.whole_us(self.rtt.mdev4)
        misses = [*self.misses]
        for k, ms in enumerate(FLOORS_MS):
            if 1000 * ms < swing:
                misses[k] += n.div(n.product(prior, 4 * (6 - k)), 30)
        costs = [n.times(w, self.loss) + n.times(price, m) for w, m in zip(self.waits, misses, strict=True)]
        self.chosen = costs.index(min(costs))

    def careful(self):
        n = self.n
        queued = self.flights < 64 or n.whole_us(self.rtt.srtt) > self.least + max(self.least // 4, 1000)
        limit = self.lower_limit() if queued else n.ratio(self.p["most_loss"])
        return self.tokens < n.number(1) or self.recent > limit

    def lower_limit(self):
        return self.n.ratio(min(self.p["most_loss_queued"], self.p["most_loss"]))

    def first(self, out):
        self.q = stock = self.stock(out)
        if self.frozen and out <= 3 and not self.careful():
            self.q = min(max(self.frozen[self.chosen], self.n.whole_us(self.rtt.srtt) + 1000), stock)
        return self.q if out > 3 else max(self.q, self.hold)

    def next(self, waited, out):
        wait, probed = self.flight.wait, self.flight.resends == 1 and self.probes
        if out > 3 or self.careful():
            rto = max(self.rto(), self.kept)
            if probed and (waited < rto or wait >= rto):
                return rto
            return min(2 * max(wait, rto), self.p["rto_max_us"])
        self.tokens -= self.n.number(1)
        longer = wait if probed else wait * self.p["backoff_percent"] // 100
        spaced = longer if self.p["spacing"] == 0 else self.spaced(waited, longer)
        return min(spaced, self.p["rto_max_us"])

    def spaced(self, waited, longer):
        hazard = self.p["spacing"] == 1
        whole = max(waited, self.q)
        least = max(waited // (8 if hazard else 4), self.q)
        wait = clamp(self.hazard(waited), least, whole) if hazard else least
        lost = self.n.times(self.share(*self.longer(waited + wait)), self.loss)
        return wait if lost > self.share(*self.later(waited + wait)) else max(longer, whole)

    def share(self, part, whole):
        return self.n.div(self.n.number(part), whole)

    @staticmethod
    def late_place(us):
        """Return the index of the histogram bin in which `us` lies, and which part of the bin is below `us`,
        in 1/65,536."""
        if us < 512:
            return 0, 0
        k = (log2(us) - 9 * 65536) * 2
        return (27, 65536) if k >= 27 * 65536 else (1 + k // 65536, k % 65536)

    @staticmethod
    def episode_place(us):
        k = max(log2(max(us, 1)) - 10 * 65536, 0)
        return (19, 65536) if k >= 20 * 65536 else (k // 65536, k % 65536)

    def later(self, us):
        k, into = self.late_place(us)
        beyond = 16384 + self.late[k] * (65536 - into) + 65536 * sum(self.late[k + 1 :])
        return beyond, 32768 + 65536 * sum(self.late)

    def longer(self, us):
        k, into = self.episode_place(us)
        counts = [c + 9830 for c in self.episodes]
        return 3277 + counts[k] * (65536 - into) // 65536 + sum(counts[k + 1 :]), 3277 + sum(counts)

    def hazard(self, waited):
        k, _ = self.episode_place(waited)
        counts = [c + 9830 for c in self.episodes]
        waits = math.isqrt(min(self.q, 2**31) * min(waited, 2**31))
        return waits * math.isqrt(2**32 * sum(counts[k:]) // (5 * counts[k])) // 65536

    def end(self, f, clear, lost, episode, waited):
        n = self.n
        if f.rtt > 0:
            self.judge(f.rtt)
        self.flights = min(self.flights + 1, 450)
        self.loss += n.div(n.number(int(lost)) - self.loss, self.flights + 62)
        self.recent += n.div(n.number(int(lost)) - self.recent, 64)
        if lost:
            self.episodes = [c - c // 32 for c in self.episodes]
            self.episodes[self.episode_place(episode)[0]] += 65536
            if clear:
                self.refill(n.number(1))
        if not clear:
            if f.segments <= 3:
                most = 2 * max(self.hold, self.stock(f.segments))
                self.hold = min(waited, most, self.p["rto_max_us"])
            if f.resends > 1:
                self.kept = f.wait

    def judge(self, rtt):
        n = self.n
        for k, wait in enumerate(self.frozen or ()):
            drawn = 65536 + log2(rtt) - log2(wait) if rtt > wait else 0
            self.waits[k] += n.us(wait) - n.div(self.waits[k], 1024)
            self.misses[k] += n.div(n.number(drawn), 65536) - n.div(self.misses[k], 1024)
        self.late[self.late_place(rtt)[0]] += 1
        if sum(self.late) >= 1536:
            self.late = [c // 2 for c in self.late]


#: Name: (reference, parameters that differ from its defaults, variants). Every policy runs on every
#: series with its defaults and with each variant.
POLICIES = {
    "stock": (Stock, {}, ({"rto_min_us": 30_000, "probe_min_us": 2000}, {"rto_max_us": 700_000})),
    "floor": (Stock, {"rto_min_us": 5000}, ()),
    "linear": (Stock, {"linear": 6}, ({"linear": 2, "probe": 1},)),
    "stock/no-probe": (Stock, {"probe": 1}, ()),
    "s-rto": (Stock, {"lone": 1, "probe_min_us": 1}, ({"rto_min_us": 30_000},)),
    "priced": (
        Priced,
        {},
        (
            {"price_us": 5000, "prior_loss": 0.05, "most_loss": 1, "most_loss_queued": 1},
            {"probe": 1, "budget": 2, "refill": 0.03, "most_loss": 1, "most_loss_queued": 1},
            {"most_loss": 0, "most_loss_queued": 0},
            {"most_loss": 0.5, "most_loss_queued": 0.02},
        ),
    ),
    "priced/backoff-1.5": (
        Priced,
        {"backoff_percent": 150},
        ({"probe": 1, "most_loss": 1, "most_loss_queued": 1}, {"rto_max_us": 700_000}),
    ),
    "priced/spaced": (
        Priced,
        {"spacing": 1},
        ({"price_us": 3000}, {"budget": 3, "most_loss": 1, "most_loss_queued": 1}, {"probe": 1}),
    ),
    "priced/quarter": (
        Priced,
        {"spacing": 2},
        ({"price_us": 0, "prior_misses": 0, "most_loss": 1, "most_loss_queued": 1}, {"rto_max_us": 300_000}),
    ),
}
