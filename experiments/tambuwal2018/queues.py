# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares packet loss and the gains of startup policies with bottleneck queues of several lengths, because
tambuwal2018 does not state the length of its queue."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from experiments.lib.runs import Run as KeptRun
from experiments.lib.statistics import Estimate, student_mean
from experiments.tambuwal2018.cells import CONFIDENCE, STANDARD, Cell, cells, mean_rtts, shared
from tcplearn.output.markdown import table_of

SCENARIO = "queues"
STARTUPS = ("tsl/1-1000", "tsl/3-16")
PACKET_BYTES = 1500


def section(runs: Sequence[KeptRun]) -> str:
    """Returns a table of packet losses and of startup policies' gains in response time, by load and length of
    the queue; "" without runs."""
    by: dict[tuple[float, int], list[KeptRun]] = {}
    for run in runs:
        at = run.parameters["load"]["level"], run.parameters["topology"]["queue_packets"]
        by.setdefault(at, []).append(run)
    found = {at: {cell.startup: cell for cell in cells(of)} for at, of in sorted(by.items())}
    rate_mbps = runs[0].parameters["topology"]["rate_mbps"] if runs else 0.0
    rows = [_row(*key, of, rate_mbps) for key, of in found.items() if STANDARD in of]
    head = ("load", "queue, packets", "delay if full, ms", "packets lost, %", "SYN-ACK lost, %", "mean, RTTs")
    return table_of((*head, *(f"gain of `{name}`, RTTs" for name in STARTUPS)), rows) if rows else ""


def _row(level: float, packets: int, of: dict[str, Cell], rate_mbps: float) -> list[str]:
    base = of[STANDARD]
    runs = list(base.runs.values())
    lost = [100 * run.metrics["link_loss_share"] for run in runs]
    concerned = [100 * len(run.lost) / run.metrics["connections"] for run in runs]
    gains = [_gain(base, of[name]) if name in of else Estimate() for name in STARTUPS]
    return [
        f"{100 * level:.0f} %",
        str(packets),
        f"{packets * PACKET_BYTES * 8e-3 / rate_mbps:.0f}",
        student_mean(lost, CONFIDENCE).shown(),
        f"{statistics.fmean(concerned):.2f}",
        student_mean([mean_rtts(run) for run in runs if run.lost], CONFIDENCE).shown(),
        *(gain.shown() for gain in gains),
    ]


def _gain(base: Cell, cell: Cell) -> Estimate:
    """Returns by how many RTTs the mean response time of connections that lost a SYN-ACK is shorter in `cell`
    than in `base`: the mean over pairs of runs with equal seeds that both have such connections."""
    seeds = [seed for seed in shared(base, cell) if base.runs[seed].lost and cell.runs[seed].lost]
    gains = [mean_rtts(base.runs[seed]) - mean_rtts(cell.runs[seed]) for seed in seeds]
    return student_mean(gains, CONFIDENCE)
