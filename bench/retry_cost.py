# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures how much time the calls of tcplearn.RetryTimer for one request take in Python: those that report
its transmission, ask for the deadline and report its answer. For comparison it measures what packages for
hedging compute for a request: a quantile of recent latencies, and the addition of one latency.

python bench/retry_cost.py          seconds; hedge-python==0.3.0 and httpx-hedged==0.5.0 are optional

For C see the rows `retry:` of `make bench`, and for Rust `make rust-bench`."""

from __future__ import annotations

import importlib
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

import numpy as np

import tcplearn

#: The names of the packages' modules that have a class WindowedSketch(accuracy, window_s).
PEERS = {"hedge-python": "hedge.sketch", "httpx-hedged": "httpx_hedged.sketch._windowed"}
OUT = (1, 8, 64)
TIMES = 5  # how often each cost is measured; the least value counts


def timer_ns(latencies_us: list[int], out: int, **settings: Any) -> float:
    """Return the time in ns that the calls for one request take if `out` requests are unanswered at the same
    time. The requests have the latencies `latencies_us`, and the timer the settings `settings`."""
    timer = tcplearn.RetryTimer(**settings)
    sent, deadline_us, answered = timer.sent, timer.deadline_us, timer.answered
    for k in range(out - 1):
        sent(k, 0)
    now_us = 0
    begun = time.perf_counter_ns()
    for k, latency_us in enumerate(latencies_us, out - 1):
        sent(k, now_us)
        deadline_us()
        now_us += latency_us // out
        answered(k - out + 1, now_us, 0)
    return (time.perf_counter_ns() - begun) / len(latencies_us)


def sketch_ns(latencies_us: list[int], sketch: Any) -> float:
    begun = time.perf_counter_ns()
    for latency_us in latencies_us:
        sketch.quantile(0.99)
        sketch.add(latency_us / 1e6)
    return (time.perf_counter_ns() - begun) / len(latencies_us)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    given = parser.parse_args()
    dice = np.random.default_rng(1)
    latencies_us = (20_000 * np.exp(0.3 * dice.standard_normal(given.requests))).astype(int).tolist()
    print(f"{'ns a request; requests out':28}" + "".join(f"{out:>8}" for out in OUT))
    for name, settings in (("by price", {"price_us": 100_000}), ("by rate", {"rate": 0.01})):
        costs = [min(timer_ns(latencies_us, out, **settings) for _ in range(TIMES)) for out in OUT]
        print(f"{f'RetryTimer {name}':28}" + "".join(f"{cost:8.0f}" for cost in costs))
    for name, module in PEERS.items():
        try:
            found = importlib.import_module(module).WindowedSketch
        except ImportError:
            print(f"{name:28} is not installed")
            continue
        few = latencies_us[: max(given.requests // 50, 1)]
        print(f"{name:28}{min(sketch_ns(few, found(0.01, 30.0)) for _ in range(TIMES)):8.0f}")


if __name__ == "__main__":
    main()
