# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulates requests, event by event, under a policy for sending them again, for bench/retry_latency.py."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from retry_policies import Policy
from retry_traces import Trace


@dataclass(frozen=True)
class Played:
    """Holds the results of a simulation: spurious and all retransmissions per request, and the 99th and
    99.9th percentile of the response times."""

    needless: float
    resends: float
    p99_us: float
    p999_us: float

    def time_us(self, key: str) -> float:
        return self.p99_us if key == "p99" else self.p999_us


#: The first requests are not counted.
WARM_UP = 200


def play(trace: Trace, policy: Policy) -> Played:
    """Return the results of sending the requests of `trace` under `policy`, which decides when each is sent
    again. All policies get the same random latencies and losses. A retransmission is spurious if an earlier
    transmission of the request is answered first."""
    n = len(trace.start_us)
    events: list[
        tuple[int, int, int, int, int]
    ] = []  # time, kind (0 answer, 1 timer), request, copy, latency
    copies = [0] * n
    done = [False] * n
    response = np.zeros(n)
    needless = resends = 0
    k = 0
    while k < n or events:
        if k < n and (not events or trace.start_us[k] <= events[0][0]):
            request, now, k = k, trace.start_us[k], k + 1
            latency = trace.latency_us(request, 0, now)
            if latency:
                heapq.heappush(events, (now + latency, 0, request, 0, latency))
            heapq.heappush(events, (policy.sent(request, now), 1, request, 0, 0))
            continue
        now, kind, request, copy, latency = heapq.heappop(events)
        if done[request]:
            continue
        if kind == 0:
            done[request] = True
            response[request] = now - trace.start_us[request]
            if request >= WARM_UP:
                needless += copies[request] - copy
                resends += copies[request]
            for other, due in policy.answered(request, now, copy, latency) or ():
                heapq.heappush(events, (max(due, now), 1, other, 0, 0))
            continue
        again, due = policy.fired(request, now)
        if again:
            copies[request] += 1
            latency = trace.latency_us(request, copies[request], now)
            if latency:
                heapq.heappush(events, (now + latency, 0, request, copies[request], latency))
        heapq.heappush(events, (max(due, now), 1, request, 0, 0))
    counted = response[WARM_UP:]
    p99, p999 = np.quantile(counted, [0.99, 0.999])
    return Played(needless / len(counted), resends / len(counted), float(p99), float(p999))
