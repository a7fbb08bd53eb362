# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of long polls, of receipts of several kinds, of captures without pure ACKs, of
relays for one port of a server, and of copies that are reported before any round trip is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, HALF_US, _calm, relayed
from talk import RTT_US, Talk, explained
from test_ordinary_captures import S, _run
from wire import RST, Host, Wire, sack

from tcplearn.explain import sentences

POLL = "answers when there is news (long polling)"


@pytest.mark.parametrize(
    ("wait_s", "again_us", "bytes_", "says"),
    [(30, 4000, 257, True), (30, 100_000, 257, False), (6, 4000, 257, False), (30, 4000, 1300, False)],
)
def test_requests_that_are_sent_again_after_their_answer_are_perhaps_polls(
    tmp_path: Path, wait_s: int, again_us: int, bytes_: int, says: bool
) -> None:
    """Test requests of 700 bytes that the server answers late, with `bytes_`; the client sends the next one
    at once, or after a while. The last one is not answered."""
    talk = Talk()
    at, asked, answered = talk.open(), 1, 1
    for k in range(4):
        talk.client(at, asked, 700, answered)
        talk.answer(at + HALF_US, answered, 0, asked + 700)
        asked += 700
        if k == 3:
            break
        talk.answer(at + HALF_US + wait_s * S, answered, bytes_, asked)
        answered += bytes_
        at += RTT_US + wait_s * S + again_us
    found = _run(tmp_path, talk)
    assert found.total.requests == 3
    assert any(POLL in line for line in sentences.of(found)) == says
    assert found.advice and (POLL in found.advice.why) == says


def test_receipts_are_told_from_other_messages_by_their_bytes(tmp_path: Path) -> None:
    """Test receipts of 79 bytes for events that come every 4 s, on a connection with many messages of 30
    bytes that the client also sends soon after data of the server, and that are answered at once."""
    talk = Talk()
    at, asked, answered = talk.exchanges(talk.open(), 1), 201, 2
    for k in range(24):
        size, pause_us = (79, 4 * S) if k % 4 == 3 else (30, 0)
        talk.client(at, asked, size, answered)
        talk.answer(at + HALF_US, answered, 0, asked + size)
        asked += size
        talk.answer(at + HALF_US + 1000 + pause_us, answered, 63, asked)
        talk.client(at + RTT_US + 1000 + pause_us, asked, 0, answered + 63)
        at, answered = at + RTT_US + 11_000 + pause_us, answered + 63
    talk.close(at + S, asked, answered)
    found = _run(tmp_path, talk)
    assert found.total.parts[0].cause == "server"
    assert any("as soon as data of the server had arrived" in line for line in sentences.of(found))


@pytest.mark.parametrize("acks", [False, True])
def test_a_pause_of_the_client_begins_a_request_also_without_pure_acks(tmp_path: Path, acks: bool) -> None:
    """Test requests, then small messages that need no answer, half a second apart, and then one that the
    server answers after two seconds, with the ACKs in the capture or filtered out."""
    talk = Talk(rtt_us=1000)
    at, asked, answered = talk.exchanges(0, 4), 801, 5
    for _ in range(5):
        talk.client(at, asked, 24, answered)
        if acks:
            talk.answer(at + 500, answered, 0, asked + 24)
        at, asked = at + S // 2, asked + 24
    talk.answer(at - S // 2 + 500 + 2 * S, answered, 300, asked)
    talk.client(at + 3 * S, asked, 24, answered + 300)
    talk.answer(at + 3 * S + 500, answered + 300, 10, asked + 24)
    slowest = _run(tmp_path, talk).requests.sort("response_ms").row(-1, named=True)
    assert slowest["request_bytes"] == 24
    assert slowest["response_ms"] == pytest.approx(2000, abs=10)


@pytest.mark.parametrize("pause_ms", [220, 900])
def test_a_request_in_two_parts_before_anything_was_acknowledged(tmp_path: Path, pause_ms: int) -> None:
    """Test a request whose second part comes after a pause shorter than the round trip, at the beginning of a
    connection: its time begins with the first part."""
    talk = Talk(rtt_us=1_000_000)
    at = talk.open()
    talk.client(at, 1, 100, 1)
    talk.client(at + pause_ms * 1000, 101, 100, 1)
    talk.answer(at + pause_ms * 1000 + 500_000, 1, 50, 201)
    talk.client(at + pause_ms * 1000 + S, 201, 0, 51)
    (request,) = _run(tmp_path, talk).requests.iter_rows(named=True)
    assert request["response_ms"] == pytest.approx(pause_ms + 1000, abs=1)


def _answered_late(talk: Talk, at: int) -> None:
    """Send requests that the server acknowledges after a round trip, one of them only 54 ms after that."""
    for k in range(4):
        talk.client(at, 1 + 200 * k, 200, 1 + 300 * k)
        talk.answer(at + HALF_US + (54_000 if k == 2 else 0), 1 + 300 * k, 300, 201 + 200 * k)
        at += 200_000


def test_the_round_trip_to_a_relay_is_not_that_of_other_ports(tmp_path: Path) -> None:
    """Test a proxy of port 80 on the way, whose ACKs come in 1 ms, and port 443 of the same server, to which
    a round trip takes 40 ms."""
    plain, proxied = Talk(port=40_000), Talk(rtt_us=1000, port=40_001)
    plain.wire = Wire(client=Host("10.0.0.1", 40_000), server=Host("10.0.0.2", 443, isn=5_000_000))
    begun = relayed(proxied, 5)
    _answered_late(plain, plain.open(begun + 500_000))
    late = explained(tmp_path, plain, proxied).requests.sort("start_s").row(-2, named=True)
    assert late["response_ms"] == pytest.approx(94, abs=1)
    assert late["transfer_ms"] == pytest.approx(40, abs=5)


def test_a_duplicate_is_reported_before_any_round_trip_is_known(tmp_path: Path) -> None:
    """Test a capture that begins with a request whose answer is late on the path. It overtakes the ACK that
    the client's copy causes, which comes a round trip of 140 ms after that copy."""
    talk = Talk(stamped=False, rtt_us=140_000)
    talk.client(0, 1, 43, 1)
    talk.client(515_000, 1, 43, 1)
    talk.wire.send(541_000, talk.wire.server, 1, 174, ack=44)
    talk.client(594_000, 44, 0, 175)
    talk.wire.send(780_000, talk.wire.server, 175, 0, ack=44, options=_dsack(talk, 43, 44))
    for k in range(3):
        talk.client((45 + k) * S, 44 + 43 * k, 43, 175 + 174 * k)
        talk.answer((45 + k) * S + HALF_US, 175 + 174 * k, 174, 87 + 43 * k)
    found = _run(tmp_path, talk)
    assert set(found.stalls["cause"].cast(str)) <= {"spurious"}
    assert int(found.connections["needless_segments"].sum()) == 1


def _dsack(talk: Talk, left: int, right: int) -> bytes:
    return sack((talk.wire.client.isn + left, talk.wire.client.isn + right))


@pytest.mark.parametrize(("ttl", "cause"), [(64, "slow_path"), (128, "unknown")])
def test_another_system_may_hold_an_ack_back_also_with_timestamps(
    tmp_path: Path, ttl: int, cause: str
) -> None:
    """Test an ACK that comes 150 ms late, of a server whose hop limit is that of Linux or another one."""
    talk = Talk()
    talk.wire = Wire(client=Host("10.0.0.1", 40_000), server=Host("10.0.0.2", 80, isn=5_000_000, ttl=ttl))
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US + 150_000, ANSWERED, 0, ASKED + 200)
    talk.answer(at + HALF_US + 900_000, ANSWERED, 1, ASKED + 200)
    talk.close(at + S, ASKED + 200, ANSWERED + 1)
    last = _run(tmp_path, talk).requests.sort("start_s").row(-1, named=True)
    assert last[f"{cause}_ms"] == pytest.approx(150, abs=2)


@pytest.mark.parametrize(("ttl", "cause"), [(128, "unknown"), (64, "server"), (57, "server")])
def test_a_public_server_beside_a_private_client_is_behind_a_relay(
    tmp_path: Path, ttl: int, cause: str
) -> None:
    """Test a capture between a virtual machine and its host, which acknowledges within 0.05 ms in the place
    of public servers; or at a public server beside its client, both with Linux."""
    talk = Talk(rtt_us=150, place=0.6)
    talk.wire = Wire(client=Host("10.0.0.1", 40_000), server=Host("93.184.216.34", 80, ttl=ttl))
    at = talk.open()
    for k in range(5):
        talk.client(at, 1 + 200 * k, 200, 1 + 100 * k)
        talk.answer(at + 75, 1 + 100 * k, 0, 201 + 200 * k)
        talk.answer(at + 90_000, 1 + 100 * k, 100, 201 + 200 * k)
        talk.client(at + 90_200, 201 + 200 * k, 0, 101 + 100 * k)
        at += 200_000
    assert _run(tmp_path, talk).total.slow_share(cause) > 0.9


def test_an_ack_of_an_older_connection_answers_a_syn(tmp_path: Path) -> None:
    """Test a server that still has an older connection between the same ports, and sends its ACK for each
    SYN (a challenge ACK, RFC 5961), to which the client sends a RST."""
    talk = Talk()
    for at in (0, S, 3 * S):
        talk.syn(at)
        talk.answer(at + HALF_US, 500, 0, 900_000_000)
        talk.client(at + RTT_US, 900_000_000, 0, None, flags=RST)
    found = _run(tmp_path, talk)
    assert not found.unanswered.height and not found.stalls.height
    assert not any("no answer to any SYN" in line for line in sentences.of(found))
