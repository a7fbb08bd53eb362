# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements one direction of an emulated hop a second time, to test native/emulate: packet by packet and
event by event, with the same streams of random numbers."""

from __future__ import annotations

import math
from collections import deque
from statistics import NormalDist
from typing import Any

import numpy as np

PURPOSES = ("loss", "bursts", "burst loss", "jitter", "tail", "reorder", "slot", "fades")
NONE, QUEUE, POLICER, RANDOM, BURST, FADE = range(6)
MASK = (1 << 64) - 1


def mixed(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Draw:
    def __init__(self, seed: int, hop: int, forward: bool, purpose: str) -> None:
        number = (hop * 2 + forward) * 64 + PURPOSES.index(purpose) + 1
        self._state = mixed((mixed(seed) + number) & MASK)

    def uniform(self) -> float:
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        return (mixed(self._state) >> 11) / 2**53

    def exponential(self, mean: float) -> float:
        return -mean * math.log1p(-self.uniform())


def rounded(value: float) -> int:
    """Return `value` rounded to the nearest integer, with halves away from zero, as C does."""
    return math.floor(value + 0.5) if value >= 0 else -math.floor(-value + 0.5)


def holds(dated: dict[str, Any], now_ns: int) -> bool:
    at_ns = now_ns % dated["every_ns"] if dated["every_ns"] else now_ns
    lasts_ns = math.inf if dated["lasts_ns"] is None else dated["lasts_ns"]
    return dated["at_ns"] <= at_ns < dated["at_ns"] + lasts_ns


def now_in(d: dict[str, Any], key: str, now_ns: int) -> Any:
    value = d[key]
    for change in d["changes"]:
        if holds(change, now_ns) and key in change:
            value = change[key]
    return value


def leaving(d: dict[str, Any], packets: list[tuple[int, int]]) -> list[int | None]:
    """Return the time at which each packet (time, bytes) leaves the queue, or None if the queue was full. The
    events are the arrival of a packet, the end of a transmission, and an opportunity of a link trace."""
    if d["rate_mbps"] is None and d["opportunities_ns"] is None:
        return [at_ns for at_ns, _ in packets]
    out: list[int | None] = [None] * len(packets)
    waiting: deque[list[int]] = deque()  # number, bytes that have not left
    free_ns, opportunity = 0, 0
    for i, (now_ns, size) in enumerate([*packets, (10**18, 0)]):
        while waiting:
            if d["rate_mbps"] is not None:
                number, left = waiting[0]
                begins_ns = max(free_ns, packets[number][0])
                ends_ns = begins_ns + rounded(left * 8e3 / now_in(d, "rate_mbps", begins_ns))
                if ends_ns > now_ns:
                    break
                waiting.popleft()
                out[number] = free_ns = ends_ns
                continue
            at_ns = time_of(d, opportunity)
            # one at the time at which a packet comes is over for those that waited, not for this one
            if at_ns > now_ns:
                break
            if at_ns < packets[waiting[0][0]][0]:
                opportunity += 1
                continue
            opportunity += 1
            budget = 1500
            while waiting and budget:
                part = min(budget, waiting[0][1])
                budget -= part
                waiting[0][1] -= part
                if waiting[0][1] == 0:
                    out[waiting.popleft()[0]] = at_ns
        if i == len(packets):
            break
        in_queue = sum(packets[number][1] for number, _ in waiting) + size
        full = in_queue > d["limit_bytes"] if d["limit_bytes"] else len(waiting) >= d["limit_packets"]
        if not full:
            waiting.append([i, size])
    return out


def time_of(d: dict[str, Any], index: int) -> int:
    times = d["opportunities_ns"]
    return int(index // len(times) * times[-1] + times[index % len(times)])


class Fades:
    def __init__(self, drawn: dict[str, Any], seed: int, hop: int) -> None:
        self._drawn, self._draw = drawn, Draw(seed, hop, True, "fades")
        self._times: list[tuple[int, int]] = []
        self._at = 0

    def holds(self, now_ns: int) -> bool:
        drawn = self._drawn
        while self._at <= now_ns:
            chance = self._draw.uniform()
            even = drawn["apart_ns"] * (0.5 + chance)
            pause = -drawn["apart_ns"] * math.log1p(-chance) if drawn["exponential"] else even
            begins = self._at + max(rounded(pause), 1)
            shortest, longest = drawn["lasts_ns"]
            lasts = shortest * (longest / shortest) ** self._draw.uniform()
            self._at = begins + max(rounded(lasts), 1)
            self._times.append((begins, self._at))
        return any(begin <= now_ns < end for begin, end in self._times)


#: Of the normal distribution, from -4 to 4 in 2,048 steps: values and their chances.
STEPS = [4 * (2 * step / 2048 - 1) for step in range(2049)]
CHANCES = [NormalDist().cdf(value) for value in STEPS]


def quantile(distribution: str, chance: float) -> float:
    if distribution == "uniform":
        return 2 * chance - 1
    if distribution == "uniform-above":
        return 2 * chance
    if distribution == "pareto":
        return min(((1 - chance) ** (-1 / 3) - 1.5) * 4 / 3, 4)
    return float(np.interp(chance, CHANCES, STEPS))


class Hop:
    """Simulates one direction of a hop. `play` returns, for each packet in order of entry, the time at which
    it arrives or is dropped, and the cause of the drop."""

    def __init__(self, d: dict[str, Any], drawn: dict[str, Any] | None, seed: int, hop: int, forward: bool):
        self.d, self.draw = d, {p: Draw(seed, hop, forward, p) for p in PURPOSES}
        self.fades = Fades(drawn, seed, hop) if drawn and drawn["forward" if forward else "reverse"] else None
        self.bad, self.last_normal = False, 0.0
        self.last_ns = self.slot_ns = self.state_ends_ns = self.filled_ns = 0
        self.tokens = float(d["policer_bytes"] or 0)
        if d["bursts"] and d["bursts"]["in_time"]:
            self.state_ends_ns = self.state_lasts("leave_good")

    def state_lasts(self, key: str) -> int:
        return max(rounded(self.draw["bursts"].exponential(self.d["bursts"][key])), 1)

    def play(self, packets: list[tuple[int, int]]) -> list[tuple[int, int]]:
        out = []
        for (at_ns, size), left_ns in zip(packets, leaving(self.d, packets), strict=True):
            if left_ns is None:
                out.append((at_ns, QUEUE))
            elif self.over_rate(left_ns, size):
                out.append((at_ns, POLICER))
            elif cause := self.cause(left_ns):
                out.append((at_ns, cause))
            else:
                out.append((self.arrives(left_ns), NONE))
        return out

    def over_rate(self, now_ns: int, size: int) -> bool:
        """Return whether the policer drops a packet of `size` bytes."""
        mbps, most = self.d["policer_mbps"], self.d["policer_bytes"]
        if mbps is None:
            return False
        self.tokens = min(self.tokens + (now_ns - self.filled_ns) * mbps / 8e3, most)
        self.filled_ns = now_ns
        if self.tokens < size:
            return True
        self.tokens -= size
        return False

    def cause(self, now_ns: int) -> int:
        loss = now_in(self.d, "loss", now_ns)
        random = loss > 0 and self.draw["loss"].uniform() < loss
        burst = bool(self.d["bursts"]) and loss <= 0 and self.in_burst(now_ns)
        dated = any(holds(fade, now_ns) for fade in self.d["fades"])
        if dated | (self.fades is not None and self.fades.holds(now_ns)):
            return FADE
        return RANDOM if random else BURST if burst else NONE

    def in_burst(self, now_ns: int) -> bool:
        b, draw = self.d["bursts"], self.draw["bursts"]
        while b["in_time"] and self.state_ends_ns <= now_ns:
            self.bad = not self.bad
            self.state_ends_ns += self.state_lasts("leave_bad" if self.bad else "leave_good")
        decides = self.bad
        if not b["in_time"] and draw.uniform() < b["leave_bad" if self.bad else "leave_good"]:
            self.bad = not self.bad
        return bool(self.draw["burst loss"].uniform() < b["loss_in_bad" if decides else "loss_in_good"])

    def arrives(self, now_ns: int) -> int:
        d, jitter_ns = self.d, now_in(self.d, "jitter_ns", now_ns)
        ns = float(now_in(d, "delay_ns", now_ns))
        if jitter_ns > 0:
            c = d["correlation"]
            chance = self.draw["jitter"].uniform()
            if c > 0:
                self.last_normal = c * self.last_normal + (1 - c * c) ** 0.5 * quantile("normal", chance)
                chance = NormalDist().cdf(self.last_normal)
            ns += jitter_ns * quantile(d["distribution"], chance)
        ns = max(ns, 0.0)
        if d["tail_ns"]:
            ns += self.draw["tail"].exponential(d["tail_ns"])
        at_ns = now_ns + rounded(ns)
        if d["reorder"] > 0 and self.draw["reorder"].uniform() < d["reorder"]:
            return at_ns + int(d["reorder_ns"])
        if not d["jitter_reorders"]:
            at_ns = max(at_ns, self.last_ns)
        if d["slot_ns"]:
            least, most = d["slot_ns"]
            if self.slot_ns < at_ns:
                begins_ns = max(now_ns, self.last_ns)
                self.slot_ns = begins_ns + least + rounded((most - least) * self.draw["slot"].uniform())
            if self.slot_ns < at_ns:
                self.slot_ns = at_ns + least + rounded((most - least) * self.draw["slot"].uniform())
            at_ns = max(at_ns, self.slot_ns)
        self.last_ns = at_ns
        return at_ns


def play(hops: list[dict[str, Any]], seed: int, packets: list[tuple[int, int]], forward: bool) -> list[Any]:
    """Return the time of arrival or drop, and the cause of the drop, of each packet (time, bytes) that
    crosses `hops` in one direction."""
    now = [(at_ns, NONE) for at_ns, _ in packets]
    order, alive = list(enumerate(hops)), list(range(len(packets)))
    for number, hop in order if forward else order[::-1]:
        side = Hop(hop["forward" if forward else "reverse"], hop.get("drawn_fades"), seed, number, forward)
        # those that come at the same time are in the order in which they entered the hop before
        alive = sorted((i for i in alive if not now[i][1]), key=lambda i: now[i][0])
        played = side.play([(now[i][0], packets[i][1]) for i in alive])
        for i, (at_ns, cause) in zip(alive, played, strict=True):
            now[i] = (at_ns, cause)
    return now
