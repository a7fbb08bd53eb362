# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares loss and gain under bottleneck queues of other lengths; tambuwal2018 does not state its own."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from experiments.lib.runs import Run as KeptRun
from experiments.tambuwal2018.cells import CONFIDENCE, STANDARD, Cell, cells, difference, mean_rtts
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import mean_interval

SCENARIO = "queues"
STARTUPS = ("tsl/1-1000", "tsl/3-16")
PACKET_BYTES = 1500


def section(runs: Sequence[KeptRun]) -> str:
    """Returns a table by load and length of the queue; "" without runs."""
    by: dict[int, list[KeptRun]] = {}
    for run in runs:
        by.setdefault(run.parameters["topology"]["queue_packets"], []).append(run)
    found = {
        (cell.level, packets): {c.startup: c for c in of if c.level == cell.level}
        for packets in sorted(by)
        for of in [cells(by[packets])]
        for cell in of
    }
    rate_mbps = runs[0].parameters["topology"]["rate_mbps"] if runs else 0.0
    rows = [_row(*key, of, rate_mbps) for key, of in sorted(found.items()) if STANDARD in of]
    head = ("load", "queue, packets", "ms when full", "packets lost, %", "SYN-ACK lost, %", "mean, RTTs")
    return table_of((*head, *(f"gain of `{name}`, RTTs" for name in STARTUPS)), rows) if rows else ""


def _row(level: float, packets: int, of: dict[str, Cell], rate_mbps: float) -> list[str]:
    base = of[STANDARD]
    runs = list(base.runs.values())
    lost = [100 * run.metrics["link_loss_share"] for run in runs]
    concerned = [100 * len(run.lost) / run.metrics["connections"] for run in runs]
    gains = []
    for name in STARTUPS:
        gain = difference(base, of[name], mean_rtts) if name in of else None
        gains.append("–" if gain is None else _with(gain))
    return [
        f"{100 * level:.0f} %",
        str(packets),
        f"{packets * PACKET_BYTES * 8e-3 / rate_mbps:.0f}",
        _with(mean_interval(lost, CONFIDENCE)),
        f"{statistics.fmean(concerned):.2f}",
        _with(mean_interval([mean_rtts(run) for run in runs if run.lost], CONFIDENCE)),
        *gains,
    ]


def _with(of: tuple[float, float | None]) -> str:
    mean, half = of
    return f"{mean:.2f}" + ("" if half is None else f" ({mean - half:.2f} to {mean + half:.2f})")
