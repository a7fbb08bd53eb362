# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares timers over drawn paths by the logarithms of their response times relative to those under stock
Linux's timer.

Runs of a path under two timers are paired by their seed. For a figure such as the p99, the value of a path is
the mean over its seeds of ln(figure / figure under stock), and the value of several paths is the mean over
the paths. The bootstrap draws paths within each family, and then seeds within each path."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from experiments.lib.batches import Figures
from experiments.lib.runs import Floats, Run
from experiments.lib.statistics import Drawn, Ratio, interval
from tcplearn.simulate.interval import mean_interval

STOCK = "stock"
#: Limits that no timer can reach: senders that know which packets are lost (clairvoyant), or how RTTs and
#: losses are distributed (statistical).
LIMITS = (STATISTICAL, LIMIT_DOUBLING, LIMIT) = ("statistical", "clairvoyant/doubling", "clairvoyant")
FLOORS = (*(f"stock:rto_min_us={ms}000" for ms in (1, 5, 20, 50, 100)), STOCK)
P99, P999, SLOW = "p99", "p99.9", "slowest 2 %"
#: What a page calls a figure, and the metric of a run.
FIGURES = {P99: "p99_response_ms", P999: "p999_response_ms", SLOW: "slowest_response_ms"}
SPURIOUS = "needless_resends_permille"
#: What is stored of a run, in ns-3 and in the lab.
METRICS = (*FIGURES.values(), SPURIOUS, "overruns", "mean_overrun_ms", "requests")
DRAWS, SEED = 1000, 34


def of_lab(run: Run) -> tuple[str, str]:
    """Returns the path and the timer of a run in the lab, whose algorithm consists of CUBIC and a timer."""
    floor = re.search(r"\+rto_min-(.*?)ms", run.algorithm)
    timer = f"stock:rto_min_us={floor[1]}000" if floor else run.algorithm.split("+")[1]
    return run.scenario.removeprefix("families-"), timer


def keep(measured: Mapping[str, float]) -> Figures:
    return {name: measured[name] for name in METRICS if name in measured}, {}


def family_of(path: str) -> str:
    return path.rpartition("-")[0]


class Paths:
    """The runs of a set of paths. Its methods return the runs' numbers as arrays with a row for each path and
    a column for each seed. A seed is left out if half of the paths or more lack it; then each path is left
    out that lacks a timer or a seed."""

    def __init__(self, runs: Sequence[Run]) -> None:
        by: dict[str, dict[str, dict[int, Run]]] = {}
        for run in runs:
            in_lab = run.host == "lab"
            path, timer = of_lab(run) if in_lab else (run.labels["variant"], run.labels["tcp.resend"])
            by.setdefault(path, {}).setdefault(timer, {})[run.seed] = run
        whole = max((len(timers) for timers in by.values()), default=0)
        shared = {
            path: set.intersection(*(set(of) for of in timers.values()))
            for path, timers in by.items()
            if len(timers) == whole
        }
        every = sorted(set().union(*shared.values()))
        numbers = [n for n in every if 2 * sum(n in of for of in shared.values()) > len(shared)]
        self.names = [path for path, of in shared.items() if numbers and of.issuperset(numbers)]
        self.seeds = len(numbers)
        self._runs = {
            timer: [[by[path][timer][n] for n in numbers] for path in self.names]
            for timer in (next(iter(by.values())) if by else ())
        }

    def families(self) -> list[str]:
        return list(dict.fromkeys(map(family_of, self.names)))

    def places(self, family: str = "") -> list[int]:
        return [k for k, path in enumerate(self.names) if family in ("", family_of(path))]

    @functools.cache  # noqa: B019 (the object lives as long as the process)
    def values(self, timer: str, metric: str) -> Floats:
        """Returns the number `metric` of each run under `timer`, as an array of paths × seeds; 0 if a run
        lacks it."""
        return np.array([[run.metrics.get(metric, 0.0) for run in of] for of in self._runs[timer]])

    @property
    def requests(self) -> float:
        return float(self.values(STOCK, "requests").sum(axis=1).mean())

    def logs(self, timer: str, figure: str) -> Floats:
        """Returns ln(`figure` under `timer` / `figure` under stock Linux's timer) as an array of paths ×
        seeds."""
        return np.asarray(np.log(self.values(timer, FIGURES[figure]) / self.values(STOCK, FIGURES[figure])))

    def bounds(self, path: str, timer: str, figure: str) -> Ratio:
        """Returns, for a path, `figure` under `timer` divided by that under stock Linux's timer, with
        Student's interval over the seeds of the path."""
        middle, half = mean_interval(self.logs(timer, figure)[self.names.index(path)].tolist(), 0.95)
        half = half or 0.0
        return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half))

    def wholly_above(self, timer: str, figure: str, limit: float) -> list[str]:
        return [path for path in self.names if self.bounds(path, timer, figure).low > limit]

    def gains_and_harms(self, timer: str, figure: str, family: str = "") -> tuple[int, int, int]:
        """Returns three numbers of paths of `family` (all paths if ""): those on which the whole 95 %
        interval of `figure` under `timer`, divided by that under stock Linux's timer, is below 1, contains 1,
        and is above 1."""
        of = [self.bounds(self.names[k], timer, figure) for k in self.places(family)]
        gains, harms = sum(one.high < 1 for one in of), sum(one.low > 1 for one in of)
        return gains, len(of) - gains - harms, harms


class Drawing:
    """Bootstrap samples of a set of paths. Each statistic is returned with its samples (`Drawn`)."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        rng = np.random.default_rng(SEED)
        rows = []
        for family in paths.families():
            places = np.array(paths.places(family))
            rows.append(places[rng.integers(0, len(places), (DRAWS, len(places)))])
        self._paths = np.concatenate(rows, axis=1)
        self._seeds = rng.integers(0, paths.seeds, (*self._paths.shape, paths.seeds))

    def _means(self, values: Floats, family: str) -> tuple[Floats, Floats, Floats]:
        """Returns the means over seeds of `values` (an array of paths × seeds), for each path of `family`;
        the same means in each bootstrap sample (samples × drawn paths); and the index of each drawn path."""
        order = [family_of(self.paths.names[k]) for k in self._paths[0]]
        chosen = [k for k, of in enumerate(order) if family in ("", of)]
        paths = self._paths[:, chosen]
        drawn = values[paths[:, :, None], self._seeds[:, chosen]].mean(axis=2)
        return values[self.paths.places(family)].mean(axis=1), drawn, paths

    def over_stock(self, timer: str, figure: str, family: str) -> Drawn:
        """Returns the geometric mean, over the paths of `family`, of `figure` under `timer` relative to that
        under stock Linux's timer."""
        each, drawn, _ = self._means(self.paths.logs(timer, figure), family)
        return float(np.exp(each.mean())), np.exp(drawn.mean(axis=1))

    def judged(self, figure: str, limit: str, least_gain: float) -> int:
        """Returns the number of paths on which `figure` under the timer `limit` is at most `least_gain` times
        that under stock."""
        return int((self.paths.logs(limit, figure).mean(axis=1) <= math.log(least_gain)).sum())

    def share(self, timer: str, figure: str, limit: str, least_gain: float) -> Drawn:
        """Returns ln(timer / stock) / ln(limit / stock), where each word stands for `figure` under this
        timer. Each logarithm is a mean over the paths on which `figure` under `limit` is at most `least_gain`
        times that under stock."""
        of_limit = self.paths.logs(limit, figure)
        counts = of_limit.mean(axis=1) <= math.log(least_gain)
        each, drawn, paths = self._means(self.paths.logs(timer, figure), "")
        each_limit, drawn_limit, _ = self._means(of_limit, "")
        weights = counts[paths]
        return (
            float(each[counts].sum() / each_limit[counts].sum()),
            (drawn * weights).sum(axis=1) / (drawn_limit * weights).sum(axis=1),
        )

    def over_floor(self, timer: str, figure: str) -> Drawn:
        """Returns the geometric mean over paths of `figure` under `timer` relative to that under the path's
        best fixed rto_min. The best is chosen on every second seed, among the values that cause no more
        spurious retransmissions than `timer`, and compared on the other seeds, then the other way round. It
        is stock's if no value qualifies."""
        logs = np.array([self.paths.logs(floor, figure) for floor in FLOORS])
        spurious = np.array([self.paths.values(floor, SPURIOUS) for floor in FLOORS])
        most, out = self.paths.values(timer, SPURIOUS), np.empty_like(logs[0])
        for chosen, judged in itertools.permutations((slice(0, None, 2), slice(1, None, 2))):
            allowed = spurious[:, :, chosen].mean(axis=2) <= most[:, chosen].mean(axis=1)
            allowed[FLOORS.index(STOCK)] |= ~allowed.any(axis=0)
            best = np.argmin(np.where(allowed, logs[:, :, chosen].mean(axis=2), np.inf), axis=0)
            out[:, judged] = logs[best, np.arange(len(best))][:, judged]
        each, drawn, _ = self._means(self.paths.logs(timer, figure) - out, "")
        return float(np.exp(each.mean())), np.exp(drawn.mean(axis=1))

    def more_spurious(self, timer: str, family: str) -> tuple[float, float, float]:
        """Returns how many more spurious retransmissions in 1,000 segments `timer` causes than stock Linux's
        timer, on the paths of `family`, and both ends of a 95 % interval."""
        more = self.paths.values(timer, SPURIOUS) - self.paths.values(STOCK, SPURIOUS)
        each, drawn, _ = self._means(more, family)
        return float(each.mean()), *interval(drawn.mean(axis=1))

    def harmed_families(self, timer: str, figure: str, limit: float) -> list[str]:
        families = self.paths.families()
        return [f for f in families if interval(self.over_stock(timer, figure, f)[1])[0] > limit]

    def overrun(self, timer: str, family: str) -> Drawn:
        """Returns the mean time under `timer` from the end of a fade (an outage of the link) to the next
        retransmission, over all fades of the paths of `family`, divided by this mean under stock Linux's
        timer."""

        def mean_ms(name: str) -> Drawn:
            number = self.paths.values(name, "overruns")
            total_ms, drawn_ms, _ = self._means(number * self.paths.values(name, "mean_overrun_ms"), family)
            count, drawn, _ = self._means(number, family)
            return total_ms.sum() / count.sum(), drawn_ms.sum(axis=1) / drawn.sum(axis=1)

        (ours, ours_drawn), (stock, stock_drawn) = mean_ms(timer), mean_ms(STOCK)
        return float(ours / stock), np.asarray(ours_drawn / stock_drawn)
