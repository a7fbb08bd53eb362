# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the runs of senders that reduce their window at a loss in proportion to the probability of
congestion, and computes the tables of cut.md."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.hwang2018.sample import CONFIDENCE, DROPS, DROPS_ADDED, SHARING, Sample, name_of
from experiments.hwang2018.simulated import metrics_of
from experiments.lib.batches import Batch, SimulatedRuns
from experiments.lib.runs import Run

#: For each sender that keeps or halves its window, the sender with the same classifier that cuts its window
#: by the probability of congestion.
PAIRS = {"ml-history": "history-cut", "ml-wide": "wide-cut", "ml-online": "online-cut"}
#: The columns of ratios: the sender in the denominator ("": the one that keeps or halves its window), and the
#: metric.
COLUMNS = (
    *(("", metric) for metric in ("goodput_mbps", DROPS, "mean_rtt_ms", "beside_goodput_mbps")),
    *(("newreno", metric) for metric in ("goodput_mbps", DROPS)),
    *(("oracle", metric) for metric in ("goodput_mbps", "beside_goodput_mbps")),
)


def batches(folder: Path, profile: str) -> list[Batch]:
    return [SimulatedRuns(folder / "cut.toml", profile or "quick", metrics_of)]


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    found = Sample.of(runs)
    if not found:
        return {}
    return {
        "profile": found[0].profile,
        "confidence": f"{100 * CONFIDENCE:.0f} %",
        "drops_added": DROPS_ADDED,
        "seeds": found.seeds(),
        "together": [
            row
            for rate in sorted({run.labels["loss_rate"] for run in found}, reverse=True)
            for words, beside in SHARING.items()
            for row in together(found.at(loss_rate=rate, beside=beside), f"{words}, loss {rate:g}")
        ],
        "each": [row for where, here in found.shared_or_not() for row in compared(here, where)],
    }


def compared(here: Sample, where: str, by: tuple[str, ...] = ()) -> list[list[str]]:
    """Returns a table row for each loss classifier of `PAIRS` with runs in `here`: the condition `where`, the
    classifier, and `COLUMNS`, ratios of the sender that cuts its window by the probability of congestion to
    other senders. For a ratio to another sender, a run of the one and a run of the other with the same number
    and the same labels `by` form a pair."""
    rows = []
    for decided, cut in PAIRS.items():
        own = here.at(cut)
        if own and here.at(decided):
            bases = [(here.at(sender or decided), metric) for sender, metric in COLUMNS]
            ratios = [own.over_text(base, metric, by) if base else "" for base, metric in bases]
            rows.append([where, name_of(decided), *ratios])
    return rows


def together(found: Sample, where: str) -> list[list[str]]:
    """Returns the rows of `compared` over all conditions in `found` together. Runs form a pair if they have
    the same seed and the same condition."""
    named = Sample(
        replace(run, labels={**run.labels, "where": condition})
        for condition, here in found.conditions().items()
        for run in here
    )
    return compared(named, where, ("where",))
