# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generates rows of hosts with random RTTs, so that the information in a destination's history is known."""

from __future__ import annotations

import numpy as np
import polars as pl

PINGS = 8
HOUR_US = 3_600_000_000


def table(hosts: int = 40, visits: int = 3, seed: int = 1) -> pl.DataFrame:
    """Return rows in which each host has a base RTT with a little jitter. Hosts start from different TTLs."""
    draw = np.random.default_rng(seed)
    base_us = np.exp(draw.normal(np.log(60_000), 0.8, hosts)).clip(2_000, 300_000)
    hops = draw.integers(2, 20, hosts)
    ttl = draw.choice([64, 128, 255], hosts) - hops
    rows = []
    for visit in range(visits):
        for k in range(hosts):
            rtts_us = (base_us[k] * (1 + draw.exponential(0.05, PINGS))).astype(int)
            started_us = 1_700_000_000_000_000 + visit * HOUR_US + k * 1_000_000
            rows.append(
                {
                    "address": f"10.{k % 5}.{k // 5}.1",
                    "hops": int(hops[k]),
                    "ttl": int(ttl[k]),
                    "rtt_min_us": int(rtts_us.min()),
                    "rtt_avg_us": round(float(rtts_us.mean())),
                    "rtt_max_us": int(rtts_us.max()),
                    "started_us": started_us,
                    "ended_us": started_us + 4_000_000,
                    "rtts_us": " ".join(map(str, rtts_us)),
                }
            )
    return pl.DataFrame(rows)
