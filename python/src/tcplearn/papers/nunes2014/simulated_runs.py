# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014: the runs that are on disk, and the error of Jacobson's formula over that of the experts."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn.jobs import Kept
from tcplearn.simulate import sweep
from tcplearn.simulate.interval import ratio_interval

BASE, LEARNED = "jacobson/nunes2014", "experts"
SCENARIOS = ("I", "II", "III", "IV", "V", "VI", "VII")

#: RTTs below this many ticks leave the experts no place: the lowest of them stands at one tick.
FEW_TICKS = 2.0
TICK_MS = 500.0

Where = tuple[str, str, str, str]  # scenario, variant, timing, condition


@dataclass(frozen=True)
class Point:
    """One run, with where it stands in a figure."""

    where: Where
    algorithm: str
    is_main: bool  # of those that the scenario file compares everywhere
    seed: int
    metrics: Mapping[str, float]
    flows: Sequence[Mapping[str, float]]  # the metrics of each
    cwnd: Sequence[float | None]
    bin_s: float
    confidence: float
    commit: str

    @property
    def samples(self) -> list[float]:
        """Of each flow."""
        return [flow["samples"] for flow in self.flows]


def name(algorithm: str) -> str:
    """Without its parameters: the bounds of the RTO are the same for all that a figure compares."""
    return algorithm.partition(":")[0]


def files(folder: Path) -> list[Path]:
    return [folder / f"scenario-{i}.toml" for i in range(1, len(SCENARIOS) + 1)]


def points(of: Sequence[Path], profile: str, kept: Kept) -> tuple[list[Point], int]:
    """The runs of the scenarios that are on disk, in the files' order, and how many there should be."""
    done = sweep.stored(of, profile, kept)
    out = []
    for run, result in done.finished():
        varied = [value for key, value in run.labels.items() if key != "variant"]
        condition = " ".join(_condition(value) for value in varied)
        series = result["run"]["cwnd_over_time"]
        out.append(
            Point(
                (run.document.name, str(run.labels.get("variant", "")), run.timing, condition),
                run.algorithm,
                run.algorithm in run.document.grid.algorithms,
                run.seed,
                result["run"]["metrics"],
                [flow["metrics"] for flow in result["flows"]],
                series["bytes"] or [],
                series["bin_s"],
                run.document.confidence,
                result["commit"],
            )
        )
    rank = {v: i for run, _ in done.runs for i, v in enumerate(run.document.variants)}
    out.sort(
        key=lambda p: (SCENARIOS.index(p.where[0]), rank.get(p.where[1], 0), _least(p.where[3]), p.where[2])
    )
    return out, len(done.runs)


def _least(condition: str) -> float:
    return float(condition.partition("-")[0] or 0)


def _condition(value: Any) -> str:
    return "-".join(f"{v:g}" for v in value) if isinstance(value, list) else str(value)


Seeds = dict[int, Point]


def by_place(found: Iterable[Point]) -> dict[Where, dict[str, Seeds]]:
    out: dict[Where, dict[str, Seeds]] = defaultdict(lambda: defaultdict(dict))
    for p in found:
        out[p.where][p.algorithm][p.seed] = p
    return out


@dataclass(frozen=True)
class Ratio:
    """Of a metric, BASE over LEARNED in pairs of one seed."""

    where: Where
    seeds: int
    base: float
    learned: float
    interval: tuple[float, float, float] | None  # geometric mean, low, high; None where an error is zero
    rtt_ms: float
    bias_ticks: float  # of LEARNED

    @property
    def verdict(self) -> str:
        """What the runs themselves show; not tested against another explanation."""
        few = self.rtt_ms < FEW_TICKS * TICK_MS
        if self.interval is None:
            return "no error at all: every sample is one tick" if self.base == 0 else "a seed without error"
        if self.seeds < 2:
            return "one seed"
        if self.interval[1] > 1:
            return "experts nearer"
        if self.interval[2] < 1:
            return "jacobson nearer" + ("; RTTs under two ticks, no expert under one" if few else "")
        return "undecided"


def ratios(found: Sequence[Point], metric: str = "mean_abs_error_ticks") -> list[Ratio]:
    out = []
    for where, by in by_place(found).items():
        needed = {metric, "mean_abs_error_ticks", "mean_rtt_ms"}  # without an error no flow had a sample
        measured = [{s for s, p in by[a].items() if needed <= p.metrics.keys()} for a in (BASE, LEARNED)]
        both = sorted(measured[0] & measured[1])
        if not both:
            continue
        base, learned = ([by[a][s] for s in both] for a in (BASE, LEARNED))
        above, below = ([p.metrics[metric] for p in side] for side in (base, learned))
        found_ratio = ratio_interval(above, below, base[0].confidence)
        out.append(
            Ratio(
                where,
                len(both),
                statistics.fmean(above),
                statistics.fmean(below),
                found_ratio,
                rtt_ms=statistics.fmean(p.metrics["mean_rtt_ms"] for p in base),
                bias_ticks=statistics.fmean(p.metrics["bias_ms"] for p in learned) / TICK_MS,
            )
        )
    return out


@dataclass(frozen=True)
class Carried:
    """What a network carried under BASE, over all seeds of one timing."""

    where: Where
    flows: int
    with_samples: int
    median_samples: float  # of those that have any
    rtt_ticks: float | None


def carried(found: Sequence[Point]) -> list[Carried]:
    out = []
    for where, by in by_place(found).items():
        runs = list(by[BASE].values())
        if not runs:
            continue
        all_samples = [n for p in runs for n in p.samples]
        some = [n for n in all_samples if n > 0]
        rtts = [p.metrics["mean_rtt_ms"] / TICK_MS for p in runs if "mean_rtt_ms" in p.metrics]
        middle = statistics.median(some) if some else 0
        out.append(
            Carried(where, len(all_samples), len(some), middle, statistics.fmean(rtts) if rtts else None)
        )
    return out
