# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads the numbers that the paper nunes2014 prints for its simulations and for its experiments on a real
kernel."""

from __future__ import annotations

from pathlib import Path

from experiments.lib.pages import csv_rows

ERROR, RESENT = "mean_abs_error_ticks", "retransmitted_packets"
RATIO = "jacobson/experts"

#: For each scenario and algorithm, the mean and the standard deviation of each metric.
Live = dict[tuple[str, str], dict[str, tuple[float, float]]]


def simulated(folder: Path) -> list[dict[str, str]]:
    """Returns the numbers that nunes2014 prints for its simulations. The column `load` has the load of our
    scenario (flows or speed), or "" for all loads."""
    return csv_rows(folder / "published.csv")


def figures(folder: Path) -> list[dict[str, str]]:
    """Returns what nunes2014 says about each figure of its simulations."""
    return csv_rows(folder / "published-figures.csv")


def live(folder: Path) -> Live:
    out: Live = {}
    for row in csv_rows(folder / "published-live.csv"):
        of = out.setdefault((row["scenario"], row["algorithm"]), {})
        of[row["metric"]] = float(row["mean"]), float(row["sigma"])
    return out
