# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares response times in the lab (a real Linux kernel) with those in ns-3, on some paths of the set
`kept` (drawn paths that were not used for tuning)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.families.draw import FAMILIES
from experiments.families.logs import P99, SLOW, Paths, family_of, kept_metrics
from experiments.lib.batches import Figures, LabRuns
from tcplearn.output.numbers import ratio


def batches(folder: Path, profile: str) -> list[LabRuns]:
    files = sorted((folder / "lab").glob("*-*.toml"))
    return [LabRuns(file, profile or "full", keep) for file in files]


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    return kept_metrics(measured), {}


Bounds = tuple[float, float, float]  # a ratio with its interval


def overlap(one: Bounds, other: Bounds) -> bool:
    return one[1] <= other[2] and other[1] <= one[2]


def rows(simulated: Paths, measured: Paths, timers: Sequence[str]) -> Iterator[list[str]]:
    """Yields a table row for each path and each of `timers`. It has the response times relative to those
    under stock Linux's timer, in ns-3 (`simulated`) and in the lab (`measured`), with Student's intervals
    over the runs, and whether these intervals overlap."""
    for path in measured.names:
        for timer in timers:
            row = [path, FAMILIES[family_of(path)][0], f"`{timer}`"]
            for figure in (P99, SLOW):
                both = [of.bounds(path, timer, figure) for of in (simulated, measured)]
                row += ["{} ({}-{})".format(*map(ratio, of)) for of in both]
                row.append("yes" if overlap(*both) else "no")
            yield row


def agreement(simulated: Paths, measured: Paths, timers: Sequence[str]) -> tuple[str, list[str]]:
    """Returns, as text, in how many of the comparisons (of a path, a timer, and p99 or the mean of the
    slowest 2 %) the intervals of ns-3 and of the lab overlap, and the names of the paths on which some do
    not."""
    found = {
        (path, timer, figure): overlap(
            simulated.bounds(path, timer, figure), measured.bounds(path, timer, figure)
        )
        for path in measured.names
        for timer in timers
        for figure in (P99, SLOW)
    }
    apart = dict.fromkeys(path for (path, _, _), do_overlap in found.items() if not do_overlap)
    return f"{sum(found.values())} of {len(found)}", list(apart)
