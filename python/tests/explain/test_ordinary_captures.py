# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of the long-lived connections of ordinary captures, as of a browser: keep-alives,
pings, messages that need no answer, and connections that are closed after a pause. None of them is a slow
request."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, BEFORE, HALF_US, _calm, _idle
from talk import CLIENT, MIDDLE, RTT_US, SERVER, Talk, explained
from wire import FIN, Frame, mss, pcap, timestamps

from tcplearn.explain import Explained, run

S = 1_000_000
PSH = 8


def _tls(frames: list[Frame]) -> list[Frame]:
    """Return the frames with payloads that begin like records of TLS."""
    out = []
    for at_us, data, wire in frames:
        begin = 34 + (data[46] >> 4) * 4
        payload = b"\x17\x03\x03"[: len(data) - begin] + data[begin + 3 :]
        out.append((at_us, data[:begin] + payload, wire))
    return out


def _run(folder: Path, talk: Talk, *, tls: bool = False) -> Explained:
    path = folder / "talk.pcap"
    path.write_bytes(pcap(_tls(talk.frames()) if tls else talk.frames()))
    return run([path])


def _longest_ms(found: Explained) -> float:
    return float(found.requests["response_ms"].to_numpy().max())


def test_a_keep_alive_at_the_beginning_is_no_request(tmp_path: Path) -> None:
    """Test a capture that begins in the middle of a connection, with keep-alives: one byte again, without
    PSH. The server acknowledges them and sends its next data 15 s later."""
    talk = Talk()
    for at in (0, 10 * S):
        talk.client(at, 100, 1, 51)
        talk.answer(at + HALF_US, 51, 0, 101, blocks=((100, 101),))
    talk.answer(15 * S, 51, 300, 101)
    talk.client(15 * S + HALF_US, 101, 0, 351)
    found = _run(tmp_path, talk)
    assert found.requests.height == 0 and int(found.connections["client_bytes"].sum()) == 0
    assert int(found.connections["resent_segments"].sum()) == 0


def _closed_after_a_pause(talk: Talk, bytes_: int, pause_s: int = 65) -> None:
    """Close a connection after a pause: the server sends `bytes_` in two segments, of which the client
    acknowledges the first at once, and its FIN."""
    at = _idle(talk, pause_s * S)
    talk.answer(at, ANSWERED, bytes_ - 20, ASKED)
    talk.client(at + HALF_US, ASKED, 0, ANSWERED + bytes_ - 20)
    at += RTT_US
    talk.answer(at + 10, ANSWERED + bytes_ - 20, 20, ASKED)
    talk.answer(at + 20, ANSWERED + bytes_, 0, ASKED, flags=FIN)
    talk.client(at + 20 + HALF_US, ASKED, 0, ANSWERED + bytes_ + 1, flags=FIN)
    talk.answer(at + 20 + RTT_US, ANSWERED + bytes_ + 1, 0, ASKED + 1)


@pytest.mark.parametrize("place", [CLIENT, MIDDLE, SERVER])
@pytest.mark.parametrize("bytes_", [44, 63, 110])
def test_what_is_sent_before_closing_is_no_part_of_the_answer(
    tmp_path: Path, place: float, bytes_: int
) -> None:
    """Test GOAWAY and close_notify. Without TLS, the same bytes are the end of a slow answer, unless the
    pause was long."""
    talk = Talk(place=place)
    _closed_after_a_pause(talk, bytes_)
    found = _run(tmp_path, talk, tls=True)
    assert found.requests.height == BEFORE and _longest_ms(found) < 100
    assert found.stalls.height == 0
    assert _longest_ms(_run(tmp_path, talk)) < 100
    talk = Talk(place=place)
    _closed_after_a_pause(talk, bytes_, pause_s=20)
    slow = _run(tmp_path, talk)
    assert slow.requests.height == BEFORE and _longest_ms(slow) > 19_000
    assert slow.stalls["cause"].cast(str).to_list() == ["server"]


def test_an_answer_that_goes_on_after_a_pause_is_slow(tmp_path: Path) -> None:
    """Test that small data after a pause counts as part of the answer if more follows."""
    talk = Talk()
    at = _idle(talk, 3 * S)
    talk.answer(at, ANSWERED, 100, ASKED)
    talk.client(at + HALF_US, ASKED, 0, ANSWERED + 100)
    talk.answer(at + RTT_US, ANSWERED + 100, 1000, ASKED)
    talk.client(at + RTT_US + HALF_US, ASKED, 0, ANSWERED + 1100)
    found = _run(tmp_path, talk, tls=True)
    assert _longest_ms(found) > 3000
    assert found.stalls["cause"].cast(str).to_list() == ["server"]


def test_pings_of_the_server_answer_no_request(tmp_path: Path) -> None:
    """Test a WebSocket: the server sends a ping of 25 bytes each 60 s, and the client answers at once."""
    talk = Talk()
    at, asked, answered = _calm(talk), ASKED, ANSWERED
    talk.client(at, asked, 0, answered)
    for _ in range(4):
        at += 60 * S
        talk.answer(at, answered, 25, asked)
        answered += 25
        talk.client(at + HALF_US, asked, 29, answered)
        asked += 29
        talk.answer(at + RTT_US + 40_000, answered, 0, asked)
    found = _run(tmp_path, talk, tls=True)
    assert _longest_ms(found) < 100 and found.stalls.height == 0


@pytest.mark.parametrize(
    ("bytes_", "pause_us", "own"),
    [(39, 300_000, True), (39, 120_000, False), (129, 300_000, False), (300, 8 * S, True)],
)
def test_a_message_without_an_answer_is_not_part_of_a_later_request(
    tmp_path: Path, bytes_: int, pause_us: int, own: bool
) -> None:
    """Test a client that sends a message, which the server acknowledges only, and a request after a pause. A
    pause shorter than 100 ms, or than a second after a larger message, is one within a request."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, bytes_, ANSWERED)
    talk.answer(at + HALF_US + 10_000, ANSWERED, 0, ASKED + bytes_)
    at += pause_us
    talk.client(at, ASKED + bytes_, 93, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 200, ASKED + bytes_ + 93)
    talk.client(at + RTT_US, ASKED + bytes_ + 93, 0, ANSWERED + 200)
    found = _run(tmp_path, talk, tls=True)
    assert found.requests.height == BEFORE + 1
    last = found.requests.sort("start_s").row(-1, named=True)
    if own:
        assert (last["request_bytes"], last["client_ms"]) == (93, 0) and _longest_ms(found) < 100
    else:
        assert last["request_bytes"] == bytes_ + 93 and last["client_ms"] > 60


def test_a_slow_answer_to_a_message_before_a_pause(tmp_path: Path) -> None:
    """Test a request that is answered after 7 s, while the client has sent another one after 3 s."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 300, ANSWERED)
    talk.answer(at + HALF_US + 10_000, ANSWERED, 0, ASKED + 300)
    talk.answer(at + 7 * S, ANSWERED, 400, ASKED + 300)
    talk.client(at + 7 * S - 5000, ASKED + 300, 100, ANSWERED)
    talk.answer(at + 7 * S + HALF_US, ANSWERED + 400, 50, ASKED + 400)
    talk.client(at + 7 * S + RTT_US, ASKED + 400, 0, ANSWERED + 450)
    found = _run(tmp_path, talk, tls=True)
    assert found.requests.height == BEFORE + 2 and _longest_ms(found) == pytest.approx(7020, abs=2)


def test_silence_is_never_transfer(tmp_path: Path) -> None:
    """Test an answer that goes on after 5 s, in a capture without pure ACKs."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 100, ASKED + 200)
    talk.answer(at + 5 * S, ANSWERED + 100, 300, ASKED + 200)
    talk.client(at + 6 * S, ASKED + 200, 200, ANSWERED + 400)
    talk.answer(at + 6 * S + HALF_US, ANSWERED + 400, 100, ASKED + 400)
    longest = _run(tmp_path, talk).requests.sort("response_ms").row(-1, named=True)
    assert longest["response_ms"] > 4900 and longest["transfer_ms"] < 100
    assert longest["unknown_ms"] > 4900


def test_much_data_after_a_long_pause_is_a_slow_answer(tmp_path: Path) -> None:
    """Test a small request under TLS whose answer of 33 and 761 bytes comes after 21 s."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 40, ANSWERED)
    talk.answer(at + HALF_US + 10_000, ANSWERED, 0, ASKED + 40)
    talk.answer(at + 21 * S, ANSWERED, 33, ASKED + 40)
    talk.answer(at + 21 * S + 100, ANSWERED + 33, 761, ASKED + 40)
    talk.client(at + 21 * S + RTT_US, ASKED + 40, 0, ANSWERED + 794)
    found = _run(tmp_path, talk, tls=True)
    assert _longest_ms(found) > 21_000 and "server" in found.stalls["cause"].cast(str).to_list()


@pytest.mark.parametrize("wait_us", [300_000, 2 * S])
def test_a_ping_that_crosses_a_request(tmp_path: Path, wait_us: int) -> None:
    """Test a ping after 20 s that crosses a request, whose answer comes in two parts."""
    talk = Talk()
    at = _idle(talk, 20 * S)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + 1000, ANSWERED, 30, ASKED)
    talk.client(at + HALF_US + 1000, ASKED + 200, 0, ANSWERED + 30)
    talk.answer(at + HALF_US + 10_000, ANSWERED + 30, 0, ASKED + 200)
    for k in (0, 1):
        talk.answer(at + wait_us * (k + 1), ANSWERED + 30 + 300 * k, 300, ASKED + 200)
        talk.client(at + wait_us * (k + 1) + HALF_US, ASKED + 200, 0, ANSWERED + 330 + 300 * k)
    found = _run(tmp_path, talk, tls=True)
    assert _longest_ms(found) == pytest.approx((2 * wait_us + HALF_US) / 1e3, abs=2)


def test_pushes_after_a_ping_are_no_answer(tmp_path: Path) -> None:
    """Test a server that sends a ping after 8 s, and 100 bytes after 20 more. Then the client asks again."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 0, ANSWERED)
    for k, (after, bytes_) in enumerate(((8 * S, 30), (28 * S, 100))):
        talk.answer(at + after, ANSWERED + 30 * k, bytes_, ASKED)
        talk.client(at + after + HALF_US, ASKED, 0, ANSWERED + 30 + 100 * k)
    at += 30 * S
    talk.client(at, ASKED, 300, ANSWERED + 130)
    talk.answer(at + HALF_US, ANSWERED + 130, 50, ASKED + 300)
    talk.client(at + RTT_US, ASKED + 300, 0, ANSWERED + 180)
    found = _run(tmp_path, talk, tls=True)
    assert _longest_ms(found) < 100 and found.stalls.height == 0


def test_a_message_that_crosses_an_answer_does_not_begin_a_request(tmp_path: Path) -> None:
    """Test a client that sends a message while an answer is on its way, and a request 9 s later."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 39, ANSWERED)
    talk.answer(at + 1000, ANSWERED, 100, ASKED)  # sent before the message arrived
    talk.client(at + HALF_US + 1000, ASKED + 39, 0, ANSWERED + 100)
    talk.answer(at + RTT_US, ANSWERED + 100, 0, ASKED + 39)
    at += 9 * S
    talk.client(at, ASKED + 39, 209, ANSWERED + 100)
    talk.answer(at + HALF_US, ANSWERED + 100, 300, ASKED + 248)
    talk.client(at + RTT_US, ASKED + 248, 0, ANSWERED + 400)
    assert _longest_ms(_run(tmp_path, talk, tls=True)) < 200


def test_a_delayed_ack_is_not_the_way_to_the_client(tmp_path: Path) -> None:
    """Test a capture at the client that begins in the middle of a connection with delayed ACKs of 200 ms.
    Another connection shows how close the client is."""
    talk, other = Talk(port=40_000), Talk(port=40_001)
    other.exchanges(other.open(), 3)
    for k in range(5):
        at = S + k * S
        talk.client(at, 1 + k * 200, 200, 1 + k * 50)
        talk.answer(at + HALF_US, 1 + k * 50, 50, 201 + k * 200)
        talk.client(at + RTT_US + 200_000, 201 + k * 200, 0, 51 + k * 50)
    assert _longest_ms(explained(tmp_path, other, talk)) == pytest.approx(RTT_US / 1e3, abs=1)


def test_a_sender_that_does_not_wait_for_acks_waits_for_no_delayed_ack(tmp_path: Path) -> None:
    """Test TCP_NODELAY: the client writes small segments 10 ms apart, without waiting for ACKs."""
    talk = Talk()
    at = _calm(talk)
    for k in range(6):
        talk.client(at + 10_000 * k, ASKED + 100 * k, 100, ANSWERED)
    talk.answer(at + 60_000 + HALF_US, ANSWERED, 0, ASKED + 600)
    at += S // 2
    talk.client(at, ASKED + 600, 100, ANSWERED)
    talk.answer(at + HALF_US + 40_000, ANSWERED, 0, ASKED + 700)
    talk.client(at + RTT_US + 40_000, ASKED + 700, 100, ANSWERED)
    talk.answer(at + 2 * RTT_US + 40_000, ANSWERED, 50, ASKED + 800)
    talk.client(at + 3 * RTT_US, ASKED + 800, 0, ANSWERED + 50)
    assert "delayed_ack" not in _run(tmp_path, talk).stalls["cause"].cast(str).to_list()


@pytest.mark.parametrize("both", [True, False])
def test_a_handshake_that_the_path_held_up_lost_nothing(tmp_path: Path, both: bool) -> None:
    """Test two SYN-ACKs that arrive together: they answer both SYNs and were sent at once, or they were
    sent a second apart."""
    talk = Talk(stamped=False)
    wire = talk.wire
    wire.send(0, wire.client, 0, flags=2, options=timestamps(1, 0))
    wire.send(S, wire.client, 0, flags=2, options=timestamps(1001, 0))
    sent = (5000, 5001) if both else (5000, 6000)
    for k in (0, 1):
        echo = 1 + 1000 * k if both else 1
        wire.send(S + 40_000 + 2000 * k, wire.server, 0, ack=1, flags=2, options=timestamps(sent[k], echo))
    wire.send(S + 41_000, wire.client, 1, ack=1, options=timestamps(1041, 5000))
    wire.send(S + 43_000, wire.client, 1, 100, ack=1, options=timestamps(1042, 5000))
    wire.send(S + 83_000, wire.server, 1, 100, ack=101, options=timestamps(6080, 1042))
    assert _run(tmp_path, talk).stalls.height == 0


def test_clients_whose_syns_wait_three_seconds_get_no_advice(tmp_path: Path) -> None:
    """Test the first RTO of old Windows: no advice for Linux follows from it."""
    talks = []
    for k in range(24):
        talk = Talk(port=40_000 + k)
        begin = k * 5 * S
        if k % 3 == 2:
            talk.syn(begin, lost=0.9)
            begin += 3 * S
        talk.exchanges(talk.open(begin), 2)
        talks.append(talk)
    found = explained(tmp_path, *talks)
    said = found.handshake_advice
    assert said is not None and said.chosen is None and "not that of Linux" in said.why


def test_the_timer_begins_with_the_round_trip_of_the_handshake(tmp_path: Path) -> None:
    """Test a gap in the first answer, which is filled 90 ms after the gap was seen: sooner than an RTO."""
    talk = Talk()
    at = talk.open()
    talk.client(at, 1, 200, 1)
    at += HALF_US
    for k in range(5):
        talk.answer(at, 1 + 1448 * k, 1448, 201, lost=0.9 if k == 0 else None)
    for k in range(1, 5):
        talk.client(at + HALF_US + 10 * k, 201, 0, 1, blocks=((1449, 1449 + 1448 * k),))
    talk.answer(at + 90_000, 1, 1448, 201)
    talk.client(at + 90_000 + HALF_US, 201, 0, 1 + 5 * 1448)
    assert _run(tmp_path, talk).stalls["cause"].cast(str).to_list() == ["lost_fast"]


def test_a_gap_that_stays_open_for_many_rtos_was_lost_again(tmp_path: Path) -> None:
    """Test data that the path loses before the capture point, with two of its retransmissions."""
    talk = Talk(place=MIDDLE)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += HALF_US
    for wait in (0, 242_000, 500_000 + 242_000):
        talk.answer(at + wait, ANSWERED, 1448, ASKED + 200, lost=0.9)
        if wait == 0:
            talk.answer(at + 10, ANSWERED + 1448, 1448, ASKED + 200)
            talk.client(at + HALF_US, ASKED + 200, 0, ANSWERED, blocks=((ANSWERED + 1448, ANSWERED + 2896),))
    talk.answer(at + 1_742_000, ANSWERED, 1448, ASKED + 200)
    talk.client(at + 1_742_000 + HALF_US, ASKED + 200, 0, ANSWERED + 2896)
    assert _run(tmp_path, talk).stalls["cause"].cast(str).to_list() == ["resend_lost"]


def test_copies_with_new_ip_numbers_are_counted_however_soon(tmp_path: Path) -> None:
    """Test a sender that sends a segment twice within a millisecond. The numbers in IP's header show that it
    is no copy of the capture's."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.client(at + 500, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 50, ASKED + 200)
    talk.answer(at + HALF_US + 500, ANSWERED + 50, 0, ASKED + 200, blocks=((ASKED, ASKED + 200),))
    connection = _run(tmp_path, talk).connections.row(0, named=True)
    assert (connection["resent_segments"], connection["needless_segments"]) == (1, 1)


def test_a_duplicate_packet_that_spans_several_segments_arrived_whole(tmp_path: Path) -> None:
    """Test a retransmission of three small segments in one packet, of which a DSACK reports the last byte."""
    talk = Talk(stamped=False)
    at = _calm(talk)
    for k in range(3):
        talk.client(at + 10_000 * k, ASKED + 50 * k, 50, ANSWERED)
    talk.client(at + 150_000, ASKED, 150, ANSWERED)
    talk.answer(at + 150_000 + HALF_US, ANSWERED, 0, ASKED + 150, blocks=((ASKED + 149, ASKED + 150),))
    talk.answer(at + 160_000 + HALF_US, ANSWERED, 50, ASKED + 150)
    talk.client(at + 200_000 + RTT_US, ASKED + 150, 0, ANSWERED + 50)
    found = _run(tmp_path, talk)
    causes = set(found.stalls["cause"].cast(str).to_list())
    assert causes <= {"spurious", "server", "client", "unknown"}, causes
    assert int(found.connections["needless_segments"].sum()) == 1


def test_a_packet_larger_than_the_mss_uses_several_ip_numbers(tmp_path: Path) -> None:
    """Test segmentation offload at the sender with an MSS of 1,400: a packet of 1,427 bytes leaves as two."""
    talk = Talk()
    wire = talk.wire
    ident = 100

    def client(at_us: int, seq: int, payload: int, ack: int, numbers: int = 1) -> None:
        nonlocal ident
        wire.send(at_us, wire.client, seq, payload, ack=ack, ident=ident)
        ident += numbers

    wire.send(0, wire.client, 0, flags=2, options=mss(1400), ident=99)
    wire.send(40_000, wire.server, 0, ack=1, flags=2, options=mss(1400))
    client(40_100, 1, 0, 1)
    at, seq = 50_000, 1
    for k in range(8):
        client(at, seq, 100, 1 + 10 * k)
        wire.send(at + 40_000, wire.server, 1 + 10 * k, 10, ack=seq + 100)
        at, seq = at + 100_000, seq + 100
    client(at, seq, 1427, 81, numbers=2)
    wire.send(at + 40_000, wire.server, 81, 0, ack=seq + 1427)
    client(at + 240_000, seq + 1427, 100, 81)
    wire.send(at + 280_000, wire.server, 81, 10, ack=seq + 1527)
    client(at + 281_000, seq + 1527, 0, 91)
    causes = _run(tmp_path, talk).stalls["cause"].cast(str).to_list()
    assert "tail_probe" not in causes and "tail_timer" not in causes, causes
