# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of captures of other people: connections within one host, connections whose SYN
was not captured, servers without SACK, captures without times, and keep-alives of programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, HALF_US, _calm
from talk import RTT_US, Talk
from test_ordinary_captures import S, _run
from wire import Host, Wire, pcap

from tcplearn.explain import run, sentences
from tcplearn.traces import TraceError


def test_between_two_programs_of_a_host_short_times_are_the_servers(tmp_path: Path) -> None:
    """Test answers after 0.4 ms where a round trip takes 20 us."""
    talk = Talk(rtt_us=20)
    at, asked, answered = talk.open(), 1, 1
    for _ in range(20):
        talk.client(at, asked, 100, answered)
        talk.answer(at + 12, answered, 0, asked + 100)
        talk.answer(at + 410, answered, 300, asked + 100)
        at, asked, answered = at + 5000, asked + 100, answered + 300
    found = _run(tmp_path, talk)
    assert found.total.slow_share("server") > 0.9


@pytest.mark.parametrize(
    ("ports", "client"), [((3389, 1059), 1059), ((3389, 443), 3389), ((40_000, 50_000), 50_000)]
)
def test_the_client_in_the_middle_of_a_connection(
    tmp_path: Path, ports: tuple[int, int], client: int
) -> None:
    """Test which end of a connection without a captured SYN is the client: that with the higher port, unless
    the other, above 1023, is not that of a known service."""
    talk = Talk()
    talk.wire = Wire(client=Host("10.0.0.1", ports[1]), server=Host("10.0.0.2", ports[0]))
    at = talk.exchanges(0, 5)
    talk.client(at, 1001, 0, 6)
    (row,) = _run(tmp_path, talk).connections.iter_rows(named=True)
    assert row["client"].endswith(f":{client}")


def test_without_sack_no_probe_is_named(tmp_path: Path) -> None:
    """Test a server that declines SACK: Linux sends no tail loss probe then."""
    talk = Talk()
    talk.syn(0)
    talk.sacks = False
    talk.syn_ack(RTT_US // 2)
    talk.client(RTT_US, 1, 0, 1)
    at = talk.exchanges(RTT_US, 20)
    talk.client(at, 4001, 200, 21, lost=0.9)
    talk.client(at + 240_000, 4001, 200, 21)
    talk.answer(at + 240_000 + RTT_US // 2, 21, 1, 4201)
    talk.client(at + 240_000 + RTT_US, 4201, 0, 22)
    assert _run(tmp_path, talk).stalls["cause"].cast(str).to_list() == ["tail_timer"]


def test_a_capture_without_times(tmp_path: Path) -> None:
    path = tmp_path / "same.pcap"
    talk = Talk()
    talk.exchanges(talk.open(), 5)
    path.write_bytes(pcap([(0, data, wire) for _, data, wire in talk.frames()]))
    with pytest.raises(TraceError, match="all packets have the same time"):
        run([path])


@pytest.mark.parametrize(("bytes_", "says"), [(16, True), (1025, False)])
def test_small_messages_far_apart_may_be_keep_alives(tmp_path: Path, bytes_: int, says: bool) -> None:
    """Test a message of 16 bytes that is answered after six seconds, without TLS."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 16, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 16)
    talk.answer(at + 6 * S, ANSWERED, bytes_, ASKED + 16)
    talk.client(at + 6 * S + HALF_US, ASKED + 16, 0, ANSWERED + bytes_)
    found = _run(tmp_path, talk)
    assert any("keep-alives of the programs" in line for line in sentences.of(found)) == says
    assert found.advice and ("unless these are keep-alives or events" in found.advice.why) == says


@pytest.mark.parametrize(("handshake_us", "cause"), [(77_000, "unknown"), (2000, "server")])
def test_behind_a_relay_the_server_is_not_blamed(tmp_path: Path, handshake_us: int, cause: str) -> None:
    """Test a translation of addresses on the client's machine, which acknowledges data in the server's
    place: only the handshake shows the time to the server."""
    talk = Talk(rtt_us=400)
    talk.syn(0)
    talk.syn_ack(handshake_us - 200)
    at = handshake_us
    talk.client(at, 1, 0, 1)
    for k in range(5):
        talk.client(at, 1 + 200 * k, 200, 1 + 100 * k)
        talk.answer(at + 200, 1 + 100 * k, 0, 201 + 200 * k)
        talk.answer(at + 90_000, 1 + 100 * k, 100, 201 + 200 * k)
        talk.client(at + 90_200, 201 + 200 * k, 0, 101 + 100 * k)
        at += 200_000
    found = _run(tmp_path, talk)
    assert found.total.slow_share(cause) > 0.9
