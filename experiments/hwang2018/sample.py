# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: runs by sender and condition, and what is computed of several of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments.lib.runs import Run, grouped, select
from experiments.lib.statistics import Estimate, student_mean, student_ratio

CONFIDENCE = 0.9
#: Fast retransmits by their true cause and by what the classifier called them.
CALLS = tuple(
    f"{true}_called_{said}" for true in ("random", "congestion") for said in ("random", "congestion")
)
#: Senders: in ns-3 variants of the scenario files, in their order on the page.
SENDERS = {
    "newreno": "NewReno",
    **{f"veno-{beta}": f"Veno, β {beta}" for beta in (5, 10, 15, 20, 25)},
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
#: In the lab "BASE+CLASSIFIER", or "BASE+none" without the module.
PLAIN = {"reno": "NewReno", "veno": "Veno"} | {
    name: SENDERS[name] for name in ("cubic", "westwood", "vegas", "bbr")
}
CLASSIFIERS = {"mlp/hwang2018": "the paper's", "mlp": "wide", "history:threshold=0.45": "history at 0.45"}
#: What differs between the conditions, as the page has it, in its order.
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
    """Returns the sender's name on the pages."""
    base, _, classifier = sender.partition("+")
    if not classifier:
        return SENDERS.get(sender, sender)
    if classifier == "none":
        return PLAIN[base]
    short = classifier.partition(":")[0]
    over = "" if base == "reno" else f" over {PLAIN[base]}"
    return f"ML-TCP, {CLASSIFIERS.get(classifier) or CLASSIFIERS.get(short, short)}{over}"


def condition(labels: Mapping[str, Any]) -> str:
    """Returns the condition of a run in words."""
    parts = []
    for key, word in CONDITION.items():
        if (value := labels.get(key)) is not None:
            shown = f"{value:g}" if isinstance(value, int | float) else str(value).removeprefix("Tcp")
            parts.append(f"{word} {shown}".strip())
    return ", ".join(parts)


class Sample(list[Run]):
    """Runs whose labels are `sender` and, by the last word of its key, each setting that differs."""

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Sample:
        return cls(replace(run, labels=_short(run)) for run in runs)

    def at(self, sender: str = "", /, **columns: Any) -> Sample:
        """Returns the runs of a sender, or of all, that have these values in columns or labels."""
        return Sample(select(self, **columns, **({"sender": sender} if sender else {})))

    def senders(self) -> dict[str, Sample]:
        """Returns each sender's runs, in the order of SENDERS."""
        found = grouped(self, lambda run: str(run.labels["sender"]))
        return {name: Sample(found[name]) for name in dict.fromkeys((*SENDERS, *found)) if name in found}

    def conditions(self) -> dict[str, Sample]:
        """Returns the runs of each condition, by its words."""
        return {name: Sample(of) for name, of in grouped(self, lambda run: condition(run.labels)).items()}

    def total(self, metric: str) -> float:
        return sum(run.metrics.get(metric, 0.0) for run in self)

    def mean(self, metric: str) -> Estimate:
        return student_mean([run.metrics[metric] for run in self if metric in run.metrics], CONFIDENCE)

    def over(
        self, base: Sequence[Run], metric: str, *, by: tuple[str, ...] = (), plus: float = 0.0
    ) -> Estimate:
        """Returns the geometric mean of a metric over that of `base`, in pairs of runs that have the same
        number, and the same value of the labels `by`. `plus` is added to each value."""

        def values(runs: Sequence[Run]) -> dict[Hashable, float]:
            return {(r.run, *(r.labels[name] for name in by)): r.metrics[metric] + plus for r in runs}

        return student_ratio(values(self), values(base), CONFIDENCE)

    def calls(self) -> list[int]:
        """Returns how many fast retransmits there are of each of CALLS."""
        return [round(self.total(name)) for name in CALLS]

    def accuracy(self) -> Estimate:
        """Returns the share of fast retransmits that were called what they are, over runs that have any."""
        calls = [Sample([run]).calls() for run in self]
        return student_mean([(c[0] + c[3]) / sum(c) for c in calls if sum(c)], CONFIDENCE)


def _short(run: Run) -> dict[str, Any]:
    labels = {key.rpartition(".")[2]: value for key, value in run.labels.items()}
    sender = labels.pop("variant", run.algorithm)
    return {"sender": sender} | {key: value for key, value in labels.items() if key not in ("timing", "tlp")}
