# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the retry timer, which decides when an unanswered request is sent again
(docs/algorithms/retry.md), in integers, with the reference code of the resend policy `priced` and of the
timer `conformal`."""

from types import SimpleNamespace

from arithmetic import clamp
from conformal_numbers import Fixed
from conformal_reference import Tail
from resend_reference import Priced, Wholes, since

OK, DUE, FULL, TWICE, UNKNOWN, TIME, COPY, SETTINGS, BEGUN = 0, 1, -1, -2, -3, -4, -5, -6, -7
PLACES, LATEST, LONGEST = 64, 2**62, 2**32
DEFAULTS = {
    "rate_ppm": 0, "price_us": 100_000, "budget": 40,
    "first_wait_us": 1_000_000, "min_wait_us": 1000, "max_wait_us": 120_000_000,
}  # fmt: skip


class Retry:
    """Holds the unanswered requests by number, and statistics of the answers. If the waits of two requests
    end at the same time, the request with the lower `place` (its index in the timer's table) is first."""

    def __init__(self, **changed):
        self.how = how = {**DEFAULTS, **changed}
        self.rate = how["rate_ppm"]
        policy = {"price_us": how["price_us"], "budget": how["budget"], "rto_max_us": how["max_wait_us"]}
        if self.rate:
            policy |= {"most_loss": 1, "most_loss_queued": 1}
        self.policy = Priced(Wholes(), policy)
        self.policy.rtt.p["rto_initial_us"] = how["first_wait_us"]
        self.tail = Tail(Fixed(), self.rate / 1_000_000 or 0.01, False, False, True)
        self.tail.gain, self.tail.full = 4, 1
        self.raw = self.most = 0
        self.memory = 4096  # answers after which the longest latency has lost about two thirds
        while 0 < self.rate * self.memory < 4_000_000:
            self.memory *= 2
        self.now, self.begun = -LATEST, False
        self.heard = -LATEST  # the time of the latest transmission that has been answered
        self.resent = -LATEST  # the time of the last resend of a request not taken for lost
        self.quiet()
        self.paused = 40_000  # of requests late while nothing was answered: share not lost, in 1/65,536
        self.out = {}
        self.sums = dict.fromkeys(("requests", "answers", "resends", "needless", "unclear"), 0)

    def inherit(self, earlier):
        if self.begun:
            return BEGUN
        p, old = self.policy, earlier.policy
        p.inherit(old)
        for key in ("srtt", "seen", "mdev4", "peak4", "rttvar"):
            if hasattr(old.rtt, key):
                setattr(p.rtt, key, getattr(old.rtt, key))
        p.rtt.round_us = -LATEST
        p.least = old.least
        self.paused = earlier.paused
        if self.rate and self.rate == earlier.rate and earlier.tail.count:
            t = self.tail
            t.__dict__.update({k: v for k, v in earlier.tail.__dict__.items() if k not in ("a", "alpha")})
            t.bins = list(t.bins)
            t.excess = t.deferred = 0
            t.flight, t.wide, t.stage, t.low = 256, 0, 0, False
            while t.total > 512:
                t.total //= 2
                left = 0
                for k in reversed(range(len(t.bins))):
                    t.bins[k], left = divmod(t.bins[k] + left, 2)
            self.raw, self.most = t.raw(t.place), earlier.most
        return OK

    def bound(self, us):
        return clamp(us, self.how["min_wait_us"], self.how["max_wait_us"])

    def late(self, now):
        return not self.now <= now <= LATEST

    def cap(self):
        return max(self.most + (self.most >> 1), 256 * self.policy.stock(1))

    def first(self):
        """Return the first wait of a request, and the data that is stored with the request to judge this
        wait."""
        p = self.policy
        if not self.rate:
            p.open(1)
            return p.first(1), SimpleNamespace(frozen=p.frozen)
        p.refill(p.n.ratio(p.p["refill"]))
        self.tail.flight = (7 * self.tail.flight + 256 * len(self.out)) // 8
        chosen = self.bound(p.n.whole_us(min(self.raw, self.cap()))) if self.raw else p.stock(1)
        wait = max(chosen, p.hold)
        if p.careful():
            wait = max(wait, p.stock(1))
        level = self.tail.place if self.tail.count else None
        return wait, SimpleNamespace(level=level, raw=self.raw, raised=wait != chosen)

    def sent(self, id, now):
        if self.late(now):
            return TIME
        if id in self.out:
            return TWICE
        if len(self.out) == PLACES:
            return FULL
        self.now, self.begun = now, True
        taken = {r.place for r in self.out.values()}
        place = next(k for k in range(PLACES) if k not in taken)
        r = self.out[id] = SimpleNamespace(id=id, place=place, first=now, last=now, resends=0, late=False)
        wait, r.basis = self.first()
        r.wait = r.first_wait = self.bound(wait)
        r.due = now + r.wait
        self.sums["requests"] += 1
        return OK

    def earliest(self):
        return min(self.out.values(), key=lambda r: (r.due, r.place), default=None)

    def deadline(self):
        return self.again_at(self.earliest()) if self.out else -1

    def quiet(self):
        """Forget the resends since the last answer: how many requests were sent again, at which interval, and
        until when the others are held."""
        self.interval = self.silent_requests = 0
        self.hold = -LATEST

    def longest_hold(self):
        return self.bound(self.how["first_wait_us"])

    def again_at(self, r):
        """Return when the request `r` is sent again: at the end of its wait or, if all resends are stopped
        until the time `hold`, at that time, but at most longest_hold() after the end of its wait."""
        return max(r.due, min(self.hold, r.due + self.longest_hold()))

    def passed(self, r):
        """Return whether something that was sent more than half of SRTT after the last transmission of the
        request `r` has been answered."""
        return r.last + self.policy.early() < self.heard

    def silent(self, r, now, wait):
        """Record that the request `r` is sent again at `now`, after which it waits for `wait`. Once three
        requests have been sent again since the last answer, each resend stops all resends for an interval
        that doubles each time. This is left out if, in earlier periods without answers, late requests were
        usually lost."""
        if self.passed(r):
            return
        if now - self.resent > self.longest_hold():
            self.quiet()
        self.resent = now
        r.late = r.late or (self.silent_requests >= 3 and not r.resends)
        self.silent_requests += not r.resends
        if self.silent_requests < 3:
            return
        self.interval = min(2 * self.interval or wait, self.longest_hold())
        if self.paused > 32_768:
            self.hold = now + self.interval

    def hear(self, now, sent, early):
        """Record that a transmission at `sent` is answered at `now`. Requests that were due, but were not
        sent again because all resends had been stopped, wait for `early` more (half of SRTT before the
        answer)."""
        self.heard = max(self.heard, sent)
        held = self.hold != -LATEST
        self.quiet()
        if not held:
            return
        for r in self.out.values():
            if r.due <= now:
                r.late = r.late or not r.resends
                r.due = now + self.bound(early)

    def fired(self, now):
        """Return the result code, the identifier of the request that is due to be sent again, and how often
        it has then been sent again (1: the first resend). The code is DUE if a request is due, and OK if none
        is. It is TIME if `now` is before an earlier call. Without DUE, the other two values are 0."""
        if self.late(now):
            return TIME, 0, 0
        self.now = now
        r = self.earliest()
        if r is None or self.deadline() > now:
            return OK, 0, 0
        r.wait = self.bound(min(self.doubled(r.wait), self.policy.p["rto_max_us"]))
        self.silent(r, now, r.wait)
        r.resends += 1
        r.last = now
        r.due = now + r.wait
        self.sums["resends"] += 1
        return DUE, r.id, r.resends

    def doubled(self, wait):
        p = self.policy
        if p.careful():
            return max(2 * wait, p.rto())
        p.tokens -= p.n.number(1)
        return 2 * wait

    def answered(self, id, copy, now):
        if self.late(now):
            return TIME
        if id not in self.out:
            return UNKNOWN
        r = self.out[id]
        if copy > r.resends:
            return COPY
        self.now = now
        del self.out[id]
        p, whole = self.policy, max(since(r.first, now), 1)
        held = not r.resends and (r.late or (r.due <= now and r.due < self.hold))
        if not r.resends:
            copy = 0
        clear = copy >= 0
        early = not clear and r.resends == 1 and max(since(r.last, now), 1) < p.early()
        rtt = 0
        if copy == 0:
            rtt = whole
        elif copy == r.resends:
            rtt = max(since(r.last, now), 1)
        needless = r.resends - copy if clear else int(early)
        lost = r.resends > 0 and copy != 0 and not early
        half = p.early()  # of SRTT before this answer
        self.sums["answers"] += 1
        self.sums["needless"] += needless
        self.sums["unclear"] += not clear
        if held or (r.late and needless):
            self.paused += (65_536 - self.paused) // 8
        elif r.late and (clear or lost):
            self.paused -= self.paused // 8
        if self.rate:
            self.learn(r.basis, whole if early else rtt, needless, held)
        else:
            p.frozen = r.basis.frozen
        if rtt:
            p.sample(now, rtt)
        episode = since(r.first, now - rtt if rtt else r.last)
        flight = SimpleNamespace(rtt=0 if self.rate or held else rtt, segments=1, resends=0)
        p.end(flight, clear, lost, episode, whole)
        if self.rate and self.tail.count:
            self.raw = self.tail.raw(self.tail.place)
        self.hear(now, now - rtt if rtt else r.first, half)
        return OK

    def learn(self, basis, latency, needless, held):
        """Adapt the first wait, which is to keep the chosen rate of needless resends, to an answer after
        `latency` (us). `needless` is the number of resends after the transmission that was answered. If
        `held`, the request was not sent again at the end of its first wait."""
        if not latency:
            return
        t, y = self.tail, 256 * latency
        low = 256 * self.how["min_wait_us"]
        high = min(256 * self.how["max_wait_us"], self.cap())
        self.most = max(y, self.most - self.most // self.memory)
        if not t.count:
            t.start(y)
            return
        if basis.raw:
            if not held:
                t.judge(y, basis.level, basis.raw, low, high)
            if basis.raw <= high if needless else basis.raw >= low and not t.low and not basis.raised:
                t.excess += min(needless, 8) * t.a.one - t.alpha
                t.deferred -= min(t.deferred, t.a.half(t.alpha, 1))
        if not held:
            t.learn(y, t.place, abs(y - t.place), needless > 0)

    def cancelled(self, id):
        if id not in self.out:
            return UNKNOWN
        del self.out[id]
        if not self.out:
            self.quiet()
        return OK
