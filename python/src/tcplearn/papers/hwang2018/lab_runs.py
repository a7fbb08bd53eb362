# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018 in the real kernel: the lab's rows as the runs that the simulated page computes with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcplearn.lab.scenario import Scenario
from tcplearn.papers.hwang2018.runs import Point

#: Over what the classifiers run; a sender's name is "BASE+CLASSIFIER", or "CC+none" without the module.
BASES = {"reno": "NewReno", "cubic": "CUBIC"}
_CLASSIFIERS = {
    "mlp/hwang2018": "the paper's",
    "mlp": "wide",
    "adaptive": "adaptive",
    "history:threshold=0.45": "history at 0.45",
}
_PLAIN = {
    "reno": "NewReno",
    "cubic": "CUBIC",
    "veno": "Veno",
    "westwood": "Westwood+",
    "vegas": "Vegas",
    "bbr": "BBR",
}
BBR = "bbr+none"

Row = Mapping[str, Any]


def name(sender: str) -> str:
    """On the page."""
    base, _, what = sender.partition("+")
    if what == "none":
        return _PLAIN[base]
    classifier = what.partition(":")[0]
    over = "" if base == "reno" else f" over {BASES[base]}"
    return f"ML-TCP, {_CLASSIFIERS.get(what) or _CLASSIFIERS.get(classifier, classifier)}{over}"


def decides(sender: str) -> bool:
    return not sender.endswith("+none")


def base(sender: str) -> str:
    """The plain sender that a classifier runs over."""
    return f"{sender.partition('+')[0]}+none"


def points(scenario: Scenario, rows: Sequence[Row]) -> list[Point]:
    """One for each run and sender."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    commits: dict[tuple[str, int], str] = {}
    for row in rows:
        key = (row["algorithm"], row["seed"])
        commits[key] = row["commit"]
        values = found.setdefault(key, {})
        if row["value"] is not None:
            values[row["metric"]] = row["value"]
    at = {"loss_rate": loss_rate(scenario)}
    return [
        Point(scenario.name, sender, at, seed, metrics, commit=commits[sender, seed])
        for (sender, seed), metrics in found.items()
    ]


def loss_rate(scenario: Scenario) -> float:
    """Random loss of the last hop; of bursts the mean."""
    forward = scenario.path.hops[-1].forward
    if forward.bursts and forward.bursts.kind == "packets":
        return forward.bursts.mean_loss
    return forward.loss_percent / 100


def plain_path(scenario: Scenario) -> bool:
    """Of Figure 5, with every sender."""
    return scenario.name.startswith("lab-loss-")
