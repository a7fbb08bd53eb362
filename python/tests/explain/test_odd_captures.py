# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of traffic and captures that are easily mistaken for losses: packets that were
captured twice, window probes, delayed ACKs, handshakes that both ends repeat, and senders that are not
Linux."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import thin
from scenes import ASKED, BEFORE, HALF_US, SCENES, _calm, _served
from talk import RTT_US, SERVER, Talk, explained
from wire import FIN, Frame, pcap

from tcplearn.explain import Explained, run
from tcplearn.explain.model import held_up

ANSWERED = 1 + BEFORE


def _mirrored(folder: Path, frames: list[Frame], after_us: int, times: int = 1) -> Explained:
    """Return the result for a capture that has each of `frames` again, `times` times, each `after_us` later
    than the one before."""
    every = [(at + after_us * k, data, wire) for at, data, wire in frames for k in range(times + 1)]
    path = folder / "mirrored.pcap"
    path.write_bytes(pcap(sorted(every, key=lambda frame: frame[0])))
    return run([path])


@pytest.mark.parametrize("scene", ["request_lost", "lost_in_the_middle", "delayed_ack", "slow_server"])
@pytest.mark.parametrize("after_us", [0, 300, 5000, 30_000])
def test_packets_that_were_captured_twice(tmp_path: Path, scene: str, after_us: int) -> None:
    """Test captures that have each packet twice, as those of a mirror port before and behind a router: they
    give what a capture with each packet once gives."""
    talk = Talk()
    SCENES[scene](talk)
    once = explained(tmp_path, talk)
    twice = _mirrored(tmp_path, talk.frames(), after_us)
    for name in ("requests", "stalls"):
        assert (
            getattr(twice, name).drop("server", "client").equals(getattr(once, name).drop("server", "client"))
        )
    assert twice.connections["resent_segments"].equals(once.connections["resent_segments"])


def test_packets_without_ip_numbers_that_were_captured_four_times(tmp_path: Path) -> None:
    talk = Talk(numbered=False)
    _calm(talk)
    found = _mirrored(tmp_path, talk.frames(), 10, times=3)
    assert found.stalls.is_empty()
    assert found.connections["resent_segments"].to_list() == [0]
    assert found.requests.height == BEFORE


def test_window_probes_are_no_losses(tmp_path: Path) -> None:
    """Test a client that probes a closed window with a byte that is new to the server, three times, before
    the window opens and the server takes it."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 1448, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 1448, window=0)
    closed_us = at + HALF_US
    for k in range(1, 4):
        probed = at + 300_000 * k
        talk.client(probed, ASKED + 1448, 1, ANSWERED)
        talk.answer(probed + HALF_US, ANSWERED, 0, ASKED + 1448, window=0)
    opened = at + 1_200_000
    talk.answer(opened, ANSWERED, 0, ASKED + 1448)
    talk.client(opened + HALF_US, ASKED + 1448, 600, ANSWERED)
    _served(talk, opened + RTT_US, request=2048)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "window_closed"
    assert stall["duration_ms"] == pytest.approx((opened - closed_us) / 1e3, abs=5)


def test_a_window_probe_that_is_accepted(tmp_path: Path) -> None:
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 1448, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 1448, window=0)
    talk.client(at + 300_000, ASKED + 1448, 1, ANSWERED)
    talk.answer(at + 300_000 + HALF_US, ANSWERED, 0, ASKED + 1449)
    talk.client(at + 300_000 + RTT_US, ASKED + 1449, 600, ANSWERED)
    _served(talk, at + 300_000 + RTT_US + HALF_US, request=2049)
    found = explained(tmp_path, talk)
    assert found.stalls["cause"].to_list() == ["window_closed"]
    assert found.connections["resent_segments"].to_list() == [0]


def test_the_first_of_several_lost_segments_gives_the_cause(tmp_path: Path) -> None:
    """Test five segments that are lost at once. The timer repairs the first, whose retransmission is lost
    twice, and the others, which waited a little longer, follow."""
    talk = Talk()
    at = _calm(talk)
    for k in range(5):
        talk.client(at + 100 * k, ASKED + 1448 * k, 1448, ANSWERED, lost=0.9)
    for after in (300_000, 900_000, 2_100_000):
        talk.client(at + after, ASKED, 1448, ANSWERED, lost=None if after > 2_000_000 else 0.9)
    last = at + 2_100_000 + RTT_US
    talk.answer(last - HALF_US, ANSWERED, 0, ASKED + 1448)
    for k in range(1, 5):
        talk.client(last + 100 * k, ASKED + 1448 * k, 1448, ANSWERED)
    _served(talk, last + HALF_US + 400, request=5 * 1448)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert (stall["cause"], stall["resends"]) == ("resend_lost", 3)
    assert stall["duration_ms"] == pytest.approx(2100 + RTT_US / 1e3, abs=2)


def test_new_data_before_the_ack_could_arrive_did_not_wait_for_it(tmp_path: Path) -> None:
    """Test a client that sends the next part of a request 5 ms after a delayed ACK passed the server, where
    the client is 20 ms away: it did not wait for this ACK."""
    talk = Talk(place=SERVER)
    at = _calm(talk)
    talk.client(at, ASKED, 100, ANSWERED)
    acked = at + HALF_US + 150_000
    talk.answer(acked, ANSWERED, 0, ASKED + 100)
    talk.client(acked - HALF_US + 5000, ASKED + 100, 100, ANSWERED)
    _served(talk, acked + 5000)
    assert "delayed_ack" not in explained(tmp_path, talk).stalls["cause"].to_list()


def test_a_handshake_that_the_servers_own_timer_ended(tmp_path: Path) -> None:
    """Test a handshake in which both ends retransmit and only the server's last SYN-ACK arrives, three
    seconds after the client's last SYN."""
    talk = Talk(place=SERVER, stamped=False)
    for at in (0, 1_000_000):
        talk.syn(at)
        talk.syn_ack(at + HALF_US, lost=0.1)
    talk.syn_ack(4_000_000)
    done = 4_000_000 + HALF_US
    talk.client(done, 1, 0, 1)
    talk.close(talk.exchanges(done, BEFORE), ASKED, ANSWERED)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "syn_ack_lost"
    assert stall["duration_ms"] == pytest.approx(4000 - HALF_US / 1e3, abs=1)


def test_a_block_that_reports_a_fin(tmp_path: Path) -> None:
    """Test an answer of four segments with a FIN, of which all but the last are lost. The last is probed, and
    a SACK block with the FIN reports it."""
    talk = Talk(place=SERVER)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += HALF_US
    for k in range(4):
        flags = FIN if k == 3 else 0
        talk.answer(at + 100 * k, ANSWERED + 1448 * k, 1448, ASKED + 200, flags=flags, lost=0.1)
    tail = ANSWERED + 3 * 1448
    probed = at + 80_000
    talk.answer(probed, tail, 1448, ASKED + 200, flags=FIN)
    talk.client(probed + HALF_US, ASKED + 200, 0, ANSWERED, blocks=((tail, tail + 1449),))
    again = probed + RTT_US
    for k in range(3):
        talk.answer(again + 100 * k, ANSWERED + 1448 * k, 1448, ASKED + 200)
    talk.client(again + 300 + HALF_US, ASKED + 200, 0, tail + 1449)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert stall["cause"] == "tail_probe"


def test_no_advice_for_a_sender_that_is_not_linux(tmp_path: Path) -> None:
    """Test a sender whose timer waits three times as long as that of Linux."""
    talk = Talk()
    thin.traffic(talk, 1, 1500, 0.03, "stock:rto_min_us=700000")
    found = explained(tmp_path, talk)
    assert found.advice is not None and found.advice.chosen is None
    assert "not that of Linux" in found.advice.why


@pytest.mark.parametrize("seed", range(20))
def test_overlaps_of_stalls_and_requests_are_those_of_every_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def drawn(count: int, lasts: str) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "source": rng.integers(0, 2, count).astype(np.uint32),
                "connection": rng.integers(0, 3, count).astype(np.uint32),
                "start_s": rng.integers(0, 30, count) / 10,
                lasts: rng.integers(0, 900, count).astype(float),
            }
        )

    requests, stalls = drawn(int(rng.integers(0, 40)), "response_ms"), drawn(25, "duration_ms")
    twin = {
        (k, n): overlap
        for k, stall in enumerate(stalls.iter_rows(named=True))
        for n, request in enumerate(requests.iter_rows(named=True))
        if (stall["source"], stall["connection"]) == (request["source"], request["connection"])
        and (
            overlap := min(
                1e3 * stall["start_s"] + stall["duration_ms"],
                1e3 * request["start_s"] + request["response_ms"],
            )
            - 1e3 * max(stall["start_s"], request["start_s"])
        )
        > 1e-6
    }
    found = held_up(requests, stalls).select("stall", "request", "overlap_ms").rows()
    assert {(k, n): ms for k, n, ms in found} == pytest.approx(twin)
    assert len(found) == len(twin)
