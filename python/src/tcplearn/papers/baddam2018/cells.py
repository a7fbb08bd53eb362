# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The grid's downloads by kernel, traffic, version and where the change is; of rows of the lab."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcplearn.lab import guest
from tcplearn.lab.scenario import STOCK, Scenario

STOCK_NAME = "stock"
#: Endings of an estimator's name, and what the paper would call it.
VERSIONS = {"no-error": "without error", "magnitude": "corrected", "": "as written"}
TIME, RESENT, RESENT_AT_SENDER = "duration_s", "resent_at_receiver_packets", "resent_at_sender_packets"
RESENT_BY_KERNEL, TIMEOUTS = "retransmitted_packets", "nstat.TcpExtTCPTimeouts"
RESAMPLES, SEED = 2000, 2018

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    kernel: str
    version: str
    at: str  # "" of stock
    values: Mapping[str, tuple[float, ...]]  # of each download, in the order of the runs

    def mean(self, metric: str) -> float:
        return statistics.fmean(self.values[metric])

    def spread(self, metric: str) -> float:
        of = self.values[metric]
        return statistics.stdev(of) if len(of) > 1 else 0.0


def version_of(estimator: str) -> str:
    if estimator == STOCK:
        return STOCK_NAME
    ending = next((e for e in VERSIONS if e and estimator.endswith(e)), "")
    return VERSIONS[ending]


def cells(scenario: Scenario, rows: Sequence[Row]) -> list[Cell]:
    """In the scenario's order; a counter without a row is 0."""
    of: dict[tuple[str, str], dict[str, float]] = {}
    runs: dict[str, None] = {}
    for row in rows:
        if row["value"] is not None:
            runs[row["run"]] = None
            of.setdefault((row["algorithm"], row["run"]), {})[row["metric"]] = row["value"]
    out = []
    for arm in guest.arms(scenario, 0):
        metrics = (TIME, RESENT, RESENT_AT_SENDER, RESENT_BY_KERNEL, TIMEOUTS)
        values = {m: tuple(of.get((arm.name, run), {}).get(m, 0.0) for run in runs) for m in metrics}
        version = version_of(arm.estimator)
        out.append(Cell(arm.congestion, version, "" if version == STOCK_NAME else arm.at, values))
    return out


def ratio(cell: Cell, base: Cell, metric: str) -> tuple[float, float, float]:
    """Of means, with a 95 % interval of pairs drawn again: the downloads of one run."""
    ours, theirs = np.array(cell.values[metric]), np.array(base.values[metric])
    drawn = np.random.default_rng(SEED).integers(0, len(ours), (RESAMPLES, len(ours)))
    low, high = np.quantile(ours[drawn].sum(1) / theirs[drawn].sum(1), (0.025, 0.975))
    return float(ours.sum() / theirs.sum()), float(low), float(high)
