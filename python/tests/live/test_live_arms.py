# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the control group in the kernel: its connections keep stock timers, and both groups are measured."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from live_command import AT_ONCE, Room, ask, missing, room, server, sessions, until
from lossy_path import LossyPath, Spec

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

COUNT, EACH = 300, 6
STOCK_MS = 200.0


def _rto_ms(at: Room, path: LossyPath, count: int, each: int) -> list[float]:
    """Return the RTO in ms at the end of each connection."""
    rto_ms = json.loads(at.run(ask(path, count, 3, each=each)).stdout)["rto_ms"]
    return [max(rto_ms[i : i + each][-1:]) for i in range(0, len(rto_ms), each)]


def _arms(at: Room) -> tuple[dict[str, int], dict[str, int]]:
    (session,) = sessions(at)
    (one,) = (arm for arm in session["arms"] if 0.1 < arm["share"] < 0.9)
    return one["control"], one["ours"]


def test_both_arms_are_measured_and_the_control_group_stays_stock(tmp_path: Path) -> None:
    half = ("--ramp", "none", "--control-percent", 50)
    with LossyPath(Spec(rtt_ms=4, loss=0.05), tmp_path) as path, server(path), room() as at:
        assert at.live("start", *half, "--cgroup", at.cgroup).returncode == 0
        ends_ms = _rto_ms(at, path, COUNT, EACH)
        control, ours = _arms(at)
        place: dict[str, Any] = sessions(at)[0]["traffic"][0]
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
    stock = sum(ms > STOCK_MS for ms in ends_ms)
    assert control["connections"] + ours["connections"] == COUNT / EACH
    assert control["connections"] <= stock < COUNT / EACH, "no connection has a lower floor"
    assert 5 < ours["connections"] < 45
    for arm in (control, ours):
        assert arm["needed"] + arm["spurious"] == arm["resent"] <= arm["timers"]
        assert arm["needed"] > 0 and arm["wait_square"] >= arm["wait"] ** 2 / arm["connections"]
        assert arm["needed"] <= arm["needed_square"] <= arm["needed"] ** 2
        # each connection with a retransmission has one that was needed, or one that was spurious
        assert arm["resent_1"] <= arm["needed_square"] + arm["spurious_square"]
    assert control["wait"] > 2000 * control["needed"]  # units of 100 us: the kernel's floor
    assert ours["wait"] / ours["needed"] < control["wait"] / control["needed"]
    assert place["place"] == "10.77.0.0/24" and place["stock"]["connections"] == control["connections"]
    assert place["ours"]["needed"] == ours["needed"] and place["ours"]["wait"] == ours["wait"]


def test_first_copies_that_were_overtaken_are_late_and_not_lost(tmp_path: Path) -> None:
    """Test that a retransmission is spurious if the first copy, which it has overtaken, arrives later. The
    ACK of the retransmission looks like that after a loss; DSACK reports the first copy. The short floors
    learned on the calm path are given up within nine connections. Rounds at the end of a connection, after
    which no report can come, count as needed."""
    late = Spec(rtt_ms=4, calm=True, overtaken=0.02, late_ms=(130, 170))
    with LossyPath(late, tmp_path) as path, server(path), room() as at:
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
        until(lambda: _rto_ms(at, path, 200, 200)[-1] < 60, 60.0, "the floor does not fall")
        path.disturb()
        ends_ms = _rto_ms(at, path, 2400, 200)
        (session,) = sessions(at)
        assert path.end()["dropped"] == 0
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
    ours, place = session["arms"][-1]["ours"], session["traffic"][0]["ours"]
    assert 3 < ours["needed"] + ours["spurious"] == ours["resent"] == place["resent"]
    assert ours["spurious"] > ours["needed"], ours
    assert place["spurious"] == ours["spurious"] and place["needed"] == ours["needed"]
    assert min(ends_ms[9:]) > 100, ends_ms


def test_the_kill_switch_makes_new_connections_stock(tmp_path: Path) -> None:
    switch = tmp_path / "off"
    with LossyPath(Spec(rtt_ms=4), tmp_path) as path, server(path), room() as at:
        words = ("--control-percent", 0, "--kill-switch", switch, "--cgroup", at.cgroup)
        assert at.live("start", *AT_ONCE[:1], "steps", *words).returncode == 0
        switch.touch()
        time.sleep(1.5)
        assert "new connections have no learned floors: the kill switch is set" in at.live("status").stdout
        assert min(_rto_ms(at, path, 100, 50)) > STOCK_MS
        switch.unlink()
        time.sleep(1.5)
        (session,) = sessions(at)
        assert not session["guard"]["killed"] and 0 < session["guard"]["share"] < 0.02
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
