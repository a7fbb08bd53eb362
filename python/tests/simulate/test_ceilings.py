# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: the table of bars that the plain sender or the oracle misses, from runs that are made up."""

from __future__ import annotations

from collections.abc import Iterator

from tcplearn.papers.hwang2018 import ceilings
from tcplearn.papers.hwang2018.runs import Point


def made_up(sender: str, loss_rate: float, jain: float, neighbour: float) -> Iterator[Point]:
    for seed in (1, 101, 102):  # 1 was used for a choice
        known = seed > 100
        metrics = {"jain_index": jain if known else 0.1, "beside_goodput_mbps": neighbour if known else 9.0}
        yield Point("harm", sender, {"a.loss_rate": loss_rate, "b.beside": 1}, seed, metrics)


def test_who_misses_what() -> None:
    found = [
        *made_up("newreno", 0.0, 0.8, 2.0),
        *made_up("oracle", 0.0, 0.96, 2.0),
        *made_up("ml-history", 0.0, 0.9, 2.0),
        *made_up("newreno", 0.01, 1.0, 3.0),
        *made_up("oracle", 0.01, 1.0, 1.0),
        *made_up("ml-history", 0.01, 1.0, 1.5),
        *made_up("bbr", 0.01, 1.0, 2.0),
    ]
    text = "\n".join(ceilings.section(found, 0.9))
    assert (
        "ours reaches it in 0 of 1 conditions, the oracle in 1, the two plain senders in 0." in text
        and "ours reaches it in 0 of 1 conditions, the oracle in 0, the plain sender in 1." in text
    )
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| loss")]
    assert [[cell.split(" ")[0] for cell in row[1:]] for row in rows] == [
        ["0.90", "0.96", "0.80", "1.12"],
        ["0.75", "0.50", "1.50"],
    ]


def test_nothing_without_runs() -> None:
    assert list(ceilings.section([], 0.9)) == []
