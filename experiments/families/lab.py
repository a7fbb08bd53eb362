# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs twenty of the kept paths in the lab (a real Linux kernel), and compares them with ns-3's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.families.draw import FAMILIES
from experiments.families.logs import FIGURES, P99, SLOW, SPURIOUS, Paths
from experiments.lib.batches import Figures, LabRuns
from experiments.lib.runs import Run
from tcplearn.lab.requests import SLOWEST
from tcplearn.output.numbers import ratio

DSACK = "nstat.TcpExtTCPDSACKRecv"


def batches(folder: Path, profile: str) -> list[LabRuns]:
    files = sorted(file for file in (folder / "lab").glob("*-*.toml"))
    return [LabRuns(file, profile or "full", keep) for file in files]


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns a run's figures of its response times, and its spurious retransmissions (DSACKs)."""
    from tcplearn.lab import results

    times_ms = np.sort(np.loadtxt(folder / "requests", dtype=np.float64, ndmin=2).T[0] / 1000)
    p99, p999 = np.quantile(times_ms, (0.99, 0.999)).tolist()
    slowest = float(times_ms[-max(len(times_ms) // SLOWEST, 1) :].mean())
    metrics = dict(zip(FIGURES.values(), (p99, p999, slowest), strict=True))
    spurious = measured.get(DSACK, 0.0) / max(results.data_segments(folder), 1)
    return {**metrics, SPURIOUS: 1000 * spurious, "requests": float(len(times_ms))}, {}


def rows(simulated: Paths, measured: Paths, timers: Sequence[str]) -> Iterator[list[str]]:
    """Yields a table row for each path and timer that ran in both: ratios to stock in ns-3 and in the lab,
    with Student's intervals over the runs, and whether the intervals overlap."""
    for path in measured.names:
        for timer in timers:
            if path not in simulated.names:
                continue
            row = [path, FAMILIES[path.rpartition("-")[0]][0], f"`{timer}`"]
            for figure in (P99, SLOW):
                ns3, lab = (of.bounds(path, timer, figure) for of in (simulated, measured))
                row += ["{} ({}-{})".format(*map(ratio, of)) for of in (ns3, lab)]
                row.append("yes" if ns3[1] <= lab[2] and lab[1] <= ns3[2] else "no")
            yield row


def of(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.host == "lab"]
