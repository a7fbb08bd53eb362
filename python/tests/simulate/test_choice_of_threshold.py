# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The threshold of `history`: the rule of calibration.toml on runs that are made up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tcplearn.papers.hwang2018 import calibration, runs
from tcplearn.papers.hwang2018.runs import Point
from tcplearn.simulate.results import RunStore


def made_up(sender: str, goodput: float, drops: float = 100.0, jain: float = 1.0) -> Iterator[Point]:
    for rate in (0.0, *calibration.LOSSY):
        for beside in (0, 1):
            for seed in (1, 2):
                metrics = {
                    "goodput_mbps": goodput,
                    "beside_goodput_mbps": 4.0 - goodput,
                    "queue_dropped_packets": drops,
                    "mean_rtt_ms": 50.0,
                    "jain_index": jain,
                }
                yield Point("calibration", sender, {"a.loss_rate": rate, "b.beside": beside}, seed, metrics)


def choice(monkeypatch: pytest.MonkeyPatch, *found: Point, planned: int = 0) -> list[calibration.Candidate]:
    def points(*_: object) -> tuple[list[Point], int]:
        return list(found), planned or len(found)

    monkeypatch.setattr(runs, "points", points)
    return calibration.candidates(Path(), "quick", RunStore(Path()), 0.9)


def test_the_most_goodput_without_harm_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    base = [*made_up("newreno", 1.0), *made_up("oracle", 2.0)]
    mild, bold = list(made_up("history-35", 1.5)), list(made_up("history-40", 1.8, drops=104.0))
    assert [c.threshold for c in choice(monkeypatch, *base, *mild, *bold)] == [0.35, 0.4]
    for worse in (made_up("history-50", 1.9, drops=106.0), made_up("history-50", 1.9, jain=0.94)):
        among = choice(monkeypatch, *base, *mild, *bold, *worse)
        assert [c.harmless for c in among] == [True, True, False]
        best = calibration.chosen(among)
        assert best is not None and (best.threshold, best.networks) == (0.4, 2)
        assert best.over_both.value == pytest.approx(0.9)
        assert best.neighbour.value == pytest.approx(1.1)
        table = calibration.table(among)
        assert table.count("chosen") == table.count("does harm") == 1


def test_nothing_is_chosen_where_a_run_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice(monkeypatch, *made_up("newreno", 1.0), planned=99) == []
