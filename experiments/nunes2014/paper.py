# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes paper.md: compares our results with each figure of the simulations in the paper nunes2014 and with
its tables of live experiments, and says whether they agree."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.lib.batches import Batch
from experiments.lib.runs import Run, select
from experiments.nunes2014 import clock, live, published
from experiments.nunes2014.clock import BASE, CLOCK, shorter
from experiments.nunes2014.figures import AXES, QUEUE
from experiments.nunes2014.published import ERROR
from experiments.nunes2014.runs import CONFIDENCE, SCORED, Beside, beside, mean_and_half, pairs
from tcplearn.simulate.interval import mean_interval

#: The predictions are scored twice: against the count of clock ticks, and against the RTT.
SCORINGS = {" against the clock count": SCORED["the clock count"], " against the RTT": SCORED["the RTT"]}
#: The metrics of the paper's live tables with their names on the page and digits, and the algorithms by the
#: paper's names.
LIVE_METRICS = {
    ERROR: ("error, ticks", 2),
    "mean_cwnd_segments": ("cwnd, packets", 1),
    published.RESENT: ("retransmissions", 1),
}
LIVE_ALGORITHMS = {"eifel": "eifel", "jacobson": "stock", "experts": "experts/nunes2014-4ms-q16"}
Mean = tuple[float, float]  # a mean, and half the width of its interval


def agree(networks: Sequence[tuple[Mean, Mean]], more: bool) -> str:
    """Returns, as text, whether `networks` reproduce a statement of nunes2014: that a mean under its RTT
    predictor (the experts) is greater than under Jacobson's estimator or, if `more` is false, smaller. Each
    network has Jacobson's mean and the experts' mean, with half the width of their intervals. It agrees if
    the intervals do not overlap and the order is the stated one, and contradicts if it is the opposite one.
    "Reproduced" means that most networks agree and none contradicts, "not reproduced" that most contradict
    and none agrees."""
    signs = [(e - he > j + hj) - (e + he < j - hj) for (j, hj), (e, he) in networks]
    wanted = 1 if more else -1
    right, wrong = signs.count(wanted), signs.count(-wanted)
    if right and wrong:
        said = "reproduced in some networks, not in others"
    elif 2 * max(right, wrong) > len(signs):
        said = "reproduced" if right else "not reproduced"
    else:
        said = "cannot be told"
    return f"{said} ({right} of {len(signs)} agree, {wrong} contradict)"


def _shown(of: Mean) -> str:
    digits = 0 if of[0] >= 100 else 1 if of[0] >= 10 else 2
    return f"{of[0]:,.{digits}f} ± {of[1]:,.{digits}f}"


def _mean(runs: Sequence[Run], metric: str, scale: float) -> Mean:
    middle, half = mean_interval([run.metrics[metric] * scale for run in runs], CONFIDENCE)
    return middle, half or 0.0


def _rows(read: Sequence[Beside], folder: Path) -> Iterator[list[str]]:
    """Yields a table row for each row of published-figures.csv, or two if the figure shows errors."""
    for claim in published.figures(folder):
        metric, scenario = claim["metric"], claim["scenario"]
        title, scale = AXES[metric]
        for scoring, of in SCORINGS.items() if metric == ERROR else [("", metric)]:
            means = {
                " ".join(one.network[1:]): (_mean(one.base, of, scale), _mean(one.experts, of, scale))
                for one in read
                if one.network[0] == scenario and all(of in r.metrics for r in (*one.base, *one.experts))
            }
            if means:
                figure = f"Figure {claim['figure']}, {scenario}: {title}{scoring}"
                shown = "; ".join(f"{at}: {_shown(j)} / {_shown(e)}" for at, (j, e) in means.items())
                verdict = agree(list(means.values()), claim["experts"] == "more")
                yield [figure, claim["says"], shown, verdict, "A"]


def _queues(read: Sequence[Beside]) -> dict[str, str]:
    """Returns two texts about figure 14 of nunes2014: the mean queue lengths in its scenarios I and III for
    each variant and load, and whether the queues in III are longer, as the paper says."""
    found = {one.network: _mean(one.base, QUEUE, 1) for one in read}
    both = {
        f"{variant} {load}": (found["I", variant, load], static)
        for (scenario, variant, load), static in found.items()
        if scenario == "III" and ("I", variant, load) in found
    }
    shown = (f"{at}: {_shown(mobile)} in I, {_shown(static)} in III" for at, (mobile, static) in both.items())
    verdict = agree(list(both.values()), more=True)
    return {"queues": f"{'; '.join(shown)} bytes", "queues_verdict": verdict}


def _live_verdict(experts: float, ours: tuple[float, float, float] | None) -> str:
    """Returns whether two ratios of a metric with the experts to that with Linux's estimator are on the same
    side of 1: the paper's, and `ours` with the ends of its interval (None: there is none)."""
    if not ours or ours[1] <= 1 <= ours[2]:
        return "cannot be told"
    return "reproduced" if (ours[0] < 1) == (experts < 1) else "not reproduced"


def _live(runs: Sequence[Run], folder: Path) -> Iterator[dict[str, Any]]:
    """Yields, for each of the three experiments of nunes2014 on a real kernel and each metric, the numbers
    that the paper prints and our results in the lab, from the runs with Reno and without tail loss probes."""
    printed = published.live(folder)
    for scenario, metric in itertools.product(("live-1", "live-2", "live-3"), LIVE_METRICS):
        title, digits = LIVE_METRICS[metric]
        theirs = {name: printed[scenario, name][metric] for name in LIVE_ALGORITHMS}
        of = {
            name: select(runs, scenario=scenario, algorithm=f"{live.PLAIN}+{algorithm}", tlp=False)
            for name, algorithm in LIVE_ALGORITHMS.items()
        }
        ratio = pairs(of["experts"], of["jacobson"], metric).ratio
        yield {
            "scenario": scenario,
            "name": title,
            "printed": {name: f"{mean:g} ({sigma:g})" for name, (mean, sigma) in theirs.items()},
            "ours": {
                name: mean_and_half([r.metrics[metric] for r in runs], f".{digits}f") if runs else "not run"
                for name, runs in of.items()
            },
            "verdict": _live_verdict(theirs["experts"][0] / theirs["jacobson"][0], ratio),
        }


def batches(folder: Path, profile: str) -> list[Batch]:
    return [*clock.batches(folder, profile), *live.batches(folder, profile)]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    """Returns the variables of the template of paper.md. Of the runs in ns-3 it uses those in which the
    experts (nunes2014's RTT predictor) are given RTTs as counts of clock ticks, as Jacobson's estimator
    is."""
    simulated = [run for run in runs if run.host != "lab"]
    read = list(beside(select(shorter(simulated), timing=CLOCK), BASE, CLOCK))
    if not read:
        return {}
    measured = [run for run in runs if run.host == "lab"]
    return {"rows": list(_rows(read, folder)), "live": list(_live(measured, folder)), **_queues(read)}
