# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements policies that decide when a request is sent again, for bench/retry_latency.py: tcplearn's retry
timer, a fixed wait, and the algorithms of three packages that hedge requests or set timeouts by a quantile of
recent latencies. For two of the three, the package's own code runs, with a simulated clock."""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from retry_traces import Trace

import tcplearn

_BESIDE = 32


class Doubling:
    """Decides when requests are sent again: doubles the wait of a request each time that the wait ends. A
    subclass chooses the first wait, and may limit the number of retransmissions by a budget."""

    def __init__(self) -> None:
        self.starts_us: dict[int, int] = {}
        self.waits: dict[int, int] = {}
        self.ends: list[tuple[int, int]] = []  # a heap of the times at which waits end, with the requests

    def first_us(self, request: int, now_us: int) -> float:
        raise NotImplementedError

    def may(self, now_us: int) -> bool:
        return True

    def learn(self, now_us: int, latency_us: int, response_us: int) -> None:
        """Learn from an answer that came `latency_us` after the transmission which it answers, and
        `response_us` after the first transmission."""

    def sent(self, request: int, now_us: int) -> None:
        """Learn that `request` is sent for the first time."""
        self.starts_us[request] = now_us
        self.waits[request] = max(int(self.first_us(request, now_us)), 1)
        heapq.heappush(self.ends, (now_us + self.waits[request], request))

    def deadline_us(self) -> int | None:
        """Return the time of the next call of fired(), or None if no request waits. It may change with each
        call of another function."""
        while self.ends and self.ends[0][1] not in self.waits:
            heapq.heappop(self.ends)
        return self.ends[0][0] if self.ends else None

    def fired(self, now_us: int) -> Sequence[int]:
        """Return the requests that are sent again now."""
        again = []
        while (due_us := self.deadline_us()) is not None and due_us <= now_us:
            request = self.ends[0][1]
            self.waits[request] = min(2 * self.waits[request], 120_000_000)
            heapq.heapreplace(self.ends, (now_us + self.waits[request], request))
            again += [request] if self.may(now_us) else []
        return again

    def answered(self, request: int, now_us: int, copy: int, latency_us: int) -> None:
        """Learn from the answer to transmission `copy` (0: the first) of `request`, which came `latency_us`
        after that transmission."""
        del self.waits[request]
        self.learn(now_us, latency_us, now_us - self.starts_us.pop(request))


class Ours:
    """Uses tcplearn.RetryTimer, and a fixed wait of 1 s for requests for which the timer has no room. If
    `clear` is false, the timer is not told which transmission was answered. Its functions are called as those
    of `Doubling`."""

    def __init__(self, clear: bool = True, **settings: Any) -> None:
        self.timer, self.clear = tcplearn.RetryTimer(**settings), clear
        self.beside = Fixed(1_000_000)  # for requests for which the timer has no room

    def sent(self, request: int, now_us: int) -> None:
        full = self.timer.out == tcplearn.RetryTimer.most_out
        (self.beside if full else self.timer).sent(request, now_us)

    def deadline_us(self) -> int | None:
        found = [us for us in (self.timer.deadline_us(), self.beside.deadline_us()) if us is not None]
        return min(found, default=None)

    def fired(self, now_us: int) -> Sequence[int]:
        return [*(id for id, _ in self.timer.fired(now_us)), *self.beside.fired(now_us)]

    def answered(self, request: int, now_us: int, copy: int, latency_us: int) -> None:
        if request in self.beside.waits:
            self.beside.answered(request, now_us, copy, latency_us)
        else:
            self.timer.answered(request, now_us, copy if self.clear else None)


Policy = Doubling | Ours


class Fixed(Doubling):
    """Uses the same first wait for all requests."""

    def __init__(self, wait_us: float) -> None:
        super().__init__()
        self.wait_us = wait_us

    def first_us(self, request: int, now_us: int) -> float:
        return self.wait_us


class Knowing(Doubling):
    """Knows how latencies are distributed at the time of each request, but not the latency of the request
    itself, nor when the server pauses. Its first wait is `typical_us` of the request, as `typical()` returns
    it, times `factor`."""

    def __init__(self, typical_us: Sequence[float], factor: float) -> None:
        super().__init__()
        self.typical_us, self.factor = typical_us, factor

    def first_us(self, request: int, now_us: int) -> float:
        return self.factor * self.typical_us[request]


def typical(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return a typical latency for the time of each request of `trace`, in us, and the latencies of all first
    transmissions that arrived, divided by it. If latencies were generated, the typical latency is the one
    from which they were drawn; otherwise the median of `_BESIDE` latencies before it and as many after it."""
    first = [trace.latency_us(k, 0, at_us) for k, at_us in enumerate(trace.start_us)]
    latency = np.array(first, dtype=float)
    latency[latency == 0] = np.nan
    if trace.generated:
        rows = (np.array(trace.start_us) / trace.step_us).astype(int)
        found = np.array(trace.level_us)[np.minimum(rows, len(trace.level_us) - 1)]
    else:
        beside = np.pad(latency, _BESIDE, constant_values=np.nan)
        windows = np.lib.stride_tricks.sliding_window_view(beside, 2 * _BESIDE + 1)
        found = np.nanmedian(np.delete(windows, _BESIDE, axis=1), axis=1)
    ratios = latency / found
    return found, ratios[~np.isnan(ratios)]


class Window(Doubling):
    """Implements the algorithm of the package adaptive-timeout 0.0.1-alpha.4. The timeout is `factor` times a
    quantile of the latencies of the last 60 s, and at least `least_us`. Before three samples it is 250 ms.
    The window of 60 s moves in steps of 6 s. Latencies are counted in histogram bins 1 % wide."""

    PARTS, PART_US = 10, 6_000_000

    def __init__(self, quantile: float, factor: float = 1.0, least_us: int = 1000) -> None:
        super().__init__()
        self.quantile, self.factor, self.least_us = quantile, factor, least_us
        self.parts: deque[tuple[int, Counter[int]]] = deque()
        self.sum: Counter[int] = Counter()
        self.total = 0
        self.cached: float | None = None

    def turn(self, now_us: int) -> None:
        part = now_us // self.PART_US
        while self.parts and self.parts[0][0] <= part - self.PARTS:
            _, gone = self.parts.popleft()
            self.sum -= gone
            self.total -= gone.total()
            self.cached = None
        if not self.parts or self.parts[-1][0] != part:
            self.parts.append((part, Counter()))

    def learn(self, now_us: int, latency_us: int, response_us: int) -> None:
        self.turn(now_us)
        key = int(math.log(latency_us) * 100)
        for bins in (self.parts[-1][1], self.sum):
            bins[key] += 1
        self.total += 1
        self.cached = None

    def first_us(self, request: int, now_us: int) -> float:
        self.turn(now_us)
        if self.total < 3:
            return 250_000
        if self.cached is None:
            left = self.total - max(math.ceil(self.quantile * self.total), 1)
            for key in sorted(self.sum, reverse=True):
                left -= self.sum[key]
                if left < 0:
                    break
            self.cached = math.exp((key + 0.5) / 100)
        return max(self.factor * self.cached, self.least_us)


class Clock:
    """Replaces the module `time` in a package's `modules` by the simulated clock."""

    def __init__(self, *modules: Any) -> None:
        self.now_s = 0.0
        for module in modules:
            module.time = self

    def monotonic(self) -> float:
        return self.now_s


class HedgePython(Doubling):
    """Uses the quantile sketch and the token bucket of the package hedge-python 0.3.0. The package sends a
    request at most once more; this policy continues, with each wait twice the previous one, whenever the
    bucket has a token. The bucket is given the trace's true rate of requests."""

    def __init__(self, quantile: float, rate: float) -> None:
        super().__init__()
        import hedge.budget._token_bucket as bucket
        from hedge._options import HedgeConfig
        from hedge.sketch import WindowedSketch

        self.how = HedgeConfig(percentile=quantile)
        self.clock = Clock(bucket)
        self.sketch = WindowedSketch(0.01, self.how.window_duration)
        self.bucket = bucket.TokenBucket(self.how.budget_percent, rate)
        self.turned_us = self.requests = 0

    def first_us(self, request: int, now_us: int) -> float:
        while now_us - self.turned_us >= 1e6 * self.how.window_duration:
            self.turned_us += int(1e6 * self.how.window_duration)
            self.sketch.rotate()
        return self.delay_us()

    def delay_us(self) -> float:
        self.requests += 1
        found = self.sketch.quantile(self.how.percentile) if self.requests > self.how.warmup_requests else 0.0
        delay = found if found > 0 and not math.isnan(found) else self.how.warmup_delay
        return 1e6 * max(delay, self.how.min_delay)

    def may(self, now_us: int) -> bool:
        self.clock.now_s = now_us / 1e6
        return bool(self.bucket.try_acquire())

    def learn(self, now_us: int, latency_us: int, response_us: int) -> None:
        self.clock.now_s = now_us / 1e6
        self.sketch.add(response_us / 1e6)  # the package counts from the first transmission


class HttpxHedged(HedgePython):
    """Uses the quantile sketch, the token bucket and the estimator of the request rate of the package
    httpx-hedged 0.5.0. Each wait is twice the previous one, and each retransmission needs a token."""

    def __init__(self, quantile: float, rate: float) -> None:
        Doubling.__init__(self)
        import httpx_hedged._rate as rates
        import httpx_hedged.budget._token_bucket as bucket
        import httpx_hedged.sketch._windowed as windowed
        from httpx_hedged._config import HedgeConfig

        self.how = HedgeConfig(percentile=quantile)
        self.clock = Clock(bucket, windowed, rates)
        self.sketch = windowed.WindowedSketch(0.01, self.how.window_duration)
        self.bucket = bucket.TokenBucket(self.how.budget_percent, 1.0)
        self.rate = rates.RollingRateCounter(self.how.rps_window_duration)
        self.requests = 0

    def first_us(self, request: int, now_us: int) -> float:
        self.clock.now_s = now_us / 1e6
        self.rate.increment()
        self.bucket.set_rps(self.rate.rate_per_second())
        return self.delay_us()
