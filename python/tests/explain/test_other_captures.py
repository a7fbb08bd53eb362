# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of captures of other people: connections within one host, connections whose SYN
was not captured, servers without SACK, captures without times, keep-alives and receipts of programs, and
pauses of servers within an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, HALF_US, _calm
from talk import CLIENT, RTT_US, SERVER, Talk
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


@pytest.mark.parametrize(
    ("place", "pause_us", "server_ms"),
    [(SERVER, 8000, 8), (CLIENT, 8000, 0), (CLIENT, 100_000, 100), (SERVER, 400_000, 0)],
)
def test_a_pause_after_a_small_segment_is_the_servers(
    tmp_path: Path, place: float, pause_us: int, server_ms: float
) -> None:
    """Test an answer in two parts whose first part the client does not acknowledge in time. The path may
    explain a pause shorter than a round trip, unless the capture was taken at the server, and a loss one
    that is longer than the delay of an ACK."""
    talk = Talk(place=place)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 17, ASKED + 200)
    talk.answer(at + HALF_US + pause_us, ANSWERED + 17, 300, ASKED + 200)
    talk.close(at + pause_us + 500_000, ASKED + 200, ANSWERED + 317)
    last = _run(tmp_path, talk).requests.sort("start_s").row(-1, named=True)
    assert last["server_ms"] == pytest.approx(server_ms, abs=0.5)


def test_a_pause_that_ends_as_the_next_request_begins(tmp_path: Path) -> None:
    """Test an answer that goes on after a pause, while the client's next request is on its way."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 50, ASKED + 200)
    talk.client(at + RTT_US, ASKED + 200, 0, ANSWERED + 50)
    then = at + RTT_US + S
    talk.client(then, ASKED + 200, 300, ANSWERED + 50)
    talk.answer(then + 5000, ANSWERED + 50, 200, ASKED + 200)
    talk.answer(then + HALF_US, ANSWERED + 250, 100, ASKED + 500)
    talk.close(then + S, ASKED + 500, ANSWERED + 350)
    before, after = _run(tmp_path, talk).requests.sort("start_s").tail(2).iter_rows(named=True)
    assert before["server_ms"] == pytest.approx(1005, abs=25)
    assert (after["response_ms"], after["server_ms"]) == (pytest.approx(RTT_US / 1000, abs=1), 0)


def test_http2s_acknowledgement_of_settings_is_no_part_of_the_request(tmp_path: Path) -> None:
    """Test the client's acknowledgement of the server's SETTINGS while the server works on a request."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 300, ANSWERED)
    talk.answer(at + 10_000, ANSWERED, 31, ASKED)
    talk.client(at + 30_000, ASKED + 300, 31, ANSWERED + 31)
    talk.answer(at + HALF_US, ANSWERED + 31, 0, ASKED + 300)
    talk.answer(at + 50_000, ANSWERED + 31, 0, ASKED + 331)
    talk.answer(at + HALF_US + 150_000, ANSWERED + 31, 400, ASKED + 331)
    talk.close(at + 400_000, ASKED + 331, ANSWERED + 431)
    last = _run(tmp_path, talk, tls=True).requests.sort("start_s").row(-1, named=True)
    assert (last["request_bytes"], last["answer_bytes"]) == (300, 400)
    assert last["response_ms"] == pytest.approx(190, abs=1)
    assert last["server_ms"] == pytest.approx(150, abs=1)


@pytest.mark.parametrize(("after_us", "says"), [(10_000, True), (200_000, False)])
def test_receipts_of_events_are_perhaps_no_requests(tmp_path: Path, after_us: int, says: bool) -> None:
    """Test a server that sends something every few seconds, which the client answers at once, or after a
    while as a client's own requests would come."""
    talk = Talk()
    at, asked, answered = talk.exchanges(talk.open(), 1), 201, 2
    for k in range(6):
        talk.client(at, asked, 46, answered)
        talk.answer(at + HALF_US, answered, 0, asked + 46)
        asked, event = asked + 46, at + (2 + k) * S
        talk.answer(event, answered, 1251, asked)
        talk.client(event + HALF_US, asked, 0, answered + 1251)
        at, answered = event + HALF_US + after_us, answered + 1251
    talk.close(at + S, asked, answered)
    found = _run(tmp_path, talk)
    assert any("as soon as data of the server had arrived" in line for line in sentences.of(found)) == says
    assert found.advice and ("unless it sends data without being asked" in found.advice.why) == says


@pytest.mark.parametrize(
    ("port", "opened", "says"), [(40_000, False, True), (40_000, True, False), (8080, False, False)]
)
def test_says_that_only_the_ports_show_which_end_is_the_client(
    tmp_path: Path, port: int, opened: bool, says: bool
) -> None:
    """Test a connection between two high ports whose handshake was captured or not."""
    talk = Talk()
    talk.wire = Wire(client=Host("10.0.0.1", 50_000), server=Host("10.0.0.2", port))
    at = talk.exchanges(talk.open() if opened else 0, 5)
    talk.client(at, 1001, 0, 6)
    assert any("was taken for the client" in line for line in sentences.of(_run(tmp_path, talk))) == says


def test_a_pause_and_a_small_message_are_counted_together(tmp_path: Path) -> None:
    """Test two slow requests that may be none, each with less than half of the server's time: an answer with
    a pause, and a small message that is answered late."""
    talk = Talk()
    at = talk.exchanges(talk.open(), 150)
    asked, answered = 30_001, 151
    talk.client(at, asked, 50, answered)
    talk.answer(at + HALF_US, answered, 300, asked + 50)
    talk.client(at + RTT_US, asked + 50, 0, answered + 300)
    talk.answer(at + 6 * S, answered + 300, 700, asked + 50)
    talk.client(at + 6 * S + HALF_US, asked + 50, 0, answered + 1000)
    at, asked, answered = at + 7 * S, asked + 50, answered + 1000
    talk.client(at, asked, 50, answered)
    talk.answer(at + HALF_US, answered, 0, asked + 50)
    talk.answer(at + 6 * S, answered, 300, asked + 50)
    talk.close(at + 7 * S, asked + 50, answered + 300)
    lines = sentences.of(_run(tmp_path, talk))
    assert any(line.startswith("In 2 of them the server had begun to answer") for line in lines)
    assert any("or the client had sent only a small message" in line for line in lines)
