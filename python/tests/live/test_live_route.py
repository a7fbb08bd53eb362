# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live` where a route has an rto_min of its own. The kernel takes it in place of a socket's
floor (tcp_rto_min()), so nothing may be counted as lowered or saved."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_command import AT_ONCE, Room, ask, missing, room, server, sessions, until
from lossy_path import LossyPath, Spec
from test_live_kernel import STOCK_MS

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

LOSSY = Spec(rtt_ms=5, loss=0.05)


@pytest.fixture
def at() -> Iterator[Room]:
    with room() as found:
        assert found.live("start", *AT_ONCE, "--cgroup", found.cgroup).returncode == 0
        yield found


def _route(path: LossyPath, *words: str) -> None:
    """Change the near host's own route to the address of the far host by `ip route`."""
    verb, *more = words
    route = ["ip", "-n", path.near, "route", verb, path.address, "dev", "path"]
    subprocess.run([*route, *more, *path.congestion_control], check=True)


def _counts(at: Room) -> dict[str, int]:
    found: dict[str, int] = sessions(at)[0]["counts"]
    return found


@pytest.mark.parametrize("ipv6", [False, True])
def test_nothing_is_counted_as_gained_on_a_route_with_an_rto_min(
    at: Room, tmp_path: Path, ipv6: bool
) -> None:
    with LossyPath(Spec(rtt_ms=5, loss=0.05, ipv6=ipv6), tmp_path) as path, server(path):
        _route(path, "replace", "rto_min", f"{STOCK_MS}ms")
        asked: dict[str, Any] = json.loads(at.run(ask(path, 60, 3, each=30)).stdout)
        routed = _counts(at)
        _route(path, "del")
        assert at.run(ask(path, 30, 3)).returncode == 0
        after = _counts(at)
    assert min(asked["rto_ms"]) > STOCK_MS and max(asked["ms"]) > STOCK_MS  # the route's rto_min is in force
    assert {name for name, count in routed.items() if count} == {"connections_fixed"}
    assert routed["connections_fixed"] == after["connections_fixed"] == 2
    assert after["connections"] == 1 and after["rounds"] > 20


def test_a_route_gets_an_rto_min_while_a_connection_is_open(at: Room, tmp_path: Path) -> None:
    """Test that an open connection is no longer learned from once its route has an rto_min, and that its
    requests are answered all the same."""
    with LossyPath(LOSSY, tmp_path) as path, server(path):
        running = at.popen(ask(path, 600, 3), stdout=subprocess.PIPE)
        until(lambda: _counts(at)["rounds_lowered"] > 0, 60.0)
        _route(path, "replace", "rto_min", f"{STOCK_MS}ms")
        time.sleep(0.1)  # the next segment looks the route up
        before = _counts(at)
        output = running.communicate(timeout=300)[0]
        after = _counts(at)
    assert len(json.loads(output)["ms"]) == 600
    assert 0 < before["rounds"] < 500
    assert after == before


def test_check_counts_such_routes(tmp_path: Path) -> None:
    ask = "from tcplearn.live.conditions import found; print(*(line.text for line in found()))"
    with LossyPath(LOSSY, tmp_path) as path:
        _route(path, "replace", "rto_min", "300ms")
        shown = subprocess.run(
            path.within(path.near, sys.executable, "-c", ask), capture_output=True, text=True
        )
    assert "1 have an rto_min of their own, which overrides learned floors" in shown.stdout, shown
