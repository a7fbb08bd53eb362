# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live` with dishonest or unusual peers: their own connections stay within bounds, and
connections to their neighbours are not affected. The peer makes its packets itself, so it can count needless
ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import small_talk
from live_command import AT_ONCE, Room, missing, room, sessions
from odd_peer import Odd, OddPeer
from test_live_kernel import STOCK_MS

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

REQUESTS = 200
ODD, NEIGHBOUR = "10.78.0.2", "10.78.0.3"
LEAST_MS = 8  # two ticks of a clock of 250 a second, the shortest floor


@dataclass
class Talk:
    """Holds the response times and RTOs at the near host, the program's counts, and the peer's counts."""

    ms: list[float]
    rto_ms: list[float]
    neighbours_rto_ms: float  # of a connection to a neighbour, at its first request
    counts: dict[str, int]
    peer: dict[str, int]


@contextlib.contextmanager
def _started(at: Room) -> Iterator[None]:
    assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
    yield


def talked(odd: Odd, folder: Path, pause_ms: float = 3, count: int = REQUESTS) -> Talk:
    def ask(address: str, count: int) -> dict[str, Any]:
        words = [small_talk.__file__, "ask", address, count, pause_ms, 1]
        done = at.run(peer.within(peer.near, "python3", *words))
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    with OddPeer(odd, folder) as peer, room() as at, _started(at):
        asked = ask(ODD, count)
        neighbours = ask(NEIGHBOUR, 1)
        (session,) = sessions(at)
        return Talk(asked["ms"], asked["rto_ms"], neighbours["rto_ms"][0], session["counts"], peer.end())


def within_bounds(of: Talk) -> None:
    """Check the bounds for every peer: all requests are answered, no RTO is below the shortest floor, and a
    connection to a neighbour begins with a stock timer, because one host's evidence does not affect
    others."""
    assert len(of.ms) == of.peer["requests"] - 1
    assert min(of.rto_ms) >= LEAST_MS
    assert of.neighbours_rto_ms > STOCK_MS
    assert of.counts["no_memory"] == of.counts["floors_refused"] == 0


def test_an_honest_peer_made_by_hand(tmp_path: Path) -> None:
    of = talked(Odd(), tmp_path)
    within_bounds(of)
    assert of.peer["requests"] == REQUESTS + 1 and of.peer["spurious"] == 0
    assert of.peer["ignored"] == of.counts["resent_needed"] > 3
    assert min(of.rto_ms) < STOCK_MS / 2


def test_an_echo_from_the_future_counts_as_none(tmp_path: Path) -> None:
    of = talked(Odd(echo_off_ms=5000), tmp_path)
    within_bounds(of)
    assert of.counts["resent_spurious"] == of.counts["resent_needed"] == of.counts["saved_us"] == 0
    assert 3 < of.counts["resent_unclear"] <= of.peer["ignored"]


@pytest.mark.full
def test_an_echo_from_long_ago_makes_the_peers_own_waits_long(tmp_path: Path) -> None:
    """Test a peer that echoes old timestamps. The kernel takes them for RTTs of its retransmitted segments,
    so its RTO grows."""
    of = talked(Odd(echo_off_ms=-5000), tmp_path, count=30)
    assert of.peer["ignored"] > 0
    within_bounds(of)
    assert of.counts["resent_needed"] == of.counts["saved_us"] == of.counts["floors_set"] == 0
    assert min(of.rto_ms) > STOCK_MS


def test_a_peer_that_denies_each_loss_gains_nothing(tmp_path: Path) -> None:
    """Test a peer that echoes timestamps from just before each retransmission, as if the first transmission
    had arrived."""
    of = talked(Odd(echo_off_ms=-4, loss=0.2), tmp_path)
    within_bounds(of)
    assert of.counts["resent_spurious"] > 10
    assert of.counts["resent_needed"] == of.counts["saved_us"] == 0


def test_duplicates_that_were_never_sent_change_nothing(tmp_path: Path) -> None:
    honest, of = (talked(Odd(dsack=dsack), tmp_path) for dsack in (False, True))
    within_bounds(of)
    assert of.counts["resent_spurious"] == 0
    assert of.counts["resent_needed"] == of.peer["ignored"] == honest.peer["ignored"]
    assert min(of.rto_ms) < STOCK_MS / 2


@pytest.mark.parametrize("kept_ms", [40, pytest.param(200, marks=pytest.mark.full)])
def test_acks_in_slots_cost_few_spurious_retransmissions(tmp_path: Path, kept_ms: float) -> None:
    """Test a peer that sends its ACKs in slots, so that answers take up to one slot longer. The needless
    segments stay within the budget of one in a hundred requests, with a few more for learning."""
    of = talked(Odd(kept_ms=kept_ms, loss=0.02), tmp_path, pause_ms=20, count=100)
    within_bounds(of)
    assert of.peer["spurious"] <= 3


def test_without_timestamps(tmp_path: Path) -> None:
    of = talked(Odd(timestamps=False), tmp_path)
    within_bounds(of)
    assert 3 < of.counts["resent_unclear"] <= of.peer["ignored"]
    assert of.counts["resent_needed"] == of.counts["resent_spurious"] == 0
