# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Evaluates settings of the loss classifier `history` in ns-3, on networks that are not used in simulated.md.
`history` combines a neural network's outputs for a loss and for earlier losses of the connection. By the rule
in calibration.toml its threshold is chosen, and the weight of earlier losses is checked."""

from dataclasses import dataclass

from experiments.hwang2018.criteria import HARM, JAIN, NEIGHBOUR
from experiments.hwang2018.sample import SHARING, Sample
from experiments.lib.statistics import Estimate

LOSSY = (5e-3, 2e-2)
REORDERED = 0.01
DROPS, NEIGHBOURS = "queue_dropped_packets", "beside_goodput_mbps"


@dataclass(frozen=True)
class Candidate:
    """A value of a parameter of the loss classifier `history`, and ratios of the results of senders with this
    value. `drops` (at the queue), `rtt` (mean RTT) and `jain` (Jain's fairness index) are from runs without
    random loss. `drops` and `rtt` each have four ratios: alone, beside a competing transfer, and both of
    these with reordering; `jain` has two: without and with reordering. The ratios are to NewReno's results,
    those of `drops` with reordering to the oracle's."""

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
    """Returns a `Candidate` for each sender whose name begins with `prefix`. Returns [] if NewReno or the
    oracle has no runs, or if the senders do not all have the same number of runs."""
    by = found.senders()
    if len({len(runs) for runs in by.values()}) != 1 or not {"newreno", "oracle"} <= by.keys():
        return []
    return [_candidate(found, sender) for sender in sorted(by) if sender.startswith(prefix)]


def chosen(among: list[Candidate]) -> Candidate | None:
    harmless = [one for one in among if one.is_harmless]
    return max(harmless, key=lambda one: one.goodput[-1].value, default=None)


def table(found: Sample, prefix: str) -> list[list[str]]:
    """Returns a table row for each of the `candidates`, which says whether the rule in calibration.toml
    chooses it."""
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


def _candidate(found: Sample, sender: str) -> Candidate:
    clean = found.at(loss_rate=0.0)
    cases = [
        (clean.at(reorder_rate=rate, beside=beside), "oracle" if rate else "newreno")
        for rate in (None, REORDERED)
        for beside in SHARING.values()
    ]
    lossy = Sample(run for run in found if run.labels["loss_rate"] in LOSSY)
    alone, shared = lossy.at(beside=0), lossy.at(beside=1)
    ours, oracles = (
        {(run.run, run.labels["loss_rate"]): run.metrics[NEIGHBOURS] for run in shared.at(name)}
        for name in (sender, "oracle")
    )
    rates = [alone.at(loss_rate=rate).compare(sender, "oracle", "goodput_mbps") for rate in LOSSY]
    return Candidate(
        int(sender.rpartition("-")[2]) / 100,
        [case.at(sender).total(DROPS) / case.at(base).total(DROPS) for case, base in cases],
        [case.compare(sender, "newreno", "mean_rtt_ms").value for case, _ in cases],
        [case.compare(sender, "newreno", "jain_index").value for case, _ in cases[1::2]],
        shared.compare(sender, "oracle", NEIGHBOURS, by=("loss_rate",)),
        min(ours[run] / oracles[run] for run in ours),
        [*rates, alone.compare(sender, "oracle", "goodput_mbps", by=("loss_rate",))],
    )


def cubic(found: Sample) -> list[list[str]]:
    """Returns two table rows that compare CUBIC with the loss classifier `history` to CUBIC without it and to
    CUBIC with the oracle: on networks with randomly drawn queues, and on the same networks with CoDel.
    Returns [] if a compared sender lacks runs."""
    by = found.senders()
    if len({len(runs) for runs in by.values()}) != 1 or len(by) != 3:
        return []
    other_queues = {run.run for run in found if run.labels["queue"] != "codel"}
    drawn = Sample(r for r in found if r.labels["queue"] != "codel" or r.run not in other_queues)
    return [["as drawn", *_over_cubic(drawn)], ["CoDel", *_over_cubic(found.at(queue="codel"))]]


def _over_cubic(found: Sample) -> list[str]:
    own, plain, oracle = "cubic-history", "cubic", "cubic-oracle"
    clean, lossy = found.at(loss_rate=0.0), found.at(loss_rate=1e-2)
    each = [clean.at(beside=beside) for beside in SHARING.values()]
    out = [here.compare(own, plain, DROPS, plus=1) for here in each]
    out.append(clean.compare(own, plain, DROPS, by=("beside",), plus=1))
    out += [here.compare(own, plain, "mean_rtt_ms") for here in each]
    out.append(lossy.at(beside=0).compare(own, oracle, "goodput_mbps"))
    out.append(lossy.at(beside=1).compare(own, oracle, NEIGHBOURS))
    return [str(of) for of in out]
