# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generates labelled losses without a network. Each scenario has its own share of losses by congestion, and
the features carry a little information on the cause."""

from __future__ import annotations

import numpy as np
import polars as pl

from tcplearn import losses

INFORMED = "rtt_min_to_srtt"


def table(scenarios: int = 12, rows: int = 60, seed: int = 1) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    frames = []
    for k in range(scenarios):
        congested = draw.random(rows) < draw.uniform(0.2, 0.9)
        columns = {name: draw.random(rows) for name in losses.features()}
        columns[INFORMED] = np.clip(0.85 - 0.3 * congested + draw.normal(0, 0.1, rows), 0.01, 1)
        columns["veno_packets"] = draw.exponential(4, rows) * (1 + congested)
        flow = np.arange(rows) % 2
        truth = [losses.CONGESTION if c else losses.RANDOM for c in congested]
        frames.append(pl.DataFrame({"scenario": f"s{k}", "flow": flow, "truth": truth, **columns}))
    return pl.concat(frames)
