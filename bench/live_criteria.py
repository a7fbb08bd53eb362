# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares figures with criteria, for bench/live_load.py."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Row:
    what: str
    figure: str
    interval: str = ""
    criterion: str = ""
    met: str = ""


def met(low: float, high: float, least: float = -math.inf, most: float = math.inf) -> str:
    """Return whether a figure with the interval from `low` to `high` is between `least` and `most`."""
    if low >= least and high <= most:
        return "yes"
    return "no" if high < least or low > most else "not decided"
