# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is measured where RTTs are counts of a slow clock's ticks, for tcplearn.metrics."""

from __future__ import annotations

#: Of a kernel log too.
OF_COUNTED_TICKS = (
    (
        "mean_abs_error_count_ticks",
        "where ticks are counted (ns-3: timing `bsd-`; the lab: by a clock of `tick_ms` beside the log's): "
        "mean of |prediction - count|, which begins at one",
    ),
    (
        "mean_abs_error_count_less_one_ticks",
        "the same against the count less one, the number of ticks that passed",
    ),
)
OF_TIME = ("mean_abs_error_time_ticks", "the same against the RTT itself, not rounded")
