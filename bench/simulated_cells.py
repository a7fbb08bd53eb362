# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Kept ns-3 runs of requests as cells, a path each, and what each timer makes of a cell."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from latency_cells import SEED, STATIC, STOCK, Floats, geometric

from tcplearn.lab import requests
from tcplearn.replay.resends import NEEDLESS as NEEDLESS  # also of bench/latency_simulated.py
from tcplearn.simulate import sweep
from tcplearn.simulate.interval import ratio_interval
from tcplearn.simulate.results import RunStore

P99, P999, SLOWEST = FIGURES = ("p99", "p99.9", "slowest 2 %")
WIRED, FADES = "wired", "fades"
DRAWS = 400
#: Of sorted response times these are enough for all figures, whichever runs are drawn.
_KEPT = 0.15

Drawn = tuple[float, Floats]
_NAMES = {"linear": "thin linear", "stock/no-probe": "no probes"}


def timer_name(spec: str) -> str:
    """As docs/latency.md has it."""
    name, _, floor = spec.partition(":rto_min_us=")
    return f"rto_min {int(floor) // 1000} ms" if floor else _NAMES.get(name, name)


@dataclass(frozen=True)
class Run:
    seed: int
    requests: int
    slow_ms: Floats  # the longest response times
    needless: float
    segments: float
    resends: float  # by the timer: probes and timeouts
    overruns: float
    overrun_ms: float  # in all


def run_of(seed: int, result: dict[str, Any], after: int = 0) -> Run:
    """`after`: so many requests at the beginning are left out, of a single flow."""
    m = result["run"]["metrics"]
    times_ms = np.sort(np.array(result["run"]["responses_us"][after:]) / 1000)
    overruns = m.get("overruns", 0.0)
    return Run(
        seed,
        len(times_ms),
        times_ms[int(len(times_ms) * (1 - _KEPT)) :],
        m[NEEDLESS] * m["sent_packets"] / 1000,
        m["sent_packets"],
        m["probes"] + m["timeouts"],
        overruns,
        overruns * m.get("mean_overrun_ms", 0.0),
    )


def _figures(runs: Sequence[Run]) -> Floats:
    """P99, P999 and SLOWEST, percentiles as numpy has them."""
    slow = np.sort(np.concatenate([r.slow_ms for r in runs]))
    count = sum(r.requests for r in runs)
    at = np.array([0.99, 0.999]) * (count - 1) - (count - len(slow))
    quantiles = np.interp(at, np.arange(len(slow)), slow)
    return np.array([*quantiles, slow[-max(count // requests.SLOWEST, 1) :].mean()])


@dataclass(frozen=True)
class Timer:
    runs: tuple[Run, ...]  # by seed

    @property
    def requests(self) -> int:
        return sum(r.requests for r in self.runs)

    def of(self, figure: str) -> float:
        return float(self._figures[FIGURES.index(figure)])

    @functools.cached_property
    def _figures(self) -> Floats:
        return _figures(self.runs)

    def chosen(self, of: Sequence[int]) -> Timer:
        return Timer(tuple(self.runs[i] for i in of))

    @property
    def needless_permille(self) -> float:
        return 1000 * sum(r.needless for r in self.runs) / max(sum(r.segments for r in self.runs), 1)

    @property
    def overruns(self) -> float:
        return sum(r.overruns for r in self.runs)

    @property
    def overrun_ms(self) -> float:
        return sum(r.overrun_ms for r in self.runs) / max(self.overruns, 1)


@dataclass(frozen=True)
class Cell:
    path: str
    timers: dict[str, Timer]

    @property
    def reaches_the_tail(self) -> bool:
        """Stock's timer sends again for one request in a hundred, or more."""
        stock = self.timers[STOCK]
        return sum(r.resends for r in stock.runs) >= 0.01 * stock.requests

    @functools.cached_property
    def _again(self) -> list[dict[str, Timer]]:
        """Timers of runs drawn again, of each half by itself: the same seeds for all timers."""
        rng = np.random.default_rng(SEED)
        seeds = np.arange(len(self.timers[STOCK].runs))
        out = []
        for _ in range(DRAWS):
            drawn = seeds.copy()  # the halves are every other one, here as there
            for k in (0, 1):
                half = seeds[k::2]
                drawn[k::2] = half[rng.integers(0, len(half), len(half))]
            out.append({name: timer.chosen(drawn.tolist()) for name, timer in self.timers.items()})
        return out

    def ratio(self, timer: str, figure: str) -> Drawn:
        return self._of(lambda timers: timers[timer].of(figure) / timers[STOCK].of(figure))

    def more_needless(self, timer: str) -> Drawn:
        """Than stock's, in 1,000."""
        return self._of(lambda timers: timers[timer].needless_permille - timers[STOCK].needless_permille)

    def overrun_ratio(self, timer: str) -> Drawn:
        return self._of(lambda timers: timers[timer].overrun_ms / timers[STOCK].overrun_ms)

    def over_floor(self, timer: str, figure: str) -> Drawn:
        """Over the best static floor with no more needless resends, chosen on half of the seeds and judged on
        the other: the geometric mean of both ways."""
        return self._floors[timer, figure]

    @functools.cached_property
    def _floors(self) -> dict[tuple[str, str], Drawn]:
        ours = [name for name in self.timers if name.startswith("priced")]
        found = [_over_floors(timers, ours) for timers in (self.timers, *self._again)]
        return {key: (found[0][key], np.array([f[key] for f in found[1:]])) for key in found[0]}

    def _of(self, value: Any) -> Drawn:
        return value(self.timers), np.array([value(timers) for timers in self._again])


def _over_floors(timers: dict[str, Timer], ours: Sequence[str]) -> dict[tuple[str, str], float]:
    seeds = range(len(timers[STOCK].runs))
    names = [name for name in (*STATIC, *ours) if name in timers]
    halves = [{name: timers[name].chosen(seeds[k::2]) for name in names} for k in (0, 1)]
    out = {}
    for timer in ours:
        for figure in FIGURES:
            ratios = []
            for chosen, judged in (halves, halves[::-1]):
                most = chosen[timer].needless_permille
                floors = [name for name in STATIC if name in chosen]
                allowed = [name for name in floors if chosen[name].needless_permille <= most] or [STOCK]
                best = min(allowed, key=lambda name: chosen[name].of(figure))
                ratios.append(judged[timer].of(figure) / judged[best].of(figure))
            out[timer, figure] = geometric(ratios)
    return out


def cells_of(file: Path, kept: RunStore, after: int = 0, profile: str = "full") -> list[Cell]:
    """Paths of which every timer has the same seeds; of the others these alone."""
    found: dict[str, dict[str, dict[int, Run]]] = {}
    for path, timer, seed, result in _finished(file, kept, profile):
        found.setdefault(path, {}).setdefault(timer, {})[seed] = run_of(seed, result, after)
    out = []
    for path, timers in found.items():
        seeds = sorted(set.intersection(*(set(runs) for runs in timers.values())))
        if len(seeds) > 1:
            out.append(Cell(path, {t: Timer(tuple(runs[s] for s in seeds)) for t, runs in timers.items()}))
    return out


def _finished(
    file: Path, kept: RunStore, profile: str = "full"
) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    for run, result in sweep.stored([file], profile, kept).finished():
        yield run.labels["variant"], timer_name(run.labels["tcp.resend"]), run.seed, result


@dataclass(frozen=True)
class Shares:
    """What a timer's flows got of an overloaded queue, in each run."""

    goodput: list[float]  # Mbit/s, of all flows
    drops: list[float]


@dataclass(frozen=True)
class Overload:
    path: str
    timers: dict[str, Shares]

    def compared(self, timer: str, part: str) -> tuple[float, float, float] | None:
        """Over stock's, run by run; None where a run has none."""
        return ratio_interval(getattr(self.timers[timer], part), getattr(self.timers[STOCK], part), 0.95)


def overloads(file: Path, kept: RunStore) -> list[Overload]:
    found: dict[str, dict[str, dict[int, tuple[float, float]]]] = {}
    for path, timer, seed, result in _finished(file, kept):
        m = result["run"]["metrics"]
        values = (m["goodput_mbps"] * m["flows"], m["queue_dropped_packets"])
        found.setdefault(path, {}).setdefault(timer, {})[seed] = values
    out = []
    for path, timers in found.items():
        seeds = sorted(set.intersection(*(set(runs) for runs in timers.values())))
        shares = {
            timer: Shares([runs[s][0] for s in seeds], [runs[s][1] for s in seeds])
            for timer, runs in timers.items()
        }
        out.append(Overload(path, shares))
    return out
