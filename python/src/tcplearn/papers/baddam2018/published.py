# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What baddam2018 prints: papers/baddam2018/published.csv."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from tcplearn.errors import UserError, printable

FILE = "published.csv"
KERNELS = ("reno", "vegas", "cubic")
ORIGINAL, CHANGED = "original", "changed"


@dataclass(frozen=True, slots=True)
class Burst:
    """A site's pings in the sanity check, ms."""

    kernel: str
    version: str
    site: str
    least: float
    mean: float
    most: float


def bursts(folder: Path) -> list[Burst]:
    """In the file's order. Raises UserError."""
    path = folder / FILE
    try:
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    except OSError as error:
        raise UserError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in csv.DictReader(lines):
        if row["where"] == "Sanity check":
            of = found.setdefault((row["kernel"], row["version"], row["of"]), {})
            of[row["quantity"]] = float(row["value"])
    return [
        Burst(*of, *(values[f"{name} RTT"] for name in ("min", "avg", "max"))) for of, values in found.items()
    ]
