# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads the numbers that the paper baddam2018 prints. published.csv has its linear regressions and the RTTs
of its sanity check (bursts of pings to sites); published-charts.csv has the values of its charts."""

from pathlib import Path
from typing import NamedTuple

from experiments.lib.pages import csv_rows

ORIGINAL, CHANGED = "original", "changed"


class Burst(NamedTuple):
    """The smallest, mean and largest RTT in ms of a burst of pings to one site in baddam2018's sanity
    check."""

    kernel: str
    version: str
    site: str
    least: float
    mean: float
    most: float


def charts(folder: Path) -> dict[tuple[str, str, str], dict[str, list[float]]]:
    """Returns the values of baddam2018's charts in the paper's order: for each kernel, traffic and quantity
    (download "time" in s, or number of packets "resent"), five values for each version of the kernel."""
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in csv_rows(folder / "published-charts.csv"):
        of = found.setdefault((row["kernel"], row["traffic"], row["quantity"]), {})
        of[row["version"]] = [float(row[str(number)]) for number in range(1, 6)]
    return found


def fits(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Returns the numbers of baddam2018's regressions as text, by source, kernel and quantity. The source is
    "Solution" (the paper's section that prints them) or "Logs" (the logs of its authors give them)."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for row in csv_rows(folder / "published.csv"):
        if row["of"] == "regression":
            found.setdefault(row["where"], {}).setdefault(row["kernel"], {})[row["quantity"]] = row["value"]
    return found


def bursts(folder: Path) -> list[Burst]:
    """Returns the bursts of pings in the order of the file."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in csv_rows(folder / "published.csv"):
        if row["where"] == "Sanity check":
            of = found.setdefault((row["kernel"], row["version"], row["of"]), {})
            of[row["quantity"]] = float(row["value"])
    return [
        Burst(*of, *(values[f"{name} RTT"] for name in ("min", "avg", "max"))) for of, values in found.items()
    ]
