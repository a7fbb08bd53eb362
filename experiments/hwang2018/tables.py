# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes what the paper's tables 1 and 2 imply about its runs, and our tables with the setting that they
suggest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from experiments.hwang2018.sample import CALLS, Sample, name_of

SCENARIO = "tables"
LOSSY = (1e-4, 1e-3, 1e-2, 1e-1)
Published = Mapping[tuple[str, float], Sequence[int]]


def published(rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, float], list[int]]:
    """Returns the paper's counts in the order of `CALLS`, by sender and random loss rate."""
    return {(row["sender"], float(row["loss_rate"])): [int(row[name]) for name in CALLS] for row in rows}


def packets_needed(paper: Published) -> list[list[str]]:
    """Returns a row for each sender: for each random loss rate of `LOSSY`, how many thousand packets would
    have as many random losses on average as the paper counts, plus or minus the standard deviation of this
    estimate."""

    def shown(sender: str, rate: float) -> str:
        if (sender, rate) not in paper:
            return "not printed"
        random = sum(paper[sender, rate][:2])
        return f"{random / rate / 1e3:.0f} ± {math.sqrt(random) / rate / 1e3:.0f}"

    senders = dict.fromkeys(sender for sender, _ in paper)
    return [[name_of(sender), *(shown(sender, rate) for rate in LOSSY)] for sender in senders]


def ours(found: Sample) -> list[list[str]]:
    """Returns a row for each RTT and sender: its counts of fast retransmits, as in `CALLS`, by random loss
    rate, over all seeds."""
    rows = []
    for rtt in sorted({run.labels["rtt_ms"] for run in found}, reverse=True):
        of_rtt = found.at(rtt_ms=rtt)
        rates = sorted({run.labels["loss_rate"] for run in of_rtt})
        for sender, own in of_rtt.senders().items():
            counts = (" / ".join(map(str, own.at(loss_rate=rate).calls())) for rate in rates)
            rows.append([f"{rtt:g}", name_of(sender), *counts])
    return rows


def ratio_to_veno(found: Sample) -> dict[str, str]:
    """Returns ML-TCP's goodput and number of fast retransmits relative to those of Veno with β = 5, in runs
    `found` under one condition; {} if a sender has no run."""
    own, veno = found.at("ml-hwang2018"), found.at("veno-5")
    if not own or not veno or not sum(veno.calls()):
        return {}
    ratio = sum(own.calls()) / len(own) / (sum(veno.calls()) / len(veno))
    return {"goodput": f"{own.over(veno, 'goodput_mbps').value:.2f}", "retransmits": f"{ratio:.2f}"}
