# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Evaluates settings of the loss classifier `history` in ns-3, on networks that are not used in simulated.md.
`history` combines a neural network's outputs for a loss and for earlier losses of the connection. By the rule
in calibration.toml its threshold is chosen, and the weight of earlier losses is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from experiments.hwang2018.criteria import HARM, JAIN, NEIGHBOUR
from experiments.hwang2018.sample import Sample
from experiments.lib.runs import Run
from experiments.lib.statistics import Estimate

LOSSY = (5e-3, 2e-2)
REORDERED = 0.01
DROPS = "queue_dropped_packets"


@dataclass(frozen=True)
class Candidate:
    """A value of a parameter of the loss classifier `history`, and the results of senders with this value.
    `drops` (at the queue), `rtt` (mean RTT) and `jain` (Jain's fairness index) are ratios to NewReno in runs
    without random loss. `drops` and `rtt` each have four ratios: for a transfer alone, for one beside a
    competing transfer, and for both of these with reordering. With reordering, `drops` has ratios to the
    oracle, which knows each loss's cause. `jain` has two: beside a competing transfer, without and with
    reordering."""

    value: float
    drops: list[float]
    rtt: list[float]
    jain: list[float]
    neighbour: Estimate  # goodput of a competing NewReno / that beside the oracle; both loss rates
    least_neighbour: float  # the smallest such ratio on one network at one loss rate
    goodput: list[Estimate]  # relative to the oracle's: at each loss rate, then at both together

    @property
    def is_harmless(self) -> bool:
        worst = max(*self.drops, *self.rtt)
        return worst <= HARM and min(self.jain) >= JAIN and self.neighbour.value >= NEIGHBOUR


def candidates(found: Sample, prefix: str) -> list[Candidate]:
    """Returns a `Candidate` for each sender whose name begins with `prefix`; these senders use variants of
    the loss classifier `history`. Returns [] if NewReno or the oracle has no runs, or if the senders do not
    all have the same number of runs."""
    by = found.senders()
    if len({len(runs) for runs in by.values()}) != 1 or not {"newreno", "oracle"} <= by.keys():
        return []
    return [_candidate(by, sender) for sender in sorted(by) if sender.startswith(prefix)]


def chosen(among: list[Candidate]) -> Candidate | None:
    harmless = [one for one in among if one.is_harmless]
    return max(harmless, key=lambda one: one.goodput[-1].value, default=None)


def table(found: Sample, prefix: str) -> list[list[str]]:
    """Returns a list of table rows, one for each value of a parameter of the loss classifier `history`. A row
    has ratios of results with this value to those of NewReno or of the oracle (which knows each loss's
    cause), and says whether the rule in calibration.toml chooses the value. The names of the senders in
    `found` that use `history` begin with `prefix`."""
    among = candidates(found, prefix)
    best = chosen(among)
    return [
        [
            f"{one.value:g}",
            *(" / ".join(f"{x:.3f}" for x in values) for values in (one.drops, one.rtt, one.jain)),
            f"{one.neighbour}, {one.least_neighbour:.2f}",
            *(of.shown(3) for of in one.goodput),
            "chosen by the rule" if one is best else "" if one.is_harmless else "does harm",
        ]
        for one in among
    ]


def _candidate(by: dict[str, Sample], sender: str) -> Candidate:
    own, newreno, oracle = by[sender], by["newreno"], by["oracle"]
    cases: list[dict[str, Any]] = [
        {"loss_rate": 0.0, "reorder_rate": rate, "beside": beside}
        for rate in (None, REORDERED)
        for beside in (0, 1)
    ]
    bases = [oracle if case["reorder_rate"] else newreno for case in cases]

    def lossy(runs: Sample, beside: int) -> Sample:
        return Sample(run for run in runs.at(beside=beside) if run.labels["loss_rate"] in LOSSY)

    def neighbour(runs: Sample, like: Run) -> float:
        (run,) = lossy(runs, 1).at(run=like.run, loss_rate=like.labels["loss_rate"])
        return run.metrics["beside_goodput_mbps"]

    alone, base = lossy(own, 0), lossy(oracle, 0)
    rates = [alone.at(loss_rate=rate).over(base.at(loss_rate=rate), "goodput_mbps") for rate in LOSSY]
    return Candidate(
        int(sender.rpartition("-")[2]) / 100,
        [own.at(**c).total(DROPS) / to.at(**c).total(DROPS) for c, to in zip(cases, bases, strict=True)],
        [own.at(**c).over(newreno.at(**c), "mean_rtt_ms").value for c in cases],
        [own.at(**c).over(newreno.at(**c), "jain_index").value for c in cases if c["beside"]],
        lossy(own, 1).over(lossy(oracle, 1), "beside_goodput_mbps", by=("loss_rate",)),
        min(neighbour(own, run) / neighbour(oracle, run) for run in lossy(own, 1)),
        [*rates, alone.over(base, "goodput_mbps", by=("loss_rate",))],
    )


def cubic(found: Sample) -> list[list[str]]:
    """Returns a list of two table rows that compare two CUBIC senders, one with the loss classifier `history`
    and one without: a row for networks with randomly drawn queues, and a row for the same networks with
    CoDel. Returns [] if a compared sender lacks runs."""
    by = found.senders()
    if len({len(runs) for runs in by.values()}) != 1 or len(by) != 3:
        return []
    codel = found.at(queue="codel")
    others = {run.run for run in found} - {run.run for run in found if run.labels["queue"] != "codel"}
    drawn = Sample(run for run in found if run.labels["queue"] != "codel" or run.run in others)
    return [["as drawn", *_over_cubic(drawn)], ["CoDel", *_over_cubic(codel)]]


def _over_cubic(found: Sample) -> list[str]:
    clean, lossy = found.at(loss_rate=0.0), found.at(loss_rate=1e-2)
    own, plain = (clean.at(name) for name in ("cubic-history", "cubic"))
    pairs = [(own.at(beside=beside), plain.at(beside=beside)) for beside in (0, 1)]
    out = [one.over(base, DROPS, plus=1) for one, base in pairs]
    out.append(own.over(plain, DROPS, by=("beside",), plus=1))
    out += [one.over(base, "mean_rtt_ms") for one, base in pairs]
    ours, oracle = (lossy.at(name) for name in ("cubic-history", "cubic-oracle"))
    out.append(ours.at(beside=0).over(oracle.at(beside=0), "goodput_mbps"))
    out.append(ours.at(beside=1).over(oracle.at(beside=1), "beside_goodput_mbps"))
    return [str(of) for of in out]
