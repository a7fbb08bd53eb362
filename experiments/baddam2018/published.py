# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads the numbers that the paper baddam2018 prints. published.csv has its linear regressions and the RTTs
of its sanity check (bursts of pings to sites); published-charts.csv has the values of its charts."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

ORIGINAL, CHANGED = "original", "changed"


@dataclass(frozen=True, slots=True)
class Burst:
    """The smallest, mean and largest RTT of a burst of pings to one site in baddam2018's sanity check, in
    ms."""

    kernel: str
    version: str
    site: str
    least: float
    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of baddam2018 with five values for each version of the kernel. If `quantity` is "time" the
    values are times in s; if it is "resent" they are numbers of packets."""

    kernel: str
    traffic: str
    quantity: str
    values: dict[str, list[float]]


def _rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in file.read_text().splitlines() if not line.startswith("#")))


def charts(folder: Path) -> list[Chart]:
    """Returns the charts in `folder`/published-charts.csv, in the order of the file, which is that of
    baddam2018."""
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in _rows(folder / "published-charts.csv"):
        of = found.setdefault((row["kernel"], row["traffic"], row["quantity"]), {})
        of[row["version"]] = [float(row[str(number)]) for number in range(1, 6)]
    return [Chart(*of, values) for of, values in found.items()]


def fits(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Returns the numbers of baddam2018's regressions in `folder`/published.csv as text, by source, kernel
    and quantity. The source is "Solution" (the paper's section that prints them) or "Logs" (the logs of its
    authors give them)."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for row in _rows(folder / "published.csv"):
        if row["of"] == "regression":
            found.setdefault(row["where"], {}).setdefault(row["kernel"], {})[row["quantity"]] = row["value"]
    return found


def bursts(folder: Path) -> list[Burst]:
    """Returns the bursts of pings in `folder`/published.csv, in the order of the file."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in _rows(folder / "published.csv"):
        if row["where"] == "Sanity check":
            of = found.setdefault((row["kernel"], row["version"], row["of"]), {})
            of[row["quantity"]] = float(row["value"])
    names = ("min RTT", "avg RTT", "max RTT")
    return [Burst(*of, *(values[name] for name in names)) for of, values in found.items()]
