# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes simulated-rounded.md: the simulations of the paper nunes2014 with RTT samples that are rounded up to
ticks of 500 ms."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.batches import Batch, SimulatedRuns
from experiments.lib.runs import Run
from experiments.nunes2014 import figures, published
from experiments.nunes2014.published import ERROR
from experiments.nunes2014.runs import EXPERTS, TICK_MS, Beside, beside, by_network, keep, mean, name, number

BASE = "jacobson/nunes2014"
TICKS = ("every-ack/500ms", "one-per-rtt/500ms")
BEYOND = ("VI", "VII")  # scenarios that the paper does not have
UNBOUNDED = "every-ack"  # the timing (how RTTs are measured) in the runs of the other estimators


def batches(folder: Path, profile: str) -> list[Batch]:
    return [SimulatedRuns(folder / f"scenario-{i}.toml", profile or "quick", keep) for i in range(1, 8)]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    # runs with the paper's bounds of the RTO
    bounded = [run for run in runs if run.algorithm in (BASE, EXPERTS) or ":" in run.algorithm]
    main = [run for run in bounded if run.scenario not in BEYOND]
    compared = [one for one in beside(main, BASE) if one.timing in TICKS]
    if not compared:
        return {}
    exact = {at: timings.get(UNBOUNDED, {}) for at, timings in by_network(runs).items()}
    drawn = [run for run in bounded if run.labels["timing"] in TICKS or run.scenario in BEYOND]
    return {
        "networks": list(_networks(compared)),
        "standing": list(_standing(main)),
        "printed": [(row, _ours(row, compared)) for row in published.simulated(folder)],
        "other_estimators": {at: of for at, of in exact.items() if "linux" in of},
        "mean": lambda runs, metric, scale=1.0: number(mean(runs, metric, scale)),
        "figures": figures.draw(drawn, folder, "figures-rounded", _panels),
    }


def _panels(run: Run, metric: str) -> list[tuple[str, str, str]]:
    if metric == figures.OVER_TIME and run.algorithm not in (BASE, EXPERTS):
        return []
    return [(run.labels["timing"], name(run), metric)]


def _networks(compared: Sequence[Beside]) -> Iterator[list[str]]:
    """Yields a table row for each network, with the errors for each sampling (on every ACK, or once per RTT);
    the other columns are of one sample per RTT."""
    for at, group in itertools.groupby(compared, lambda one: one.network):
        of = {one.timing: one for one in group}
        last = of.get(TICKS[1]) or of[TICKS[0]]
        samples = np.concatenate([run.series["samples"] for run in last.base])
        some = samples[samples > 0]
        carried = [f"{len(some)} of {len(samples)}", f"{np.median(some) if len(some) else 0:.0f}"]
        errors = (of[timing].pairs(ERROR).shown if timing in of else "not run" for timing in TICKS)
        bias = mean(last.experts, "bias_ms", 1 / TICK_MS)
        yield [*at, last.rtt_ticks, *carried, *errors, "–" if bias is None else f"{bias:+.2f}"]


def _standing(main: Sequence[Run]) -> Iterator[list[str]]:
    """Yields a table row for each algorithm, with the geometric mean and the largest of the ratios of its
    error to that of Jacobson's estimator over networks and samplings (on every ACK, or once per RTT), and the
    number of cases in which the algorithm has the smallest error."""
    every = list(dict.fromkeys(run.algorithm for run in main))
    errors = []
    for timings in by_network(main).values():
        for timing in TICKS:
            by = timings.get(timing, {})
            of = {a: mean(each, ERROR) or 0.0 for a, each in by.items()}
            is_whole = all(ERROR in run.metrics for each in by.values() for run in each)
            if is_whole and of.keys() == set(every) and all(of.values()):
                errors.append(of)
    for algorithm in every if errors else ():
        over = [of[algorithm] / of[BASE] for of in errors]
        nearest = sum(of[algorithm] == min(of.values()) for of in errors)
        middle = number(statistics.geometric_mean(over))
        yield [algorithm.partition(":")[0], middle, number(max(over)), f"{nearest} of {len(errors)}"]


def _ours(printed: Mapping[str, str], compared: Sequence[Beside]) -> str:
    """Returns, as text, the smallest and the largest of our values of a number that nunes2014 prints, over
    networks and samplings. `printed` is its row of published.csv."""
    of = printed["algorithm"]
    found = [
        one.pairs(printed["metric"])
        for one in compared
        if one.network[0] == printed["scenario"] and printed["load"] in ("", one.network[2])
    ]
    if "/" in of:
        values = [ratio[0] if of == published.RATIO else 1 / ratio[0] for p in found if (ratio := p.ratio)]
    else:
        values = [p.means[of == EXPERTS] for p in found if p.means]
    return f"{number(min(values))} to {number(max(values))}, of {len(values)}" if values else "not run"
