# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what single fields of packets tell: Ethernet's source shows copies that a router forwarded, IP's
identification shows reordered packets, IP's hop limit shows a translation of addresses. And test what
`explain` says where a round trip is known from answers alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, BEFORE, HALF_US, PLACES, _calm
from talk import CLIENT, RTT_US, SERVER, Talk
from test_ordinary_captures import S, _run
from wire import Frame, Host, Wire, pcap

from tcplearn.explain import run, sentences


def _forwarded(frames: list[Frame], late_us: int) -> list[Frame]:
    """Return `frames` with a copy of each, which another host sent on `late_us` later."""
    copies = [(at + late_us, data[:6] + b"\4" * 6 + data[12:], size) for at, data, size in frames]
    return sorted([*frames, *copies], key=lambda frame: frame[0])


@pytest.mark.parametrize("stamped", [True, False])
def test_copies_that_another_host_forwarded_are_no_retransmissions(tmp_path: Path, stamped: bool) -> None:
    """Test a capture on a bridge, with packets whose IP identification is 0."""
    talk = Talk(numbered=False, stamped=stamped)
    talk.close(_calm(talk), ASKED, ANSWERED)
    path = tmp_path / "bridge.pcap"
    path.write_bytes(pcap(_forwarded(talk.frames(), 5000)))
    found = run([path])
    assert found.requests.height == BEFORE and found.stalls.height == 0
    assert found.connections["resent_segments"].sum() == 0


@pytest.mark.parametrize("numbered", [True, False])
def test_a_packet_that_was_overtaken_is_not_lost(tmp_path: Path, numbered: bool) -> None:
    """Test an answer whose first segment the path held back for 130 ms, without timestamps. Its IP
    identification shows that it was sent first; without this it counts as retransmitted."""
    talk = Talk(stamped=False, numbered=numbered, place=CLIENT)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    for k in range(3):
        talk.answer(at + HALF_US, ANSWERED + 100 * k, 100, ASKED + 200, held=(0.5, 0 if k else 130_000))
    for k in range(2):
        block = (ANSWERED + 100, ANSWERED + 200 + 100 * k)
        talk.client(at + RTT_US + 10 * k, ASKED + 200, 0, ANSWERED, blocks=(block,))
    talk.client(at + RTT_US + 130_010, ASKED + 200, 0, ANSWERED + 300)
    talk.close(at + S, ASKED + 200, ANSWERED + 300)
    found = _run(tmp_path, talk)
    assert (found.connections["resent_segments"].sum() == 0) == numbered
    assert ("lost_fast" in found.stalls["cause"].cast(str).to_list()) == (not numbered)


def test_a_large_gap_of_the_identification_is_no_loss(tmp_path: Path) -> None:
    """Test an answer after 38 s, before which the server's host has numbered eight other packets."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 200)
    talk._idents[False] += 8
    talk.answer(at + 38 * S, ANSWERED, 300, ASKED + 200)
    talk.close(at + 39 * S, ASKED + 200, ANSWERED + 300)
    assert _run(tmp_path, talk).stalls["cause"].cast(str).to_list() == ["server"]


def test_a_dsack_before_any_round_trip_is_known(tmp_path: Path) -> None:
    """Test a capture that begins with a lone segment of the server, its copy, an ACK of each."""
    talk = Talk(place=SERVER)
    talk.answer(1000, 1, 44, 1, held=(0.5, 400_000))
    talk.answer(370_000, 1, 44, 1)
    talk.client(390_000, 1, 0, 45)
    talk.client(401_000, 1, 0, 45, blocks=((1, 45),))
    causes = set(_run(tmp_path, talk).stalls["cause"].cast(str))
    assert causes == {"spurious"}


@pytest.mark.parametrize(("after_us", "cause"), [(33_000, set()), (RTT_US + 500, {"delayed_ack"})])
def test_data_that_came_before_the_ack_could_cause_it(tmp_path: Path, after_us: int, cause: set[str]) -> None:
    """Test a server that sends again after the delayed ACK left the client, sooner or later than a round
    trip."""
    talk = Talk(place=CLIENT)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 50, ASKED + 200)
    talk.client(at + RTT_US + 130_000, ASKED + 200, 0, ANSWERED + 50)
    talk.answer(at + RTT_US + 130_000 + after_us - HALF_US, ANSWERED + 50, 50, ASKED + 200)
    talk.close(at + S, ASKED + 200, ANSWERED + 100)
    found = _run(tmp_path, talk)
    assert {"delayed_ack"} & set(found.stalls["cause"].cast(str)) == cause


@pytest.mark.parametrize("opened", [True, False])
def test_a_round_trip_that_only_answers_show_is_not_known(tmp_path: Path, opened: bool) -> None:
    """Test equally fast answers on a connection whose handshake was captured or not."""
    talk = Talk(rtt_us=60_000)
    at = talk.exchanges(talk.open() if opened else 0, 8, pause_us=50_000)
    talk.client(at - 50_000, 1601, 0, 9)
    found = _run(tmp_path, talk)
    assert (found.total.slow_share("transfer") > 0.9) == opened
    assert (found.total.slow_share("unknown") > 0.9) == (not opened)
    assert any("nothing held it up" in line for line in sentences.of(found)) == opened


@pytest.mark.parametrize(
    ("server", "ttl", "cause"),
    [("203.0.113.5", 64, "unknown"), ("203.0.113.5", 63, "server"), ("10.0.0.2", 64, "server")],
)
def test_a_public_server_without_a_router_on_the_way_is_behind_a_relay(
    tmp_path: Path, server: str, ttl: int, cause: str
) -> None:
    """Test a router that ends connections, so that its ACK says nothing of the server."""
    talk = Talk(rtt_us=1000)
    talk.wire = Wire(client=Host("10.0.0.1", 40_000), server=Host(server, 80, ttl=ttl))
    at = talk.exchanges(talk.open(), 5)
    talk.client(at, 1001, 200, 6)
    talk.answer(at + 500, 6, 0, 1201)
    talk.answer(at + 900_000, 6, 100, 1201)
    talk.close(at + S, 1201, 106)
    assert _run(tmp_path, talk).total.slow_share(cause) > 0.9


@pytest.mark.parametrize("place", PLACES.values())
def test_an_answer_in_many_parts_may_be_a_stream(tmp_path: Path, place: float) -> None:
    """Test a stream of small messages, one each 300 ms, after a small request: nobody waits for most."""
    talk = Talk(place=place)
    at, answered = _calm(talk), ANSWERED
    talk.client(at, ASKED, 50, answered)
    for k in range(40):
        talk.answer(at + HALF_US + 300_000 * k, answered, 20, ASKED + 50)
        talk.client(at + RTT_US + 300_000 * k, ASKED + 50, 0, answered + 20)
        answered += 20
    talk.close(at + 13 * S, ASKED + 50, answered)
    lines = sentences.of(_run(tmp_path, talk))
    assert any("had begun to answer, and then paused. If the server sends" in line for line in lines)
    assert not any("after five seconds" in line for line in lines)
