# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: the table of calibration-cubic.toml's networks, from runs that are made up."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from tcplearn.papers.hwang2018 import kept_cubic, runs
from tcplearn.papers.hwang2018.runs import Point
from tcplearn.simulate.results import RunStore

FOLDER = ROOT / "papers" / "hwang2018"
QUEUE, RATE = {"topology.queue": "codel"}, "topology.loss_rate"


def made_up(sender: str, drops_behind_codel: float) -> Iterator[Point]:
    """A drawn network may have CoDel too: which grid a run is of shows in the order alone."""
    for rate, beside, seed in itertools.product((0.0, kept_cubic.LOSSY), (0, 1), (1, 2)):
        for forced in (True, False):
            at = {**QUEUE, RATE: rate} if forced else {RATE: rate, **QUEUE}
            drops = drops_behind_codel if forced else 0.0
            metrics = {"queue_dropped_packets": drops, "mean_rtt_ms": 50.0, "goodput_mbps": 2.0}
            metrics["beside_goodput_mbps"] = 3.0
            yield Point(kept_cubic.FILE, sender, {**at, "load.beside": beside}, seed, metrics)


def test_each_grid_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [*made_up("cubic", 9.0), *made_up("cubic-oracle", 9.0), *made_up("cubic-history", 19.0)]
    monkeypatch.setattr(runs, "points", lambda *_: (found, len(found)))
    title, text, table = kept_cubic.section(FOLDER, "quick", RunStore(Path()), 0.9)
    assert title.startswith("## ") and text.startswith("2 networks")
    drawn, codel = table.splitlines()[-2:]
    assert drawn.count("1.00 (1.00 to 1.00)") == 7
    assert codel.count("2.00 (2.00 to 2.00)") == 3 and codel.count("1.00 (1.00 to 1.00)") == 4


def test_nothing_where_a_run_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(made_up("cubic", 9.0))
    monkeypatch.setattr(runs, "points", lambda *_: (found, len(found) + 1))
    assert list(kept_cubic.section(FOLDER, "quick", RunStore(Path()), 0.9)) == []
