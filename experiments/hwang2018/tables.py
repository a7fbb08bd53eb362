# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes what tables 1 and 2 of hwang2018 (decisions of loss classifiers by true cause) imply about the
paper's runs. Also computes the same tables from our runs with the queue and the rate that the paper's numbers
suggest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from experiments.hwang2018.sample import CALLS, Sample, name_of

SCENARIO = "tables"
LOSSY = (1e-4, 1e-3, 1e-2, 1e-1)
Published = Mapping[tuple[str, float], Sequence[int]]


def published(rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, float], list[int]]:
    """Returns a dict with a list of numbers for each pair of a sender and a random loss rate: the numbers of
    fast retransmits that the paper hwang2018 prints, by the true cause of the loss and the cause that the
    sender decided, in the order of `CALLS`. `rows` are those of published-tables.csv."""
    return {(row["sender"], float(row["loss_rate"])): [int(row[name]) for name in CALLS] for row in rows}


def packets_needed(paper: Published) -> list[list[str]]:
    """Returns a list of table rows, one for each sender. A row has, for each random loss rate of `LOSSY`, how
    many thousand packets would on average have as many random losses as hwang2018 counts (`paper`), plus or
    minus the standard deviation of this estimate."""

    def shown(sender: str, rate: float) -> str:
        if (sender, rate) not in paper:
            return "not printed"
        random = sum(paper[sender, rate][:2])
        return f"{random / rate / 1e3:.0f} ± {math.sqrt(random) / rate / 1e3:.0f}"

    senders = dict.fromkeys(sender for sender, _ in paper)
    return [[name_of(sender), *(shown(sender, rate) for rate in LOSSY)] for sender in senders]


def ours(found: Sample) -> list[list[str]]:
    """Returns a list of table rows, one for each RTT and sender. A row has, for each random loss rate, the
    numbers of fast retransmits by the true cause of the loss and the cause that the classifier decided, in
    the order of `CALLS`, summed over all seeds. `found` has our runs."""
    rows = []
    for rtt in sorted({run.labels["rtt_ms"] for run in found}, reverse=True):
        of_rtt = found.at(rtt_ms=rtt)
        rates = sorted({run.labels["loss_rate"] for run in of_rtt})
        for sender, own in of_rtt.senders().items():
            counts = (" / ".join(map(str, own.at(loss_rate=rate).calls())) for rate in rates)
            rows.append([f"{rtt:g}", name_of(sender), *counts])
    return rows


def ratio_to_veno(found: Sample) -> dict[str, str]:
    """Returns two ratios as text, by the names "goodput" and "retransmits": the goodput and the number of
    fast retransmits of ML-TCP (the sender of hwang2018), divided by those of Veno with β = 5. The runs
    `found` are under one condition. Returns an empty dict if one of the two senders has no runs."""
    own, veno = found.at("ml-hwang2018"), found.at("veno-5")
    if not own or not veno or not sum(veno.calls()):
        return {}
    ratio = sum(own.calls()) / len(own) / (sum(veno.calls()) / len(veno))
    return {"goodput": f"{own.over(veno, 'goodput_mbps').value:.2f}", "retransmits": f"{ratio:.2f}"}
