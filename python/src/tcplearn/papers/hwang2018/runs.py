# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: the runs that are on disk, by sender and condition, and what is computed of several seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tcplearn.jobs import Kept
from tcplearn.simulate import sweep
from tcplearn.simulate.interval import mean_interval, ratio_interval

#: Scenario files of the figures, and what lies beyond them.
FILES = ("figure-5", "figure-7", "figure-9", "harm")

#: Seeds from here on were used for no choice.
UNSEEN = 101

#: Variant of the scenario files -> its name on the page, in its order.
SENDERS = {
    "newreno": "NewReno",
    "veno-5": "Veno, β 5",
    "veno-10": "Veno, β 10",
    "veno-15": "Veno, β 15",
    "veno-20": "Veno, β 20",
    "veno-25": "Veno, β 25",
    "ml-hwang2018": "ML-TCP, the paper's",
    "ml-wide": "ML-TCP, wide",
    "ml-adaptive": "ML-TCP, adaptive",
    "ml-history": "ML-TCP, history",
    "ml-history-45": "ML-TCP, history at 0.45",
    "ml-past": "ML-TCP, history by the path",
    "oracle": "NewReno with oracle",
    "westwood": "Westwood+",
    "vegas": "Vegas",
    "cubic": "CUBIC",
    "cubic-wide": "CUBIC, wide",
    "cubic-adaptive": "CUBIC, adaptive",
    "cubic-history": "CUBIC, history",
    "cubic-history-45": "CUBIC, history at 0.45",
    "cubic-past": "CUBIC, history by the path",
    "cubic-oracle": "CUBIC with oracle",
    "bbr": "BBR",
}


@dataclass(frozen=True)
class Point:
    """One run."""

    scenario: str
    sender: str  # a variant
    at: Mapping[str, Any]  # what is varied, by its dotted key
    seed: int
    metrics: Mapping[str, float]
    cwnd_bytes: Sequence[float | None] = field(default=())
    bin_s: float = 1.0
    commit: str = ""

    @property
    def condition(self) -> tuple[tuple[str, Any], ...]:
        return tuple(self.at.items())

    @property
    def short(self) -> dict[str, Any]:
        """By the last word of each key: loss_rate."""
        return {key.rpartition(".")[2]: value for key, value in self.at.items()}

    def numbered(self, seed: int) -> Point:
        """The same run under another seed, to be paired by."""
        return replace(self, seed=seed)


def points(folder: Path, profile: str, kept: Kept, files: Sequence[str] = FILES) -> tuple[list[Point], int]:
    """The runs on disk, and how many there should be."""
    found = sweep.stored([folder / f"{name}.toml" for name in files], profile, kept)
    out = []
    for run, result in found.finished():
        series = result["run"]["cwnd_over_time"]
        labels = dict(run.labels)
        out.append(
            Point(
                run.document.name,
                labels.pop("variant", ""),
                labels,
                run.seed,
                result["run"]["metrics"],
                series["bytes"] or (),
                series["bin_s"],
                result["commit"],
            )
        )
    return out, len(found.runs)


def of(found: Iterable[Point], scenario: str, sender: str = "", **at: Any) -> list[Point]:
    """By the last word of a key: loss_rate=0.01. In the order of their seeds."""

    def is_meant(p: Point) -> bool:
        short = p.short
        return (
            p.scenario == scenario
            and sender in ("", p.sender)
            and all(short.get(key) == value for key, value in at.items())
        )

    return sorted((p for p in found if is_meant(p)), key=lambda p: p.seed)


def unseen(found: Sequence[Point]) -> Sequence[Point]:
    """Those of the seeds that were used for no choice; all in a profile that has none."""
    return [p for p in found if p.seed >= UNSEEN] or found


def by_condition(found: Sequence[Point]) -> Iterator[tuple[tuple[tuple[str, Any], ...], list[Point]]]:
    for condition in dict.fromkeys(p.condition for p in found):
        yield condition, [p for p in found if p.condition == condition]


@dataclass(frozen=True)
class Estimate:
    """A mean or ratio with its interval; no interval from one seed, or where a value is zero."""

    value: float
    low: float | None = None
    high: float | None = None

    def shown(self, digits: int = 2, scale: float = 1.0) -> str:
        value = f"{self.value * scale:.{digits}f}"
        if self.low is None or self.high is None:
            return value
        return f"{value} ({self.low * scale:.{digits}f} to {self.high * scale:.{digits}f})"


def mean(of: Sequence[Point], metric: str, confidence: float) -> Estimate | None:
    values = [p.metrics[metric] for p in of if metric in p.metrics]
    if not values:
        return None
    middle, half = mean_interval(values, confidence)
    return Estimate(middle) if half is None else Estimate(middle, middle - half, middle + half)


def ratio(
    above: Sequence[Point], below: Sequence[Point], metric: str | Callable[[Point], float], confidence: float
) -> Estimate | None:
    """In pairs of a seed: the geometric mean. Where one is zero, the ratio of the sums."""

    def value(p: Point) -> float:
        return p.metrics[metric] if isinstance(metric, str) else metric(p)

    both = sorted({p.seed for p in above} & {p.seed for p in below})
    of_seed = [{p.seed: value(p) for p in side} for side in (above, below)]
    tops, bottoms = ([side[seed] for seed in both] for side in of_seed)
    if not both:
        return None
    if min(*tops, *bottoms) <= 0:
        total = sum(bottoms)
        return Estimate(sum(tops) / total) if total > 0 else None
    paired = ratio_interval(tops, bottoms, confidence)
    if paired is None:
        return None
    middle, low, high = paired
    return Estimate(middle, low, high) if len(both) > 1 else Estimate(middle)


@dataclass(frozen=True)
class Confusion:
    """Fast retransmits of all seeds by what was true and what was called."""

    random_called_random: int
    random_called_congestion: int
    congestion_called_random: int
    congestion_called_congestion: int

    @property
    def total(self) -> int:
        return sum(
            (
                self.random_called_random,
                self.random_called_congestion,
                self.congestion_called_random,
                self.congestion_called_congestion,
            )
        )

    @property
    def accuracy(self) -> float | None:
        right = self.random_called_random + self.congestion_called_congestion
        return right / self.total if self.total else None


CALLS = tuple(Confusion.__dataclass_fields__)


def confusion(of: Sequence[Point]) -> Confusion:
    return Confusion(*(round(sum(p.metrics.get(name, 0.0) for p in of)) for name in CALLS))


def accuracy(of: Sequence[Point], confidence: float) -> Estimate | None:
    """Over the seeds that had a fast retransmit."""
    values = [c.accuracy for p in of if (c := confusion([p])).total]
    known = [v for v in values if v is not None]
    if not known:
        return None
    middle, half = mean_interval(known, confidence)
    if half is None:
        return Estimate(middle)
    return Estimate(statistics.fmean(known), max(0.0, middle - half), min(1.0, middle + half))
