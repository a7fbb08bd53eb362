# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines every metric (key, unit, meaning, heading) once for all programs that report metrics: `replay`,
`explain`, ns-3 and the lab (Linux in a virtual machine). Each module, such as `timers`, lists the metrics of
one subject."""

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
