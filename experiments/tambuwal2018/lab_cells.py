# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Groups web pages fetched in the lab by startup policy (IW and ssthresh after a lost SYN-ACK) and size;
computes times relative to those under unchanged Linux (`stock`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.batches import Figures
from experiments.lib.runs import Floats, Run
from experiments.lib.statistics import interval, means_drawn
from tcplearn.lab import pages
from tcplearn.lab.pages import Began, Page
from tcplearn.lab.scenario import STOCK

#: A value, and the lower and upper end of its interval.
Interval = tuple[float, float, float]

RESAMPLES, SEED = 2000, 2018


#: The fields of a web page that are stored; `BEGAN` is its connection's state at the start (-1: unknown).
FIELDS = ("size_bytes", "port", "is_lost", "handshake_us", "first_byte_us", "total_us")
BEGAN = ("iw", "ssthresh", "resends", "retransmitted")


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of a run: a series for each field of `Page`, with a value for each web page that
    was fetched."""
    found = pages.read(folder)
    series = {name: np.array([getattr(page, name) for page in found], float) for name in FIELDS}
    return {"pages": float(len(found))}, series | {
        name: np.array([getattr(page.began, name) if page.began else -1 for page in found], float)
        for name in BEGAN
    }


def _fetched(run: Run) -> list[Page]:
    columns = {name: run.series[name].astype(int).tolist() for name in (*FIELDS, *BEGAN)}
    out = []
    for row in (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)):
        began = Began(*(row[name] for name in BEGAN)) if row["iw"] >= 0 else None
        fields = {name: row[name] for name in FIELDS}
        out.append(Page(**{**fields, "is_lost": bool(row["is_lost"])}, began=began))
    return out


@dataclass(frozen=True)
class Part:
    """The web pages fetched in all runs of a scenario, by startup policy (IW and ssthresh after a lost
    SYN-ACK)."""

    name: str
    title: str
    fetched: Mapping[str, Sequence[Page]]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Part:
        fetched: dict[str, list[Page]] = {}
        for run in sorted(runs, key=lambda run: run.run):
            startup = run.algorithm.split("+")[2:] or [STOCK]
            fetched.setdefault(startup[0], []).extend(_fetched(run))
        return cls(runs[0].scenario, runs[0].parameters["title"], fetched)

    @property
    def sizes(self) -> list[int]:
        return list(dict.fromkeys(page.size_bytes for of in self.fetched.values() for page in of))

    def cell(self, startup: str, size: int) -> list[Page]:
        return [page for page in self.fetched[startup] if page.size_bytes == size]


def whole_ms(page: Page) -> float:
    return page.total_us / 1000


def after_handshake_ms(page: Page) -> float:
    return page.after_handshake_us / 1000


def _resampled(cell: Sequence[Page], value: Callable[[Page], float]) -> tuple[Floats, float]:
    """Returns the means of `value` over bootstrap samples of the web pages `cell`, and its mean over `cell`
    itself. The samples of two lists of equal length consist of the same indices."""
    values = np.array([value(page) for page in cell])
    return means_drawn(values, SEED, RESAMPLES), float(values.mean())


def _interval(drawn: Floats, value: float) -> Interval:
    return value, *interval(drawn)


def mean(cell: Sequence[Page], value: Callable[[Page], float]) -> Interval:
    return _interval(*_resampled(cell, value))


def ratio(cell: Sequence[Page], base: Sequence[Page], value: Callable[[Page], float]) -> Interval:
    """Returns the mean of `value` over the web pages `cell` divided by that over `base`, with its
    interval. The bootstrap draws pairs of pages, because under every policy the same pages lose packets."""
    ours, mean_ours = _resampled(cell, value)
    theirs, mean_theirs = _resampled(base, value)
    return _interval(ours / theirs, mean_ours / mean_theirs)


def quantile(cell: Sequence[Page], value: Callable[[Page], float], p: float) -> float:
    return float(np.quantile([value(page) for page in cell], p))
