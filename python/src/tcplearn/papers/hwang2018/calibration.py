# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: how the threshold of `history` was chosen, and its weight of the past checked, by the rule that
calibration.toml states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tcplearn.jobs import Kept
from tcplearn.output.markdown import table_of
from tcplearn.papers.hwang2018 import runs
from tcplearn.papers.hwang2018.limits import HARM, JAIN, NEIGHBOUR
from tcplearn.papers.hwang2018.runs import Estimate, Point, of, ratio

LOSSY = (5e-3, 2e-2)
REORDERED = 0.01


@dataclass(frozen=True)
class Choice:
    """Between variants of a file, named by a hundredfold value: history-35."""

    file: str
    prefix: str
    what: str


THRESHOLD = Choice("calibration", "history-", "threshold")
PAST = Choice("calibration-past", "past-", "weight of the past")


@dataclass(frozen=True)
class Candidate:
    """A value in the closed loop. drops, rtt: without random loss, over NewReno's, alone and beside it,
    then the same under reordering, the drops there over the oracle's; jain: over that of two NewReno, then
    the same under reordering."""

    value: float
    networks: int
    drops: list[float]
    rtt: list[float]
    jain: list[float]
    neighbour: Estimate  # over beside the oracle, both loss rates
    goodput: list[Estimate]  # over the oracle's, at each loss rate
    over_both: Estimate

    @property
    def harmless(self) -> bool:
        return (
            max(*self.drops, *self.rtt) <= HARM
            and min(self.jain) >= JAIN
            and self.neighbour.value >= NEIGHBOUR
        )


def candidates(
    folder: Path, profile: str, kept: Kept, confidence: float, choice: Choice = THRESHOLD
) -> list[Candidate]:
    """By the runs on disk; none where one is missing."""
    if not (folder / f"{choice.file}.toml").exists():
        return []
    found, planned = runs.points(folder, profile, kept, (choice.file,))
    if len(found) != planned:
        return []
    senders = dict.fromkeys(p.sender for p in found if p.sender.startswith(choice.prefix))
    return [_candidate(found, sender, confidence) for sender in senders]


def chosen(among: Sequence[Candidate]) -> Candidate | None:
    return max((c for c in among if c.harmless), key=lambda c: c.over_both.value, default=None)


def _candidate(found: Sequence[Point], sender: str, confidence: float) -> Candidate:
    def over(who: str, metric: str, beside: int, *rates: float, reordered: float | None = None) -> Estimate:
        # a seed is a network; at two loss rates it is two pairs
        own, other = (
            [
                p.numbered(p.seed * len(rates) + i)
                for i, rate in enumerate(rates)
                for p in _at(found, name, beside, rate, reordered)
            ]
            for name in (sender, who)
        )
        value = ratio(own, other, metric, confidence)
        if value is None:
            raise ValueError(f"no runs of {sender} and {who}")
        return value

    def drops(beside: int, reordered: float | None) -> float:
        own, other = (
            sum(p.metrics["queue_dropped_packets"] for p in _at(found, name, beside, 0.0, reordered))
            for name in (sender, "oracle" if reordered else "newreno")
        )
        return own / other

    cases = [(beside, reordered) for reordered in (None, REORDERED) for beside in (0, 1)]
    return Candidate(
        int(sender.rpartition("-")[2]) / 100,
        len({p.seed for p in found}),
        [drops(beside, reordered) for beside, reordered in cases],
        [over("newreno", "mean_rtt_ms", b, 0.0, reordered=reordered).value for b, reordered in cases],
        [over("newreno", "jain_index", 1, 0.0, reordered=r).value for r in (None, REORDERED)],
        over("oracle", "beside_goodput_mbps", 1, *LOSSY),
        [over("oracle", "goodput_mbps", 0, rate) for rate in LOSSY],
        over("oracle", "goodput_mbps", 0, *LOSSY),
    )


def _at(
    found: Sequence[Point], sender: str, beside: int, rate: float, reordered: float | None
) -> list[Point]:
    # one file's runs at a time: the scenario is its
    scenario = found[0].scenario
    return of(found, scenario, sender, loss_rate=rate, beside=beside, reorder_rate=reordered)


def table(among: Sequence[Candidate], choice: Choice = THRESHOLD) -> str:
    best = chosen(among)
    rows = []
    for c in among:
        verdict = "chosen by the rule" if c is best else "" if c.harmless else "does harm"
        rows.append(
            [
                f"{c.value:g}",
                " / ".join(f"{x:.3f}" for x in c.drops),
                " / ".join(f"{x:.3f}" for x in c.rtt),
                " / ".join(f"{x:.3f}" for x in c.jain),
                c.neighbour.shown(),
                *(x.shown(3) for x in c.goodput),
                c.over_both.shown(3),
                verdict,
            ]
        )
    goodputs = (f"goodput × the oracle's at {rate:g}" for rate in LOSSY)
    head = (
        choice.what,
        "drops × NewReno's, reordered × the oracle's",
        "RTT × NewReno's",
        "Jain's index × two NewReno's",
    )
    return table_of((*head, "neighbour × beside the oracle", *goodputs, "at both", ""), rows)
