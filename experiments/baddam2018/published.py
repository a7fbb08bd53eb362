# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads from published.csv the RTTs that baddam2018 prints for its sanity check, bursts of pings to sites."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

ORIGINAL, CHANGED = "original", "changed"


@dataclass(frozen=True, slots=True)
class Burst:
    """The smallest, mean and largest RTT of a burst of pings to one site in the sanity check, in ms."""

    kernel: str
    version: str
    site: str
    least: float
    mean: float
    most: float


def bursts(folder: Path) -> list[Burst]:
    """Returns the bursts of pings in `folder`/published.csv, in the order of the file."""
    lines = [line for line in (folder / "published.csv").read_text().splitlines() if not line.startswith("#")]
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in csv.DictReader(lines):
        if row["where"] == "Sanity check":
            of = found.setdefault((row["kernel"], row["version"], row["of"]), {})
            of[row["quantity"]] = float(row["value"])
    names = ("min RTT", "avg RTT", "max RTT")
    return [Burst(*of, *(values[name] for name in names)) for of, values in found.items()]
