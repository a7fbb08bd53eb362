# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018: the runs that are on disk, by level and startup; what a startup gains over the standard."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplearn.jobs import Kept
from tcplearn.simulate import sweep
from tcplearn.simulate.interval import mean_interval

Json = dict[str, Any]

STANDARD = "standard"
LEVELS, MIXES = "levels.toml", "mixes.toml"
BETWEEN = "between.csv"  # packmime.py's
#: Short flows: what the paper's scatter shows, section 3.1.
SHORT_BYTES = 50_000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Connection:
    """One that lost a SYN-ACK, and has its first object."""

    rtts: float
    whole_ms: float
    path_rtt_ms: float
    size_bytes: float
    startup: str
    is_forced: bool

    @property
    def data_s(self) -> float:
        """The response time with one RTT for the handshake, whatever was lost in it."""
        return self.rtts * self.path_rtt_ms / 1000


@dataclass(frozen=True)
class Run:
    seed: int
    metrics: Mapping[str, float]
    seconds: Mapping[str, Sequence[float]]
    lost: Sequence[Connection]
    unresolved: int
    spurious: Sequence[Connection]  # nothing was lost: the RTT outlasted the timer
    commit: str


@dataclass
class Cell:
    """The seeds of one condition."""

    level: float
    startup: str
    variant: str
    share: float = 1.0
    runs: dict[int, Run] = field(default_factory=dict)

    @property
    def lost(self) -> list[Connection]:
        return [c for run in self.runs.values() for c in run.lost]


def level_of(cell: Cell) -> str:
    return f"{100 * cell.level:.0f} % load"


def cells(file: Path, profile: str, kept: Kept) -> tuple[list[Cell], int, int]:
    """Those with runs, in the file's order; how many runs there are, and should be."""
    done = sweep.stored([file], profile, kept)
    out: dict[tuple[Any, ...], Cell] = {}
    finished = done.finished()
    for run, result in finished:
        load = run.scenario.model_dump()["load"]
        key = (
            load["level"],
            load["startup"],
            str(run.labels.get("variant", "")),
            float(load["startup_share"]),
        )
        cell = out.setdefault(key, Cell(*key))
        cell.runs[run.seed] = _read(run.seed, result)
    return list(out.values()), len(finished), len(done.runs)


@dataclass(frozen=True)
class Cost:
    connections: float
    data_segments: float
    cpu_s: float
    peak_mib: float


def costs(file: Path, kept: Kept) -> list[Cost]:
    """Of the finished runs of profile cost, in its order."""
    found = (result["run"] for _, result in sweep.stored([file], "cost", kept).finished())
    return [
        Cost(
            run["metrics"]["connections"],
            run["metrics"]["data_segments"],
            run["cost"]["cpu_s"],
            run["cost"]["peak_mib"],
        )
        for run in found
    ]


def _read(seed: int, result: Json) -> Run:
    flows = result["flows"]
    lost = [f for f in flows if f["lost"] in ("syn-ack", "both")]
    late = [f for f in flows if f["lost"] == "none" and f["state"] == "finished"]
    return Run(
        seed,
        result["run"]["metrics"],
        result["run"]["seconds"],
        [_connection(f) for f in lost if f["state"] == "finished"],
        sum(f["state"] != "finished" for f in lost),
        [_connection(f) for f in late if f["metrics"]["syn_ack_retransmissions"] > 0],
        result["commit"],
    )


def _connection(flow: Json) -> Connection:
    m = flow["metrics"]
    return Connection(
        m["response_rtts"],
        m["response_whole_ms"],
        m["path_rtt_ms"],
        m["response_bytes"],
        flow["startup"],
        flow["forced"],
    )


Difference = tuple[float, float | None]  # mean and half its interval


def paired(cell: Cell, base: Cell, value: Callable[[Run], float]) -> Difference | None:
    """Of a run's value: how far it is above the standard's, over the seeds that both have."""
    seeds = shared(cell, base)
    if not seeds:
        return None
    return mean_interval([value(cell.runs[s]) - value(base.runs[s]) for s in seeds], CONFIDENCE)


def percent(cell: Cell, base: Cell, key: str) -> Difference | None:
    """A metric in per cent above the standard's, over the seeds that both have."""
    if any(base.runs[s].metrics[key] <= 0 for s in shared(cell, base)):
        return None
    return relative(cell, base, lambda run: run.metrics[key], CONFIDENCE)


def shared(*cells: Cell) -> list[int]:
    """Seeds that all of them have."""
    return sorted(set.intersection(*(set(c.runs) for c in cells)))


def relative(cell: Cell, base: Cell, value: Callable[[Run], float], confidence: float) -> Difference | None:
    """Of a run's value: in per cent above the standard's."""
    seeds = shared(cell, base)
    if not seeds:
        return None
    changes = [100 * (value(cell.runs[s]) / value(base.runs[s]) - 1) for s in seeds]
    return mean_interval(changes, confidence)


def ranks(values: Mapping[str, float]) -> dict[str, int]:
    """1 is the least; equal values share the lower rank."""
    return {name: 1 + sum(other < value for other in values.values()) for name, value in values.items()}


def mean_rtts(run: Run) -> float:
    return statistics.fmean(c.rtts for c in run.lost)


def mean_whole_ms(run: Run) -> float:
    return statistics.fmean(c.whole_ms for c in run.lost)


def quantile(values: Iterable[float], p: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(int(p * len(ordered)), len(ordered) - 1)] if ordered else None


def base_of(cell: Cell, among: Sequence[Cell]) -> Cell | None:
    """The standard under the same conditions."""
    return next(
        (
            c
            for c in among
            if c.startup == STANDARD
            and (c.level, c.variant, c.share) == (cell.level, cell.variant, cell.share)
        ),
        None,
    )
