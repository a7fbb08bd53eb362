# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Figures of a transfer in bursts (`[transfer.repeat]`), from what the guest's program printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

#: Metric, the program's figure, and what the figure is divided by.
_FIGURES = (
    ("burst_mean_ms", "burst_mean_us", 1000),
    ("burst_max_ms", "burst_max_us", 1000),
    ("burst_after_pause_ms", "burst_after_pause_us", 1000),
    ("cwnd_after_pause_segments", "cwnd_after_pause_segments", 1),
)


def figures(info: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Metric and value; none of a transfer that was one stream."""
    for metric, name, divisor in _FIGURES:
        if name in info:
            yield metric, info[name] / divisor
