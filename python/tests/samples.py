# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generates seeded samples for tests, as columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
Batch = dict[str, NDArray[Any]]


def series(seed: int, rows: int = 400, base_us: float = 50_000) -> NDArray[np.int64]:
    """Return RTTs in microseconds of a queue that fills and drains, with noise, a step and a few outliers."""
    rng = np.random.default_rng(seed)
    queue = np.abs(np.cumsum(rng.normal(0, 0.01, rows)))
    step = np.where(np.arange(rows) > rows * 0.6, 1.5, 1.0)
    outlier = np.where(rng.random(rows) < 0.01, 4.0, 1.0)
    rtt = base_us * (1 + queue) * step * outlier * rng.lognormal(0, 0.02, rows)
    return np.maximum(1, np.round(rtt)).astype(np.int64)


def batch(seed: int, rows: int = 400, flight: int = 5, flow: int = 0, overtaking: bool = False) -> Batch:
    """Return one flow whose samples overlap: each segment was sent while `flight` - 1 others were
    unacknowledged. With `overtaking`, samples arrive in another order than they were sent in, as echoed
    probes do."""
    rng = np.random.default_rng(seed)
    rtt = series(seed, rows)
    sent = np.cumsum(rng.integers(1, 2 * int(rtt.mean()) // flight, rows))
    if overtaking:
        order = np.argsort(sent + rtt, kind="stable")
        sent, rtt = sent[order], rtt[order]
        time = sent + rtt
    else:
        time = np.maximum.accumulate(sent + rtt)
        rtt = time - sent
    none = rng.random(rows) < 0.1
    armed = np.maximum(np.concatenate([[0], time[:-1]]), sent)
    return {
        "time_us": time,
        "sent_us": np.where(none, -1, sent),
        "rtt_us": np.where(none, -1, rtt),
        "armed_us": armed,
        "head_sent_us": np.minimum(np.maximum.accumulate(sent), time),
        "flow": np.full(rows, flow, np.uint32),
        "flight_segments": np.full(rows, flight, np.uint32),
        "retransmitted": (rng.random(rows) < 0.05).astype(np.uint8),
        "ttl": np.full(rows, 52, np.uint8),
    }


#: To begin a program of its own with: the most memory that it had. (Its ru_maxrss would be that of the
#: process which started it, where that was larger: the kernel carries it over into the new program.)
PEAK_MB = """
def peak_mb():
    with open("/proc/self/status") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1]) // 1024
"""
