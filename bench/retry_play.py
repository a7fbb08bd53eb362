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
NEVER_US = 1 << 62


def play(trace: Trace, policy: Policy) -> Played:
    """Return the results of sending the requests of `trace` under `policy`, which decides when each is sent
    again. All policies get the same random latencies and losses. A retransmission is spurious if an earlier
    transmission of the request is answered first."""
    n = len(trace.start_us)
    answers: list[tuple[int, int, int, int]] = []  # a heap of the time, the request, the copy, its latency
    copies = [0] * n
    done = [False] * n
    response = np.zeros(n)
    needless = resends = 0
    now = k = 0

    def transmit(request: int, copy: int) -> None:
        if latency := trace.latency_us(request, copy, now):
            heapq.heappush(answers, (now + latency, request, copy, latency))

    while True:
        start_us = trace.start_us[k] if k < n else NEVER_US
        answer_us = answers[0][0] if answers else NEVER_US
        due_us = policy.deadline_us()
        due_us = NEVER_US if due_us is None else max(due_us, now)
        now = min(start_us, answer_us, due_us)
        if now == NEVER_US:
            break
        if start_us == now:
            policy.sent(k, now)
            transmit(k, 0)
            k += 1
        elif answer_us == now:
            _, request, copy, latency = heapq.heappop(answers)
            if done[request]:
                continue
            done[request] = True
            response[request] = now - trace.start_us[request]
            if request >= WARM_UP:
                needless += copies[request] - copy
                resends += copies[request]
            policy.answered(request, now, copy, latency)
        else:
            for request in policy.fired(now):
                copies[request] += 1
                transmit(request, copies[request])
    counted = response[WARM_UP:]
    p99, p999 = np.quantile(counted, [0.99, 0.999])
    return Played(needless / len(counted), resends / len(counted), float(p99), float(p999))
