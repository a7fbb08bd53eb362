# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Says, for bench/live_load.py, whether measured figures meet their criteria."""

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
    """Return "yes" if the whole interval of a figure, from `low` to `high`, is between `least` and `most`,
    "no" if it is wholly outside, and otherwise "not decided"."""
    if low >= least and high <= most:
        return "yes"
    return "no" if high < least or low > most else "not decided"
