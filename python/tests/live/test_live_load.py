# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that `tcplearn live` leaves nothing behind after many connections, as bench/live_load.py finds it."""

from __future__ import annotations

import sys

import pytest
from live_command import missing

from samples import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import live_held
import live_traffic
from live_criteria import met

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def test_nothing_is_left_of_500_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the program knows both ends of 500 connections, and of the 250 that are opened anew; that no
    table has more entries than it may have; and that nothing of it is left."""
    monkeypatch.setattr(live_held, "_SETTLED_S", 0.1)  # the memory of the kernel is not compared
    with live_traffic.made() as traffic:
        found = live_held.run(traffic, connections=500, addresses=50, live=True)
        assert (traffic.cgroup / "cgroup.procs").read_text() == ""
    assert not traffic.cgroup.exists()
    assert found["sockets"] == {"held": 1000, "churned": 1000, "closed": 0}
    assert found["counts"]["connections"] == 1500 and found["counts"]["no_memory"] == 0
    assert found["tables"]["hosts"] == (50, 8192)
    assert all(entries <= most for entries, most in found["tables"].values())
    assert found["left"] == []


def test_stock_keeps_no_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_held, "_SETTLED_S", 0.1)
    with live_traffic.made() as traffic:
        found = live_held.run(traffic, connections=20, addresses=2, live=False)
    assert found["sockets"] == {"held": 0, "churned": 0, "closed": 0}


def test_a_criterion_is_met_by_the_whole_interval() -> None:
    ends = ((0.97, 1.01), (0.98, 1.01), (0.90, 0.97))
    assert [met(low, high, least=0.98) for low, high in ends] == ["not decided", "yes", "no"]
    assert [met(low, high, most=0.98) for low, high in ends] == ["not decided", "not decided", "yes"]
