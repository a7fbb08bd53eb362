# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Selects our runs for the paper hwang2018 by sender and condition, and computes means and ratios over
runs."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.lib.runs import Run, grouped, select
from experiments.lib.statistics import Estimate, student_mean, student_ratio

CONFIDENCE = 0.9
#: Queue drops per 1000 delivered packets, and what is added to each before a division, because some runs have
#: none. (At first one packet was added to each count; of two runs without drops, the one that delivered less
#: then missed the criterion.)
DROPS, DROPS_ADDED = "drops_per_1000", 0.1
#: Whether a transfer is alone or shares the queue with a competing transfer, and the value of the label.
SHARING = {"alone": 0, "shared": 1}
#: Counts of fast retransmits, by the true cause of the loss and by the cause that the classifier decided.
CALLS = tuple(
    f"{true}_called_{said}" for true in ("random", "congestion") for said in ("random", "congestion")
)
#: The senders in ns-3 (variants of the scenario files), and their titles, in the order of the page.
SENDERS = {
    "newreno": "NewReno",
    **{f"veno-{beta}": f"Veno, β {beta}" for beta in (3, 5, 10, 15, 20, 25)},
    "ml-hwang2018": "ML-TCP, the paper's",
    "ml-wide": "ML-TCP, wide",
    "ml-adaptive": "ML-TCP, adaptive",
    "ml-history": "ML-TCP, history",
    "ml-history-45": "ML-TCP, history at 0.45",
    "ml-past": "ML-TCP, history by the path",
    "ml-online": "ML-TCP, online",
    **{f"{name}-cut": f"ML-TCP, {name}, cut by probability" for name in ("history", "wide", "online")},
    "oracle": "NewReno with oracle",
    "westwood": "Westwood+",
    "westwood-linux": "Westwood+, as in Linux",
    "vegas": "Vegas, cut to 3/4",
    "vegas-linux": "Vegas, cut to 1/2",
    "cubic": "CUBIC",
    "cubic-history": "CUBIC, history",
    "cubic-past": "CUBIC, history by the path",
    "cubic-oracle": "CUBIC with oracle",
    "bbr": "BBR",
}
#: Titles of BASE and CLASSIFIER: a lab sender is "BASE+CLASSIFIER", or "BASE+none" without the module.
PLAIN = {"reno": "NewReno", "veno": "Veno", "vegas": "Vegas"} | {
    name: SENDERS[name] for name in ("cubic", "westwood", "bbr")
}
CLASSIFIERS = {"mlp/hwang2018": "the paper's", "mlp": "wide", "history:threshold=0.45": "history at 0.45"}
#: The labels that differ between network conditions, and the page's words for them, in the page's order.
CONDITION = {
    "queue_bdp": "queue BDP",
    "queue": "",
    "loss_burst_packets": "bursts of",
    "reorder_rate": "reordered",
    "queue_packets": "cellular trace, queue",
    "loss_rate": "loss",
    "beside_congestion_control": "beside",
}


def name_of(sender: str) -> str:
    """Returns the title that `sender` has on the pages, such as "ML-TCP, wide over CUBIC"."""
    base, _, classifier = sender.partition("+")
    if not classifier:
        return SENDERS.get(sender, sender)
    if classifier == "none":
        return PLAIN[base]
    short = classifier.partition(":")[0]
    over = "" if base == "reno" else f" over {PLAIN[base]}"
    return f"ML-TCP, {CLASSIFIERS.get(classifier) or CLASSIFIERS.get(short, short)}{over}"


def condition(labels: Mapping[str, Any]) -> str:
    """Returns a description of the network condition that the `labels` of a run give."""
    parts = []
    for key, word in CONDITION.items():
        if (value := labels.get(key)) is not None:
            shown = f"{value:g}" if isinstance(value, int | float) else str(value).removeprefix("Tcp")
            parts.append(f"{word} {shown}".strip())
    return ", ".join(parts)


class Sample(list[Run]):
    """A list of runs. A run's labels are its `sender` and the settings in which runs of a scenario differ; a
    label's name is the last part of the setting's, as `loss_rate` of `topology.loss_rate`."""

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Sample:
        return cls(replace(run, labels=_short(run), metrics={**run.metrics, **_derived(run)}) for run in runs)

    def at(self, sender: str = "", /, **columns: Any) -> Sample:
        """Returns the runs of `sender` ("": of all senders) that have the given values. Each keyword is the
        name of an attribute of `Run` or of a label."""
        return Sample(select(self, **columns, **({"sender": sender} if sender else {})))

    def senders(self) -> dict[str, Sample]:
        """Returns the runs of each sender, by its name, in the order of `SENDERS`."""
        found = grouped(self, lambda run: str(run.labels["sender"]))
        return {name: Sample(found[name]) for name in dict.fromkeys((*SENDERS, *found)) if name in found}

    def conditions(self) -> dict[str, Sample]:
        """Returns the runs of each network condition, by the description of the condition."""
        return {name: Sample(of) for name, of in grouped(self, lambda run: condition(run.labels)).items()}

    def shared_or_not(self) -> Iterator[tuple[str, Sample]]:
        """Yields the runs of each network condition, first of transfers alone and then of those that share
        the queue, after a description such as "alone, queue BDP 1"."""
        for words, beside in SHARING.items():
            for where, here in self.at(beside=beside).conditions().items():
                yield f"{words}, {where}", here

    def seeds(self) -> int:
        return len({run.run for run in self})

    def total(self, metric: str) -> float:
        return sum(run.metrics.get(metric, 0.0) for run in self)

    def mean(self, metric: str) -> Estimate:
        return student_mean([run.metrics[metric] for run in self if metric in run.metrics], CONFIDENCE)

    def over(
        self, base: Sequence[Run], metric: str, *, by: tuple[str, ...] = (), plus: float = 0.0
    ) -> Estimate:
        """Returns the geometric mean of the ratio of `metric` in these runs to `metric` in `base`, with
        `plus` (for `DROPS` always `DROPS_ADDED`) added to each value. Runs with the same number and the same
        labels `by` form a pair."""
        added = DROPS_ADDED if metric == DROPS else plus

        def values(runs: Sequence[Run]) -> dict[Hashable, float]:
            return {(r.run, *(r.labels[name] for name in by)): r.metrics[metric] + added for r in runs}

        return student_ratio(values(self), values(base), CONFIDENCE)

    def compare(self, sender: str, base: str, metric: str, **how: Any) -> Estimate:
        """Returns what `over` does with the options `how`, for the senders `sender` and `base`."""
        return self.at(sender).over(self.at(base), metric, **how)

    def over_text(self, base: Sequence[Run], metric: str, by: tuple[str, ...] = ()) -> str:
        """Returns what `over` does, as text, or "" if these runs do not have the `metric`."""
        return str(self.over(base, metric, by=by)) if metric in self[0].metrics else ""

    def calls(self) -> list[int]:
        """Returns the four counts of fast retransmits, in the order of `CALLS`."""
        return [round(self.total(name)) for name in CALLS]

    def accuracy(self) -> Estimate:
        """Returns the mean share of fast retransmits whose cause the classifier decided correctly."""
        calls = [Sample([run]).calls() for run in self]
        of = student_mean([(c[0] + c[3]) / sum(c) for c in calls if sum(c)], CONFIDENCE)
        return of if math.isnan(of.low) else Estimate(of.value, max(of.low, 0.0), min(of.high, 1.0))


def _derived(run: Run) -> dict[str, float]:
    """Returns those metrics of `run` that follow from the stored ones: `DROPS` (queue drops per 1,000
    delivered packets, both counted for both transfers if two share the queue), the number of fast retransmits
    for random losses, and the mean cwnd."""
    of, out = run.metrics, {}
    if "queue_dropped_packets" in of and "tcp" in run.parameters:  # a run in ns-3
        mbps = of["goodput_mbps"] + of.get("beside_goodput_mbps", 0.0)  # at most one transfer beside
        segment_bits = 8 * run.parameters["tcp"]["segment_bytes"]
        per_1000 = 1000 * segment_bits / (mbps * 1e6 * run.parameters["duration_s"]) if mbps else math.nan
        out[DROPS] = of["queue_dropped_packets"] * per_1000
    if all(name in of for name in CALLS[:2]):
        out["random_losses"] = of[CALLS[0]] + of[CALLS[1]]
    if "cwnd_bytes" in run.series:
        out["mean_cwnd_bytes"] = float(np.nanmean(run.series["cwnd_bytes"]))
    return out


def _short(run: Run) -> dict[str, Any]:
    labels = {key.rpartition(".")[2]: value for key, value in run.labels.items()}
    sender = labels.pop("variant", run.algorithm)
    return {"sender": sender} | {key: value for key, value in labels.items() if key not in ("timing", "tlp")}
