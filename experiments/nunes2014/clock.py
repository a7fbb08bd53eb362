# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes simulated.md: the simulations of the paper nunes2014 with RTTs timed by a clock of 500 ms ticks, as
in 4.4BSD. The paper does not say whether its predictor was given exact RTTs, counts of ticks, or counts less
one, nor with which of these its predictions were compared. The page shows all combinations."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.lib.batches import Batch, SimulatedRuns
from experiments.lib.runs import Run, select
from experiments.nunes2014 import figures, published
from experiments.nunes2014.published import ERROR, RATIO, RESENT
from experiments.nunes2014.runs import (
    EXPERTS,
    SCORED,
    SIZES,
    Beside,
    Pairs,
    beside,
    keep,
    mean_and_half,
    name,
    network,
    number,
    sized,
)

#: Jacobson's estimator, for comparison; it gets the count of ticks and subtracts one.
BASE = "jacobson/freebsd-2.2:sampling=every-ack"
CLOCK = "one-per-rtt/bsd-500ms"
#: What nunes2014's predictor (the "experts") is given as an RTT sample, by the name of the timing.
GIVEN = {CLOCK: "clock count", f"{CLOCK}/less-one": "clock count − 1", f"{CLOCK}/time": "RTT"}
#: The profile whose runs have the paper's duration.
WHOLE = "whole"


def batches(folder: Path, profile: str) -> list[Batch]:
    if profile == "smoke":
        return [SimulatedRuns(folder / "scenario-5.toml", "clock-smoke", keep)]
    profiles = [profile] if profile else ["clock", WHOLE]
    return [
        SimulatedRuns(folder / f"scenario-{i}.toml", name, keep) for name in profiles for i in range(1, 6)
    ]


def shorter(runs: Sequence[Run]) -> list[Run]:
    """Returns those of `runs` that are shorter than the runs of the paper nunes2014."""
    return [run for run in runs if run.profile != WHOLE]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    every = [run for run in runs if run.labels["timing"] in GIVEN]
    runs = shorter(every)
    read = list(beside(runs, BASE, CLOCK))
    if not read:
        return {}
    printed = published.simulated(folder)
    drawn = [run for run in runs if run.algorithm in (BASE, EXPERTS)]
    return {
        "scored": SCORED,
        "given": GIVEN,
        "nearer": [[given, *_nearer([r for r in read if r.timing == at])] for at, given in GIVEN.items()],
        "sizes": list(_sizes(runs)),
        "durations": list(_durations(select(every, timing=CLOCK))),
        "every_estimator": list(_every_estimator(select(runs, timing=CLOCK))),
        "read": read,
        "variances": {(p["scenario"], p["load"]): p["value"] for p in printed if "variance" in p["metric"]},
        "ratios": {(p["scenario"], p["load"]): p["value"] for p in printed if p["algorithm"] == RATIO},
        "printed": [row for row in printed if row["metric"] == ERROR],
        "claimed": (ERROR, RESENT),
        "live": published.live(folder),
        "figures": figures.draw(drawn, folder, "figures", _panels),
    }


def label(run: Run) -> str:
    """Returns the name of the run's algorithm in tables and figures."""
    return f"{EXPERTS}: fed {GIVEN[run.labels['timing']]}" if run.algorithm == EXPERTS else name(run)


def _panels(run: Run, metric: str) -> Iterator[tuple[str, str, str]]:
    """Yields the panels in which a figure of `metric` shows `run`, each as (name of the panel, name of the
    line in it, metric that the line shows)."""
    if metric == ERROR:
        yield from ((f"scored against {scored}", label(run), of) for scored, of in SCORED.items())
    elif metric != figures.OVER_TIME or run.labels["timing"] == CLOCK:
        yield "timers run down at boundaries", label(run), metric


def _nearer(read: Sequence[Beside]) -> Iterator[str]:
    """Yields, for each value that predictions are compared with, a text that compares the errors of
    nunes2014's RTT predictor with those of Jacobson's estimator in the networks `read`."""
    for metric in SCORED.values():
        found = [(ratio, len(p.base)) for p in (r.pairs(metric) for r in read) if (ratio := p.ratio)]
        middles, sure = [ratio[0] for ratio, _ in found], [ratio for ratio, seeds in found if seeds > 1]
        middle = number(statistics.geometric_mean(middles) if middles else None)
        above, below = sum(low > 1 for _, low, _ in sure), sum(high < 1 for _, _, high in sure)
        nearer = f"{sum(middle > 1 for middle in middles)} of {len(middles)}"
        yield f"{middle}; {nearer}; {above} above, {below} below of {len(sure)}"


def _together(runs: Sequence[Run], metric: str, labels: Sequence[str]) -> list[dict[str, float]]:
    """Returns a list with one dict for each network and seed for which there are runs of all the algorithms
    `labels`. A dict has the value of `metric` for each algorithm."""
    found: dict[Any, dict[str, float]] = {}
    for run in runs:
        if metric in run.metrics:
            found.setdefault((network(run), run.seed), {})[label(run)] = run.metrics[metric]
    return [of for of in found.values() if of.keys() >= set(labels)]


def _sizes(runs: Sequence[Run]) -> Iterator[list[str]]:
    base = BASE.partition(":")[0]
    for size, given in itertools.product(SIZES, GIVEN.values()):
        experts, cells = f"{EXPERTS}: fed {given}", []
        for metric in SCORED.values():
            found = _together(runs, sized(metric, size), (base, experts))
            pairs = Pairs([of[base] for of in found], [of[experts] for of in found])
            more = [of[base] - of[experts] for of in found]
            nearer = f"{sum(d > 0 for d in more)} of {len(more)}"
            cells.append(f"{pairs.both()}: {mean_and_half(more, '+.2f')}; {nearer}" if more else "–")
        yield [size, given, *cells]


def _durations(runs: Sequence[Run]) -> Iterator[Beside]:
    """Yields, for each network of the profile `whole`, whose runs are as long as those of the paper
    nunes2014, first a shorter run with the same seed and then the long run."""
    for whole in beside(select(runs, profile=WHOLE), BASE, CLOCK):
        same = [run for run in shorter(runs) if run.seed == whole.base[0].seed]
        yield from (of for of in beside(same, BASE, CLOCK) if of.network == whole.network)
        yield whole


def _every_estimator(runs: Sequence[Run]) -> Iterator[list[str]]:
    labels = list(dict.fromkeys(map(label, runs)))
    for size in SIZES:
        found = [_together(runs, sized(metric, size), labels) for metric in SCORED.values()]
        for one in labels if all(found) else ():
            cells = []
            for of in found:
                nearest = sum(errors[one] <= min(errors.values()) for errors in of)
                cells.append(f"{mean_and_half([errors[one] for errors in of])}; {nearest} of {len(of)}")
            yield [size, f"`{one.partition(':')[0]}`", *cells]
