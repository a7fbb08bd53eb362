# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that connections with a host are careful together: where they lose much, a connection that has lost
nothing keeps Linux's floor too. A few losses change nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_command import AT_ONCE, Room, ask, missing, room, server, sessions
from lossy_path import LossyPath, Spec

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

MANY = 24  # connections at once
HEAVY, CALM_AFTER = 0.3, 700  # share of packets lost, and packets with data after which none is


@pytest.fixture
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LossyPath]:
    loss, lossy_packets = request.param
    spec = Spec(rtt_ms=10, loss=loss, lossy_packets=lossy_packets)
    with LossyPath(spec, tmp_path) as made, server(made):
        yield made


def _lowered(at: Room, path: LossyPath, connections: int, requests: int) -> tuple[int, int, int]:
    """Send `requests` on each of `connections` at once. Return the rounds, those with a learned floor, and
    those that had Linux's floor only because of the losses of all connections, so far."""
    words = ask(path, requests, 5)
    asking = [at.popen(words, stdout=subprocess.DEVNULL) for _ in range(connections)]
    assert [process.wait(timeout=60) for process in asking] == [0] * connections
    counts = sessions(at)[0]["counts"]
    return counts["rounds"], counts["rounds_lowered"], counts["rounds_host_careful"]


@pytest.mark.parametrize("path", [(HEAVY, CALM_AFTER)], indirect=True)
def test_connections_with_a_host_are_careful_together(path: LossyPath) -> None:
    with room() as at:
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
        rounds, lowered, careful = _lowered(at, path, MANY, 25)
        assert rounds > 600 and lowered / rounds < 0.05
        # From here on nothing is lost. A connection's own share of losses, which it has from its place, falls
        # below the limit after some 40 rounds; that of the host is above it for all of these 200.
        _, lowered_then, careful_then = _lowered(at, path, 2, 100)
    more_lowered, more_careful = lowered_then - lowered, careful_then - careful
    assert more_lowered == 0 and more_careful >= 100, (more_lowered, more_careful)


@pytest.mark.parametrize("path", [(0.02, 0)], indirect=True)
def test_a_few_losses_hold_nobody_back(path: LossyPath) -> None:
    with room() as at:
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
        rounds, lowered, careful = _lowered(at, path, MANY, 60)
    assert lowered / rounds > 0.3 and careful == 0, (lowered / rounds, careful)
