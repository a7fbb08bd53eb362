# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The threshold of `history`: the rule of calibration.toml on runs that are made up."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from tcplearn.papers.hwang2018 import calibration, runs
from tcplearn.papers.hwang2018.runs import Point
from tcplearn.simulate.results import RunStore

FOLDER = ROOT / "papers" / "hwang2018"
CONDITIONS = [
    *({"a.loss_rate": rate} for rate in (0.0, *calibration.LOSSY)),
    {"a.loss_rate": 0.0, "a.reorder_rate": calibration.REORDERED},
]


def made_up(
    sender: str, goodput: float, drops: float = 100.0, jain: float = 1.0, reordered: float = 100.0
) -> Iterator[Point]:
    for at, beside, seed in itertools.product(CONDITIONS, (0, 1), (1, 2)):
        metrics = {
            "goodput_mbps": goodput,
            "beside_goodput_mbps": 4.0 - goodput,
            "queue_dropped_packets": reordered if "a.reorder_rate" in at else drops,
            "mean_rtt_ms": 50.0,
            "jain_index": jain,
        }
        yield Point("calibration", sender, {**at, "b.beside": beside}, seed, metrics)


def choice(monkeypatch: pytest.MonkeyPatch, *found: Point, planned: int = 0) -> list[calibration.Candidate]:
    def points(*_: object) -> tuple[list[Point], int]:
        return list(found), planned or len(found)

    monkeypatch.setattr(runs, "points", points)
    return calibration.candidates(FOLDER, "quick", RunStore(Path()), 0.9)


def test_the_most_goodput_without_harm_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    base = [*made_up("newreno", 1.0), *made_up("oracle", 2.0)]
    mild, bold = list(made_up("history-35", 1.5)), list(made_up("history-40", 1.8, drops=104.0))
    assert [c.value for c in choice(monkeypatch, *base, *mild, *bold)] == [0.35, 0.4]
    for harm in ({"drops": 106.0}, {"jain": 0.94}, {"reordered": 106.0}):
        worse = made_up("history-50", 1.9, **harm)
        among = choice(monkeypatch, *base, *mild, *bold, *worse)
        assert [c.harmless for c in among] == [True, True, False]
        best = calibration.chosen(among)
        assert best is not None and (best.value, best.networks) == (0.4, 2)
        assert best.over_both.value == pytest.approx(0.9)
        assert best.neighbour.value == pytest.approx(1.1)
        table = calibration.table(among)
        assert table.count("chosen") == table.count("does harm") == 1


def test_nothing_is_chosen_where_a_run_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice(monkeypatch, *made_up("newreno", 1.0), planned=99) == []
