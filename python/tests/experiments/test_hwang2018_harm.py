# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test on which runs experiments/hwang2018 judges its criteria of harm, and its tables of the paper's
numbers."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator

from experiments.hwang2018 import criteria, published
from experiments.hwang2018.sample import Sample
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run

METRICS = ("queue_dropped_packets", "mean_rtt_ms", "jain_index", "beside_goodput_mbps", "drops_per_1000")


def harm(sender: str, clean: float, lossy: float) -> Iterator[Run]:
    """Yield runs of `sender` in which every metric is `clean` without random loss and `lossy` with it."""
    for rate, beside, seed in itertools.product((0.0, 1e-2), (0, 1), (101, 102)):
        labels = {"variant": sender, "topology.loss_rate": rate, "load.beside": beside}
        metrics = dict.fromkeys(METRICS, lossy if rate else clean)
        yield Run("ns3", "harm", "quick", "linux", seed, seed, labels, metrics=metrics)


def test_harm_without_random_loss_is_judged_on_runs_without_it() -> None:
    runs = [*harm("newreno", 1.0, 1.0), *harm("oracle", 1.0, 2.0), *harm("bbr", 1.0, 2.0)]
    found = Sample.of([*runs, *harm("westwood", 1.0, 1.0), *harm("ml-history", 3.0, 8.0)])
    ours = {row[0]: row[3] for row in criteria.rows(found) if row[1] == "ML-TCP, history"}
    for who, what in itertools.product(("alone", "shared"), ("drops", "mean RTT")):
        assert ours[f"no random loss, {who}: {what} over the plain sender's"].startswith("3.00 ")
    assert ours["no random loss, shared: Jain's index"].startswith("3.00 ")
    assert ours["random loss, shared: neighbour's goodput over that beside the oracle"].startswith("4.00 ")


def table(sender: str, rate: float, *calls: int) -> Run:
    names = ("random_called_random", "random_called_congestion", "congestion_called_random")
    metrics = dict(zip((*names, "congestion_called_congestion"), map(float, calls), strict=True))
    labels = {"variant": sender, "topology.loss_rate": rate, "topology.rtt_ms": 60.0}
    return Run(
        "ns3", published.TABLES, "quick", "linux", 1, 1, labels, metrics={**metrics, "goodput_mbps": 2.0}
    )


def test_counts_are_in_the_papers_order() -> None:
    runs = [table("veno-5", 1e-2, 5, 3, 1, 4), table("ml-hwang2018", 1e-2, 9, 1, 0, 0)]
    found = Sample.of([*runs, table("veno-5", 1e-3, 1, 2, 3, 4)])
    (veno, ml) = published.tables(found)
    assert veno == ["60", "Veno, β 5", "1 / 2 / 3 / 4", "5 / 3 / 1 / 4"] and ml[3] == "9 / 1 / 0 / 0"
    ratios = published.ratio_to_veno(found.at(loss_rate=1e-2))
    assert ratios == {"goodput": "1.00", "retransmits": "0.77"}  # 10 of 13
    assert published.ratio_to_veno(found.at(loss_rate=1e-3)) == {}


def test_packets_that_the_papers_random_losses_need() -> None:
    with (ROOT / "experiments" / "hwang2018" / "published-tables.csv").open(newline="") as file:
        paper = published.counts(list(csv.DictReader(file)))
    rows = {row[0]: row[1:] for row in published.packets_needed(paper)}
    assert rows["Veno, β 5"] == ["70 ± 26", "104 ± 10", "78 ± 3", "not printed"]  # 7, 104 and 782 losses
    assert rows["ML-TCP, the paper's"][2] == "60 ± 2" and rows["Veno, β 25"][2] == "321 ± 6"
