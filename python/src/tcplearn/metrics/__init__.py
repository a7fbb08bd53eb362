# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines every metric once: its key, unit, meaning and column heading. All programs that write rows
(replay, ns-3, the lab, explain) take the names from here.

Each subject has a module with its metrics in `METRICS`. `docs/metrics.md` has all metrics in a table.
"""

from tcplearn.metrics.metric import EXPLAIN, LAB, NO_UNIT, NS3, REPLAY, Metric, unit_of, without_unit
from tcplearn.metrics.registry import BY_KEY, METRICS, known, of_replay, with_ratio

__all__ = [
    "BY_KEY",
    "EXPLAIN",
    "LAB",
    "METRICS",
    "NO_UNIT",
    "NS3",
    "REPLAY",
    "Metric",
    "known",
    "of_replay",
    "unit_of",
    "with_ratio",
    "without_unit",
]
