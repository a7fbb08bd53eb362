# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of senders that reduce their window at a loss in proportion to the probability of
congestion, and computes the tables of cut.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.hwang2018 import criteria
from experiments.hwang2018.online import keep
from experiments.hwang2018.sample import CONFIDENCE, Sample, name_of
from experiments.lib.batches import Batch, SimulatedRuns
from experiments.lib.runs import Run

#: For each sender that keeps or halves its window, the sender with the same classifier that cuts its window
#: by the probability of congestion.
PAIRS = {"ml-history": "history-cut", "ml-wide": "wide-cut", "ml-online": "online-cut"}
METRICS = ("goodput_mbps", criteria.DROPS, "mean_rtt_ms", "beside_goodput_mbps")
WORDS = {0: "alone", 1: "shared"}
#: The labels that pair two runs with the same seed in the same condition.
BY = ("where",)


def batches(folder: Path, profile: str) -> list[Batch]:
    return [SimulatedRuns(folder / "cut.toml", profile or "quick", keep)]


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    found = Sample.of(runs)
    if not found:
        return {}
    lossy = [rate for rate in {run.labels["loss_rate"] for run in found} if rate]
    return {
        "profile": found[0].profile,
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "drops_added": criteria.DROPS_ADDED,
        "seeds": len({run.run for run in found}),
        "together": [
            row
            for rate in (*lossy, 0.0)
            for beside, words in WORDS.items()
            for row in together(found.at(loss_rate=rate, beside=beside), f"{words}, loss {rate:g}")
        ],
        "each": [
            row
            for beside, words in WORDS.items()
            for where, here in found.at(beside=beside).conditions().items()
            for row in compared(here, f"{words}, {where}")
        ],
    }


def compared(here: Sample, where: str) -> list[list[str]]:
    """Returns a list of table rows, one for each loss classifier, from the runs `here` in the condition
    `where`. A row compares the sender that cuts its window by the probability of congestion with other
    senders. It has ratios of its metrics to those of the sender that keeps or halves its window, to
    NewReno's, and to those with the oracle (which knows each loss's cause)."""
    rows = []
    for decided, cut in PAIRS.items():
        own, base = here.at(cut), here.at(decided)
        if own and base:
            rows.append([where, name_of(decided), *ratios(own, base), *outer(own, here)])
    return rows


def ratios(
    own: Sample, base: Sample, metrics: Sequence[str] = METRICS, by: tuple[str, ...] = ()
) -> list[str]:
    """Returns, as text, the ratio of each metric of the runs `own` to that of the runs `base`, or "" for a
    metric that the runs do not have. Runs with the same number and the same labels `by` form a pair."""
    plus = {criteria.DROPS: criteria.DROPS_ADDED}
    return [
        str(own.over(base, name, by=by, plus=plus.get(name, 0.0))) if base and name in own[0].metrics else ""
        for name in metrics
    ]


def outer(own: Sample, here: Sample, by: tuple[str, ...] = ()) -> list[str]:
    """Returns, as text, ratios of the runs `own` to other senders' runs in `here`: the goodput and the queue
    drops to those of NewReno, and the goodput and the competing transfer's goodput to those with the oracle
    (which knows each loss's cause). Runs with the same number and the same labels `by` form a pair."""
    return [
        *ratios(own, here.at("newreno"), ("goodput_mbps", criteria.DROPS), by),
        *ratios(own, here.at("oracle"), ("goodput_mbps", "beside_goodput_mbps"), by),
    ]


def together(found: Sample, where: str) -> list[list[str]]:
    """Returns a list of table rows, one for each loss classifier, as `compared` does, but over all conditions
    in `found` together. `where` is the first cell of the row. Runs are compared in pairs with the same seed
    and the same condition."""
    named = Sample(
        replace(run, labels={**run.labels, "where": condition})
        for condition, here in found.conditions().items()
        for run in here
    )
    rows = []
    for decided, cut in PAIRS.items():
        own, base = named.at(cut), named.at(decided)
        if own and base:
            rows.append([where, name_of(decided), *ratios(own, base, by=BY), *outer(own, named, BY)])
    return rows
