# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the tables of experiments/hwang2018 on senders that reduce their window by the probability of
congestion, with invented runs."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.hwang2018 import cut
from experiments.hwang2018.sample import Sample
from experiments.lib.runs import Run


def transfers(sender: str, queue: str, *goodput: float) -> Iterator[Run]:
    for seed, mbps in enumerate(goodput, 401):
        labels = {
            "variant": sender,
            "topology.queue": queue,
            "topology.loss_rate": 0.01,
            "load.beside": 0,
        }
        metrics = {"goodput_mbps": mbps, "drops_per_1000": 0.9, "mean_rtt_ms": 50.0}
        yield Run("ns3", "cut", "quick", "linux", seed, seed, labels, metrics=metrics)


def test_a_cut_is_compared_with_the_decisions_of_its_classifier() -> None:
    found = Sample.of(
        [
            *transfers("newreno", "codel", 1.0, 1.0),
            *transfers("ml-wide", "codel", 2.0, 2.0),
            *transfers("wide-cut", "codel", 3.0, 3.0),
            *transfers("newreno", "fq-codel", 2.0, 2.0),
            *transfers("ml-wide", "fq-codel", 4.0, 4.0),
            *transfers("wide-cut", "fq-codel", 24.0, 24.0),
        ]
    )
    each = [row for where, here in found.conditions().items() for row in cut.compared(here, where)]
    assert [row[0] for row in each] == ["codel, loss 0.01", "fq-codel, loss 0.01"]
    assert [row[1] for row in each] == ["ML-TCP, wide"] * 2
    assert [[cell.split(" ")[0] for cell in row[2:]] for row in each] == [
        ["1.50", "1.00", "1.00", "", "3.00", "1.00", "", ""],
        ["6.00", "1.00", "1.00", "", "12.00", "1.00", "", ""],
    ]
    (both,) = cut.together(found, "alone")
    assert both[2].startswith("3.00 (")  # √(1.5 · 6)


def test_the_page_has_a_table_of_all_conditions_and_one_of_each() -> None:
    runs = [
        run
        for sender in ("newreno", "oracle", "ml-history", "history-cut")
        for run in transfers(sender, "codel", 2.0, 4.0)
    ]
    filled = cut.fill(runs, cut.Path())
    assert filled["seeds"] == 2 and len(filled["together"]) == len(filled["each"]) == 1
    assert filled["each"][0][0] == "alone, codel, loss 0.01"
