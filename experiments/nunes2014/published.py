# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads what the paper prints: of its simulations published.csv, of its live experiments
published-live.csv."""

from __future__ import annotations

import csv
from pathlib import Path

ERROR, RESENT = "mean_abs_error_ticks", "retransmitted_packets"
RATIO = "jacobson/experts"

#: Mean and standard deviation by metric, of each scenario and algorithm.
Live = dict[tuple[str, str], dict[str, tuple[float, float]]]


def _rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in file.read_text().splitlines() if not line.startswith("#")))


def simulated(folder: Path) -> list[dict[str, str]]:
    """Returns the numbers of the simulations; `load` is that of our scenario, "" for every one."""
    return _rows(folder / "published.csv")


def live(folder: Path) -> Live:
    out: Live = {}
    for row in _rows(folder / "published-live.csv"):
        of = out.setdefault((row["scenario"], row["algorithm"]), {})
        of[row["metric"]] = float(row["mean"]), float(row["sigma"])
    return out
