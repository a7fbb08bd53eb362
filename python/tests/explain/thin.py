# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulates a connection of small requests over a path with losses. Its timer is any resend policy of the
core."""

from __future__ import annotations

import re

import numpy as np
from talk import Talk

from tcplearn import algorithms
from tcplearn.explain.candidates import ALL

FIRST, LATER, UNCLEAR = 0, 1, 2
RTT_US = 32_000


def slowest(times: list[float]) -> float:
    """Return the mean of the slowest 2 % of `times`."""
    return float(np.mean(np.sort(times)[-len(times) // 50 :]))


class Longest:
    """Runs several resend policies, whose longest wait counts, in the notation of `explain`'s candidates:
    "priced + stock:rto_min_us={2 ticks}". {N} stands for N us rounded up to ticks."""

    def __init__(self, spec: str, tick_us: int = 4000) -> None:
        def rounded(found: re.Match[str]) -> str:
            number = int(found[1])
            return str(tick_us * (number if found[2] else -(-number // tick_us)))

        self._all = [
            algorithms.resend_policy(re.sub(r"{(\d+)( ticks)?}", rounded, one)) for one in spec.split(" + ")
        ]

    def send(self, *event: int) -> tuple[int, int]:
        return max(one.send(*event) for one in self._all)

    def timer(self, *event: int) -> tuple[int, int]:
        return max(one.timer(*event) for one in self._all)

    def ack(self, *event: int) -> tuple[int, int]:
        return max(one.ack(*event) for one in self._all)

    def next(self) -> None:
        for one in self._all:
            one.next()


def spec_of(name: str) -> str:
    """Return how `explain` models the candidate setting called `name`."""
    return next(one.spec for one in ALL if one.name == name)


def traffic(
    talk: Talk,
    seed: int,
    requests: int,
    loss: float,
    spec: str = "stock",
    jitter: float = 0.03,
    rtt_us: int = RTT_US,
    tick_us: int = 0,
    *,
    begin_us: int = 0,
    idle_us: int = 0,
    fade_us: tuple[int, int] = (1, 0),
    earlier: Longest | None = None,
) -> list[float]:
    """Add the packets of the requests to `talk` and return their response times in ms. `tick_us` is the tick
    of the sender's timers, or 0 for exact timers, whose settings are in ticks of 4 ms. The connection begins
    at `begin_us` and is idle for `idle_us` before its first request. `fade_us` is the period of fades and how
    long each lasts: everything that is sent in a fade is lost. `earlier` is the timer after an earlier
    connection to the same host, and used instead of `spec`: the connection begins with what it has
    learned."""
    rng = np.random.default_rng(seed)
    policy = earlier or Longest(spec, tick_us or 4000)
    if earlier:
        policy.next()
    now = talk.open(begin_us)
    policy.ack(now, talk.rtt_us, 0, FIRST)  # Linux begins with the round trip of the handshake
    now += idle_us
    times = []

    def ends(begin: int, wait: int) -> int:
        """Return when a timer of `wait` us that is set at `begin` ends, as in Linux's timer wheel
        (calc_wheel_index in kernel/time/timer.c)."""
        if not tick_us:
            return begin + wait
        ticks = -(-wait // tick_us)
        level = next(n for n in range(9) if ticks < 63 * 8**n)
        expires = begin // tick_us + ticks
        return ((expires >> 3 * level) + 1 << 3 * level) * tick_us

    for k in range(requests):
        start, asked, answered = now, 1 + 200 * k, 1 + k
        wait, _ = policy.send(start, 1)
        at, done, rtt, which, extra, sent = start, None, 0, 0, [], 0
        while True:
            took = int(rtt_us * rng.lognormal(0, jitter))
            gone = rng.random() < loss or at % fade_us[0] < fade_us[1]
            talk.client(at, asked, 200, answered, lost=0.9 if gone else None)
            if not gone and done is None:
                done, rtt, which = at + took, took, sent
            elif not gone:
                extra.append(at + took)
            if done is not None and done <= ends(at, wait):
                break
            at, sent = ends(at, wait), sent + 1
            wait, _ = policy.timer(at, 1)
        talk.answer(done - talk.rtt_us // 2, answered, 1, asked + 200)
        for late in extra:
            arrives = max(late, done) - talk.rtt_us // 2
            talk.answer(arrives, answered + 1, 0, asked + 200, blocks=((asked, asked + 200),))
        unclear = sent > 0 and not talk.stamped
        policy.ack(done, rtt, 0, UNCLEAR if unclear else FIRST if which == 0 else LATER)
        times.append((done - start) / 1e3)
        now = done + int(rng.uniform(50_000, 150_000))
    talk.close(now, 1 + 200 * requests, 1 + requests)
    return times
