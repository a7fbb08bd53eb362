# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014 on the clock of its time: what the experts were given, and what was scored, side by side."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tcplearn.papers.nunes2014.simulated_runs import LEARNED, TICK_MS, Point, Seeds, by_place, name
from tcplearn.simulate.interval import ratio_interval

#: Given the count as it comes; it takes one off itself.
BASE = "jacobson/freebsd-2.2:sampling=every-ack"
CLOCK = "one-per-rtt/bsd-500ms"
#: What the experts are given, by timing, and against what a prediction is scored.
GIVEN = {CLOCK: "the count", f"{CLOCK}/less-one": "the count less one", f"{CLOCK}/time": "the RTT"}
SCORED = {
    "the count": "mean_abs_error_count_ticks",
    "the count less one": "mean_abs_error_count_less_one_ticks",
    "the RTT": "mean_abs_error_time_ticks",
}
#: Of a flow's mean RTT, in ticks.
SIZES = {"under 0.1": (0.0, 0.1), "0.1 to 1": (0.1, 1.0), "above 1": (1.0, float("inf"))}

Network = tuple[str, str, str]  # scenario, variant, load
Interval = tuple[float, float, float]


def network_of(point: Point) -> Network:
    scenario, variant, _, condition = point.where
    return scenario, variant, condition


@dataclass(frozen=True)
class Pairs:
    """One metric of BASE and of the experts, in pairs of one seed."""

    base: Sequence[float]
    learned: Sequence[float]
    confidence: float

    @property
    def ratio(self) -> Interval | None:
        """BASE's over the experts'; None where one has none, or nothing is measured."""
        return ratio_interval(self.base, self.learned, self.confidence)

    @property
    def means(self) -> tuple[float, float] | None:
        return (statistics.fmean(self.base), statistics.fmean(self.learned)) if self.base else None

    @property
    def difference(self) -> Sequence[float]:
        return [a - b for a, b in zip(self.base, self.learned, strict=True)]


@dataclass(frozen=True)
class Reading:
    """One network with the experts given one thing."""

    network: Network
    given: str
    base: Seeds
    learned: Seeds

    def pairs(self, metric: str) -> Pairs:
        both = sorted(self.base.keys() & self.learned.keys())
        both = [s for s in both if all(metric in side[s].metrics for side in (self.base, self.learned))]
        confidence = next(iter(self.base.values())).confidence
        base, learned = ([side[s].metrics[metric] for s in both] for side in (self.base, self.learned))
        return Pairs(base, learned, confidence)

    def mean_of_base(self, metric: str) -> float | None:
        values = [p.metrics[metric] for p in self.base.values() if metric in p.metrics]
        return statistics.fmean(values) if values else None


def readings(found: Iterable[Point]) -> list[Reading]:
    by = by_place(found)
    out = []
    for (scenario, variant, timing, condition), algorithms in by.items():
        base = by.get((scenario, variant, CLOCK, condition), {}).get(BASE)
        learned = algorithms.get(LEARNED)
        if timing in GIVEN and base and learned:
            out.append(Reading((scenario, variant, condition), GIVEN[timing], base, learned))
    order = list(dict.fromkeys(r.network for r in out))
    return sorted(out, key=lambda r: (order.index(r.network), list(GIVEN.values()).index(r.given)))


def label(point: Point) -> str:
    """As a table or a picture names it."""
    short = name(point.algorithm)
    return f"{short}: given {GIVEN[point.where[2]]}" if short == LEARNED else short


Place = tuple[Network, int]  # and a seed
BySize = Mapping[str, Mapping[Place, float]]  # label -> mean error of the flows of that size


def by_size(found: Iterable[Point], size: str, metric: str) -> dict[str, dict[Place, float]]:
    """Of each label and run the mean error of those flows whose mean RTT is of that size."""
    low, high = SIZES[size]
    out: dict[str, dict[Place, float]] = {}
    for p in found:
        errors = [
            flow[metric] for flow in p.flows if metric in flow and low <= flow["mean_rtt_ms"] / TICK_MS < high
        ]
        if p.where[2] in GIVEN and errors:
            out.setdefault(label(p), {})[network_of(p), p.seed] = statistics.fmean(errors)
    return out


def together(errors: BySize, labels: Sequence[str]) -> list[dict[str, float]]:
    """Of the runs that all of these have, their errors."""
    if not all(one in errors for one in labels):
        return []
    places = set.intersection(*(set(errors[one]) for one in labels))
    return [{one: errors[one][place] for one in labels} for place in sorted(places)]
