# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of the first requests of a capture when only later packets show how long a round
trip takes, that something on the way acknowledges for the server, or how a host numbers its packets; and that
nothing changes at the packet from which on packets are read once."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import HALF_US, relayed
from talk import MIDDLE, RTT_US, Talk, explained
from test_ordinary_captures import S, _run


def _quick(talk: Talk, at: int, asked: int, answered: int) -> None:
    """Send three requests of 100 bytes that the server acknowledges and answers at once, and acknowledge
    their answers at once."""
    for _ in range(3):
        talk.client(at, asked, 100, answered)
        talk.answer(at + HALF_US, answered, 0, asked + 100)
        talk.answer(at + HALF_US + 100, answered, 50, asked + 100)
        talk.client(at + RTT_US + 100, asked + 100, 0, answered + 50)
        asked, answered, at = asked + 100, answered + 50, at + S


def test_a_slow_first_round_trip_is_not_the_shortest(tmp_path: Path) -> None:
    """Test a capture that begins with a request that the server answers after 300 ms, without an ACK before;
    later requests take a round trip of 40 ms."""
    talk = Talk()
    talk.client(0, 1, 100, 1)
    talk.answer(HALF_US + 260_000, 1, 50, 101)
    talk.client(RTT_US + 260_000, 101, 0, 51)
    _quick(talk, S, 101, 51)
    first = _run(tmp_path, talk).requests.sort("start_s").row(0, named=True)
    assert first["transfer_ms"] == pytest.approx(40, abs=5)
    assert first["unknown_ms"] == pytest.approx(260, abs=5)


def test_a_first_ack_that_is_delayed_is_not_the_shortest_round_trip_to_the_client(tmp_path: Path) -> None:
    """Test a capture between the hosts. The client delays the ACK of the first answer by 40 ms."""
    talk = Talk(place=MIDDLE)
    talk.client(0, 1, 100, 1)
    talk.answer(HALF_US, 1, 50, 101)
    talk.client(RTT_US + 40_000, 101, 0, 51)
    _quick(talk, S, 101, 51)
    first = _run(tmp_path, talk).requests.sort("start_s").row(0, named=True)
    assert first["response_ms"] == pytest.approx(40, abs=1)


def test_a_neighbour_shows_the_shortest_round_trip_to_the_client(tmp_path: Path) -> None:
    """Test a capture beside the client, which delays its only ACK in the first connection, and none in a
    later one."""
    early, later = Talk(), Talk(port=40_001)
    at = early.open()
    early.client(at, 1, 100, 1)
    early.answer(at + HALF_US, 1, 50, 101)
    early.client(at + RTT_US + 30_000, 101, 0, 51)
    _quick(later, later.open(S), 1, 1)
    first = explained(tmp_path, early, later).requests.sort("start_s").row(0, named=True)
    assert first["response_ms"] == pytest.approx(40, abs=1)


def test_a_relay_is_known_at_the_first_request(tmp_path: Path) -> None:
    """Test a proxy on the way, 1 ms from the client, which acknowledges requests to a server at 40 ms: the
    time until the answer may be the path's."""
    talk = Talk(rtt_us=1000)
    relayed(talk, 4)
    first = explained(tmp_path, talk).requests.sort("start_s").row(0, named=True)
    assert first["server_ms"] == 0 and first["unknown_ms"] == pytest.approx(40, abs=2)


def test_later_packets_show_that_a_host_numbers_its_packets(tmp_path: Path) -> None:
    """Test an answer that is lost twice before the capture point, at the beginning of a capture: later
    packets show that the IP identification counts the packets of the connection."""
    talk = Talk()
    at = talk.open()
    talk.client(at, 1, 100, 1)
    talk.answer(at + HALF_US, 1, 0, 101)
    for after_us in (2000, 242_000):
        talk.answer(at + HALF_US + after_us, 1, 50, 101, lost=0.9)
    talk.answer(at + HALF_US + 722_000, 1, 50, 101)
    talk.client(at + RTT_US + 722_000, 101, 0, 51)
    _quick(talk, at + S, 101, 51)
    (stall,) = explained(tmp_path, talk).stalls.iter_rows(named=True)
    assert (stall["cause"], stall["by"], stall["resends"]) == ("resend_lost", "server", 2)


def test_the_first_of_several_requests_keeps_its_ack(tmp_path: Path) -> None:
    """Test a request that the server acknowledges at once and answers after 150 ms, while the next request is
    on its way."""
    talk = Talk()
    at, asked, answered = talk.exchanges(talk.open(), 4), 801, 5
    talk.client(at, asked, 100, answered)
    talk.answer(at + HALF_US, answered, 0, asked + 100)
    talk.client(at + 140_000, asked + 100, 100, answered)
    talk.answer(at + 150_000, answered, 50, asked + 100)
    talk.answer(at + 161_000, answered + 50, 50, asked + 200)
    talk.client(at + 181_000, asked + 200, 0, answered + 100)
    talk.close(at + S, asked + 200, answered + 100)
    requests = explained(tmp_path, talk).requests.sort("start_s")
    first = requests.row(4, named=True)
    assert first["server_ms"] == pytest.approx(130, abs=2) and first["unknown_ms"] == 0


def test_the_packet_from_which_on_packets_are_read_once(tmp_path: Path) -> None:
    """Test a connection of more than 32,768 packets with lost requests before, at and after that number."""
    talk = Talk()
    at, lost = talk.open(), (10, 10_919, 10_920, 10_921, 11_500)
    for k in range(12_000):
        asked, answered = 1 + 10 * k, 1 + k
        talk.client(at, asked, 10, answered, lost=0.9 if k in lost else None)
        if k in lost:
            at += 240_000
            talk.client(at, asked, 10, answered)
        talk.answer(at + HALF_US, answered, 1, asked + 10)
        talk.client(at + RTT_US, asked + 10, 0, answered + 1)
        at += 50_000
    found = explained(tmp_path, talk)
    assert found.packets > 35_000 and found.total.requests == 12_000
    assert found.stalls["duration_ms"].to_list() == pytest.approx([240] * len(lost), abs=1)
    assert found.connections.height == 1


def test_the_ack_of_a_part_is_not_that_of_the_request(tmp_path: Path) -> None:
    """Test a request in two parts. The server acknowledges the first at once, and the second 150 ms late,
    right before its answer: it had not received the request before."""
    talk = Talk()
    at, asked, answered = talk.exchanges(talk.open(), 4), 801, 5
    talk.client(at, asked, 1, answered)
    talk.answer(at + HALF_US, answered, 0, asked + 1)
    talk.client(at + RTT_US + 1000, asked + 1, 100, answered)
    late = at + RTT_US + 1000 + HALF_US + 150_000
    talk.answer(late, answered, 0, asked + 101)
    talk.answer(late + 100, answered, 50, asked + 101)
    talk.client(late + 100 + HALF_US, asked + 101, 0, answered + 50)
    _quick(talk, at + S, asked + 101, answered + 50)
    requests = explained(tmp_path, talk).requests.sort("start_s")
    slowest = requests.row(int(requests["response_ms"].arg_max() or 0), named=True)
    assert slowest["server_ms"] < 5 and slowest["slow_path_ms"] == pytest.approx(150, abs=2)


def test_one_host_has_no_relay_to_itself(tmp_path: Path) -> None:
    """Test a connection within a host whose handshake took 8 ms because the machine was busy: the server's
    time is its own."""
    talk = Talk(rtt_us=50, server="10.0.0.1", own="10.0.0.1")
    talk.syn(0)
    talk.syn_ack(8000)
    talk.client(8100, 1, 0, 1)
    at, asked, answered = 9000, 1, 1
    for k in range(4):
        talk.client(at, asked, 100, answered)
        talk.answer(at + 40, answered, 0, asked + 100)
        talk.answer(at + (6000 if k == 0 else 100), answered, 50, asked + 100)
        talk.client(at + 6100, asked + 100, 0, answered + 50)
        asked, answered, at = asked + 100, answered + 50, at + S
    first = _run(tmp_path, talk).requests.sort("start_s").row(0, named=True)
    assert first["server_ms"] == pytest.approx(5.9, abs=0.3)


def test_an_ack_of_several_small_segments_may_be_delayed(tmp_path: Path) -> None:
    """Test three keys that the client sends at once, whose ACK the server delays by 150 ms, and a request
    that it answers 60 ms late half a second after that. Nothing shows that the path was slow then."""
    talk = Talk(stamped=False)
    at, asked, answered = talk.exchanges(talk.open(), 4), 801, 5
    for k in range(3):
        talk.client(at + 100 * k, asked + 9 * k, 9, answered)
    talk.answer(at + HALF_US + 150_000, answered, 0, asked + 27)
    talk.answer(at + HALF_US + 160_000, answered, 20, asked + 27)
    asked, answered, at = asked + 27, answered + 20, at + 700_000
    talk.client(at, asked, 9, answered)
    talk.answer(at + HALF_US + 60_000, answered, 20, asked + 9)
    talk.client(at + RTT_US + 61_000, asked + 9, 0, answered + 20)
    _quick(talk, at + S, asked + 9, answered + 20)
    stalls = explained(tmp_path, talk).stalls
    late = stalls.filter(stalls["start_s"] > at / S)["cause"].to_list()
    assert late and "slow_path" not in late
