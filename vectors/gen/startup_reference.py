# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the startup policies of docs/algorithms/startup, which set the initial window and ssthresh, in
exact numbers."""

from fractions import Fraction
from typing import ClassVar

NONE = 2**31 - 1  # as ssthresh: no limit
CAP = 2**40
EIGHTHS = tuple(round(2 ** (16 - Fraction(k, 8))) for k in range(8))  # 2^16 2^(-k/8)


class Policy:
    """The base class of startup policies. It has no memory of earlier connections."""

    defaults: ClassVar = {}

    def __init__(self, changed):
        self.p = {**self.defaults, **changed}

    def handshake(self, event):
        windows = self.windows(event, event["iw"], event["ssthresh"])
        return tuple(min(max(w, 1), NONE) for w in windows)

    def report(self, event):
        pass


class Standard(Policy):
    defaults: ClassVar = {"iw": 1, "ssthresh": 2}

    def windows(self, event, iw, ssthresh):
        return (self.p["iw"], self.p["ssthresh"]) if event["loss"] else (iw, ssthresh)


class Halving(Policy):
    defaults: ClassVar = {"iw_min": 1, "ssthresh_min": 2, "rounding": 0, "repeat": 1}

    def half(self, window, times, least):
        for _ in range(min(times, 31)):
            exact = Fraction(window, 2)
            window = -(-exact // 1) if self.p["rounding"] else exact // 1
        return max(window, least)

    def windows(self, event, iw, ssthresh):
        if not event["loss"]:
            return iw, ssthresh
        times = max(event["resends"], 1) if self.p["repeat"] == 0 else 1
        iw, ssthresh = min(max(iw, 1), NONE), min(max(ssthresh, 1), NONE)
        return self.half(iw, times, self.p["iw_min"]), self.half(ssthresh, times, self.p["ssthresh_min"])


class Linux(Policy):
    defaults: ClassVar = {"iw": 10, "resends": 1}

    def windows(self, event, iw, ssthresh):
        return (1 if event["resends"] > self.p["resends"] else self.p["iw"]), ssthresh


class Feedback(Policy):
    defaults: ClassVar = {
        "iw": 3,
        "ssthresh": 16,
        "resent_limit": 200,
        "handshake_limit": 500,
        "inflation_limit": 100000,
        "resends": 5,
        "known": 100,
        "half_life_us": 30_000_000,
    }
    NAMES = ("sent", "resent", "handshakes", "lost", "rtt", "rtt_min")

    def __init__(self, changed):
        super().__init__(changed)
        self.at = 0
        self.counts = dict.fromkeys(self.NAMES, 0)  # with 8 fractional bits

    def forgotten(self, now):
        """Return the time of the latest decay not after `now`, and the sums (of packets, RTTs, handshakes)
        decayed until that time. Decays are an eighth of the half-life apart, counted from the last decay that
        was applied."""
        step = max(self.p["half_life_us"] // 8, 1)
        steps = max(now - self.at, 0) // step
        if steps == 0:
            return self.at, self.counts
        halves = min(steps // 8, 40)
        left = {k: (v * EIGHTHS[steps % 8] // 2**16) // 2**halves for k, v in self.counts.items()}
        return self.at + steps * step, left

    def add(self, **more):
        for name, value in more.items():
            self.counts[name] = min(self.counts[name] + value, CAP)

    def report(self, event):
        self.at, self.counts = self.forgotten(event["time_us"])
        self.counts = dict(self.counts)
        resent = min(event["resent"], event["sent"])
        self.add(sent=256 * event["sent"], resent=256 * resent)
        if event["rtt_us"] > 0 and event["rtt_min_us"] > 0:
            least = min(event["rtt_min_us"], 2**32)
            self.add(rtt=max(min(event["rtt_us"], 2**32), least) // 4, rtt_min=least // 4)

    def handshake(self, event):
        out = super().handshake(event)
        self.at, self.counts = self.forgotten(event["time_us"])
        self.counts = dict(self.counts)
        self.add(handshakes=256, lost=256 if event["loss"] else 0)
        return out

    def windows(self, event, iw, ssthresh):
        if not event["loss"]:
            return iw, ssthresh
        _, c = self.forgotten(event["time_us"])

        def full(part, whole, limit):
            return whole > 0 and Fraction(part, whole) >= Fraction(limit, 1000)

        congested = c["sent"] // 256 >= self.p["known"] and (
            full(c["resent"], c["sent"], self.p["resent_limit"])
            or full(c["lost"], c["handshakes"], self.p["handshake_limit"])
            or full(c["rtt"] - c["rtt_min"], c["rtt_min"], self.p["inflation_limit"])
        )
        room = event["resends"] <= self.p["resends"] and not congested
        return (self.p["iw"], self.p["ssthresh"]) if room else (1, 2)


POLICIES = {  # name: (class, parameters that differ from its defaults, variants of parameters)
    "standard": (Standard, {}, ({"iw": 2, "ssthresh": 5},)),
    "tsl": (
        Halving,
        {},
        ({"rounding": 1}, {"iw_min": 2, "ssthresh_min": 16}, {"repeat": 0}, {"repeat": 0, "rounding": 1}),
    ),
    "linux": (Linux, {}, ({"iw": 4, "resends": 0},)),
    "tsl-feedback": (
        Feedback,
        {},
        (
            {"resent_limit": 80, "handshake_limit": 150, "resends": 1, "half_life_us": 10_000_000},
            {"inflation_limit": 400, "half_life_us": 1_000_000},
            {"resent_limit": 1001, "handshake_limit": 300, "known": 0},
            {"resends": 3, "iw": 10, "ssthresh": 64, "half_life_us": 8},
        ),
    ),
    **{
        f"tsl/{iw}-{ssthresh}": (Standard, {"iw": iw, "ssthresh": ssthresh}, ())
        for iw in (1, 3)
        for ssthresh in (2, 16, 1000)
    },
}
