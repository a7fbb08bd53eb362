# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads the numbers that nunes2014 prints for its simulations and for its experiments on a real kernel."""

from __future__ import annotations

import csv
from pathlib import Path

ERROR, RESENT = "mean_abs_error_ticks", "retransmitted_packets"
RATIO = "jacobson/experts"

#: For each scenario and algorithm, the mean and the standard deviation of each metric.
Live = dict[tuple[str, str], dict[str, tuple[float, float]]]


def _rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in file.read_text().splitlines() if not line.startswith("#")))


def simulated(folder: Path) -> list[dict[str, str]]:
    """Returns the printed numbers of the simulations; `load` is our scenario's load, or "" for all loads."""
    return _rows(folder / "published.csv")


def figures(folder: Path) -> list[dict[str, str]]:
    """Returns, for each figure of the paper's simulations, what the paper says about it."""
    return _rows(folder / "published-figures.csv")


def live(folder: Path) -> Live:
    out: Live = {}
    for row in _rows(folder / "published-live.csv"):
        of = out.setdefault((row["scenario"], row["algorithm"]), {})
        of[row["metric"]] = float(row["mean"]), float(row["sigma"])
    return out
