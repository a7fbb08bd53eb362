# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of data that a server sends long after its answer or after the client's FIN, of
repairs that came too late for what they seem to be, and of pauses within an answer."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scenes import ANSWERED, ASKED, BEFORE, HALF_US, _calm, _idle
from talk import CLIENT, MIDDLE, RTT_US, SERVER, Talk
from test_ordinary_captures import S, _longest_ms, _run
from wire import FIN

PLACES = pytest.mark.parametrize("place", [CLIENT, MIDDLE, SERVER])


@PLACES
@pytest.mark.parametrize("tls", [True, False])
def test_data_after_the_clients_fin_is_no_part_of_the_answer(tmp_path: Path, place: float, tls: bool) -> None:
    """Test a client that closes the connection 60 s after the answer; the server says close_notify."""
    talk = Talk(place=place)
    at = _calm(talk) + 60 * S
    talk.client(at, ASKED, 0, ANSWERED, flags=FIN)
    talk.answer(at + HALF_US, ANSWERED, 24, ASKED + 1)
    talk.answer(at + HALF_US + 10, ANSWERED + 24, 0, ASKED + 1, flags=FIN)
    talk.client(at + RTT_US, ASKED + 1, 0, ANSWERED + 25)
    found = _run(tmp_path, talk, tls=tls)
    assert found.requests.height == BEFORE and _longest_ms(found) < 100 and found.stalls.height == 0


def test_an_answer_to_a_client_that_sends_its_fin_with_the_request(tmp_path: Path) -> None:
    """Test a client that sends nothing more after its request, as with `nc -N`: the answer is slow."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED, flags=FIN)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 201)
    talk.answer(at + HALF_US + 3 * S, ANSWERED, 100, ASKED + 201, flags=FIN)
    talk.client(at + RTT_US + 3 * S, ASKED + 201, 0, ANSWERED + 101)
    found = _run(tmp_path, talk)
    assert found.requests.height == BEFORE + 1 and _longest_ms(found) > 3000


def _goaway(talk: Talk, bytes_: int, closes: bool) -> None:
    """Let the client send a message of 31 bytes, and the server say GOAWAY in `bytes_` after 240 s. If
    `closes`, the client then sends close_notify and its FIN; otherwise a request."""
    at = _calm(talk)
    talk.client(at, ASKED, 31, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 31)
    at += 240 * S
    talk.answer(at, ANSWERED, bytes_, ASKED + 31)
    at += HALF_US
    to, seen = ASKED + 31, ANSWERED + bytes_
    if closes:
        talk.client(at, to, 24, seen)
        talk.client(at + 10, to + 24, 0, seen, flags=FIN)
        talk.answer(at + HALF_US, seen, 0, to + 25, flags=FIN)
    else:
        talk.client(at, to, 200, seen)
        talk.answer(at + HALF_US, seen, 100, to + 200)
        talk.client(at + RTT_US, to + 200, 0, seen + 100)


@pytest.mark.parametrize("pause_s", [8, 60])
def test_a_short_request_with_a_slow_answer_and_the_fin(tmp_path: Path, pause_s: int) -> None:
    """Test a health check of HTTP/1.0 with 40 bytes, which a proxy answers after a minute and closes."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 40, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 40)
    talk.answer(at + HALF_US + pause_s * S, ANSWERED, 300, ASKED + 40, flags=FIN)
    talk.client(at + RTT_US + pause_s * S, ASKED + 40, 0, ANSWERED + 301)
    found = _run(tmp_path, talk)
    assert found.requests.height == BEFORE + 1 and _longest_ms(found) > 1000 * pause_s


@pytest.mark.parametrize(
    ("bytes_", "after_us", "ms"), [(300, 10_000, 40), (5800, 10_000, 50), (300, 3 * S, 3040)]
)
def test_an_answer_that_goes_on_after_the_clients_fin(
    tmp_path: Path, bytes_: int, after_us: int, ms: float
) -> None:
    """Test a client that sends its FIN when the head of the answer has arrived: what comes soon and is short
    is no part of the answer, and all else is."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 100, ASKED + 200)
    talk.client(at + RTT_US, ASKED + 200, 0, ANSWERED + 100, flags=FIN)
    at += RTT_US + after_us
    for k in range(0, bytes_, 290):
        part = min(290, bytes_ - k)
        talk.answer(at, ANSWERED + 100 + k, part, ASKED + 201)
    talk.client(at + HALF_US, ASKED + 201, 0, ANSWERED + 100 + bytes_)
    (row,) = (
        _run(tmp_path, talk).requests.filter(pl.col("request_bytes") == 200).tail(1).iter_rows(named=True)
    )
    assert row["response_ms"] == pytest.approx(ms + HALF_US / 1000 * (ms > 40), abs=30)
    assert row["answer_bytes"] == 100 + (bytes_ if ms > 40 else 0)


def _messages(talk: Talk, pauses: int) -> None:
    """Let the server send 313 bytes again and again, each 10 s after the client has acknowledged the last."""
    at, to = _calm(talk), ANSWERED
    talk.client(at, ASKED, 0, to)
    for _ in range(pauses):
        at += 10 * S
        talk.answer(at, to, 313, ASKED)
        to += 313
        talk.client(at + HALF_US, ASKED, 0, to)
    talk.client(at + 3 * S, ASKED, 200, to)
    talk.answer(at + 3 * S + HALF_US, to, 100, ASKED + 200)
    talk.client(at + 3 * S + RTT_US, ASKED + 200, 0, to + 100)


@PLACES
@pytest.mark.parametrize("tls", [True, False])
def test_messages_in_a_row_answer_no_request(tmp_path: Path, place: float, tls: bool) -> None:
    """Test events of a server, such as MongoDB's awaitable hello: one or two may be the rest of an answer."""
    talk = Talk(place=place)
    _messages(talk, 4)
    found = _run(tmp_path, talk, tls=tls)
    assert found.requests.height == BEFORE + 1 and _longest_ms(found) < 100 and found.stalls.height == 0
    for few in (1, 2):
        talk = Talk(place=place)
        _messages(talk, few)
        found = _run(tmp_path, talk, tls=tls)
        assert _longest_ms(found) > 9000 * few
        assert found.stalls["cause"].cast(str).to_list() == ["server"] * few


@pytest.mark.parametrize("last", ["ping", "close"])
@pytest.mark.parametrize("bytes_", [100, 2000])
def test_a_slow_answer_before_a_ping_or_the_end(tmp_path: Path, last: str, bytes_: int) -> None:
    """Test an answer of which 50 bytes come at once and the rest after 8 s; a minute later the server sends a
    ping, or closes the connection."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += HALF_US
    to, asked = ANSWERED, ASKED + 200
    for after, part in ((0, 50), (8 * S, min(bytes_, 1448)), (8 * S + 10, max(bytes_ - 1448, 0))):
        talk.answer(at + after, to, part, asked)
        to += part
        talk.client(at + after + HALF_US, asked, 0, to)
    at += 68 * S
    talk.answer(at, to, 24, asked)
    if last == "close":
        talk.answer(at + 10, to + 24, 0, asked, flags=FIN)
    talk.client(at + HALF_US, asked, 0, to + 24 + (last == "close"))
    found = _run(tmp_path, talk, tls=True)
    assert found.requests.height == BEFORE + 1 and 8000 < _longest_ms(found) < 8200
    assert found.stalls["cause"].cast(str).to_list() == ["server"]


def test_data_soon_after_a_ping_does_not_undo_it(tmp_path: Path) -> None:
    """Test a ping after 20 s, other data of the server 3 s later, and a request."""
    talk = Talk()
    at = _idle(talk, 20 * S)
    for after, to, bytes_ in ((0, ANSWERED, 14), (3 * S, ANSWERED + 14, 300)):
        talk.answer(at + after, to, bytes_, ASKED)
        talk.client(at + after + HALF_US, ASKED, 0, to + bytes_)
    at, to = at + 5 * S, ANSWERED + 314
    talk.client(at, ASKED, 200, to)
    talk.answer(at + HALF_US, to, 100, ASKED + 200)
    talk.client(at + RTT_US, ASKED + 200, 0, to + 100)
    found = _run(tmp_path, talk, tls=True)
    assert found.requests.height == BEFORE + 1 and _longest_ms(found) < 100 and found.stalls.height == 0


@pytest.mark.parametrize("after_us", [500_000, 10 * S])
def test_a_message_of_a_row_that_crosses_the_next_request(tmp_path: Path, after_us: int) -> None:
    """Test messages in a row, the last of which was sent before the client's request arrived."""
    talk = Talk()
    at, to = _calm(talk), ANSWERED
    talk.client(at, ASKED, 0, to)
    for _ in range(4):
        at += 10 * S
        talk.answer(at, to, 313, ASKED)
        to += 313
        talk.client(at + HALF_US, ASKED, 0, to)
    at += after_us
    talk.answer(at, to, 313, ASKED)
    talk.client(at + 10_000, ASKED, 200, to)
    talk.answer(at + 10_000 + HALF_US, to + 313, 100, ASKED + 200)
    talk.client(at + 10_000 + RTT_US, ASKED + 200, 0, to + 413)
    found = _run(tmp_path, talk)
    assert found.requests.height == BEFORE + 1 and _longest_ms(found) < 100


@PLACES
def test_goaway_answers_no_message(tmp_path: Path, place: float) -> None:
    """Test GOAWAY of HTTP/2 with 73 bytes after a message that needed no answer (SETTINGS)."""
    talk = Talk(place=place)
    _goaway(talk, 73, closes=True)
    found = _run(tmp_path, talk, tls=True)
    assert found.requests.height == BEFORE and _longest_ms(found) < 100 and found.stalls.height == 0


def test_a_slow_answer_of_the_same_size(tmp_path: Path) -> None:
    """Test that the same bytes are a slow answer if the connection goes on."""
    talk = Talk()
    _goaway(talk, 73, closes=False)
    assert _longest_ms(_run(tmp_path, talk, tls=True)) > 239_000


@PLACES
@pytest.mark.parametrize(("pause_s", "bytes_", "slow"), [(73, 302, False), (73, 700, True), (20, 302, True)])
def test_a_long_last_message_with_the_fin(
    tmp_path: Path, place: float, pause_s: int, bytes_: int, slow: bool
) -> None:
    """Test two segments with the server's FIN after a long pause; and when they are an answer."""
    talk = Talk(place=place)
    at = _idle(talk, pause_s * S)
    for k, flags in ((0, 0), (1, FIN)):
        talk.answer(at + 10_000 * k, ANSWERED + k * (bytes_ // 2), bytes_ // 2, ASKED, flags=flags)
    talk.client(at + 10_000 + HALF_US, ASKED, 0, ANSWERED + bytes_ + 1)
    assert (_longest_ms(_run(tmp_path, talk)) > 1000) == slow


@pytest.mark.parametrize("tls", [True, False])
@pytest.mark.parametrize(("pause_s", "bytes_"), [(20, 14), (2, 14), (4, 60), (20, 100)])
def test_data_that_crosses_the_next_request_long_after_the_answer(
    tmp_path: Path, tls: bool, pause_s: int, bytes_: int
) -> None:
    """Test some bytes of the server, after a pause, that were sent before the next request arrived."""
    talk = Talk(place=CLIENT)
    at = _idle(talk, pause_s * S)
    talk.answer(at, ANSWERED, bytes_, ASKED)
    talk.client(at + 10_000, ASKED, 1448, ANSWERED)
    talk.client(at + HALF_US + 10, ASKED + 1448, 200, ANSWERED + bytes_)
    talk.answer(at + RTT_US + 20, ANSWERED + bytes_, 100, ASKED + 1648)
    talk.client(at + RTT_US + HALF_US + 20, ASKED + 1648, 0, ANSWERED + bytes_ + 100)
    found = _run(tmp_path, talk, tls=tls)
    assert found.requests.height == BEFORE + 1 and _longest_ms(found) < 100


def test_the_end_of_an_answer_that_was_lost_and_crosses_a_request(tmp_path: Path) -> None:
    """Test the last 60 bytes of an answer that are lost for 7 s, after a full segment, while the client sends
    another request: they are part of the answer."""
    talk = Talk(place=CLIENT)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += HALF_US
    talk.answer(at, ANSWERED, 1448, ASKED + 200)
    talk.client(at + HALF_US, ASKED + 200, 0, ANSWERED + 1448)
    for after in (0, 242_000, 726_000, 1_700_000, 3_600_000):
        talk.answer(at + 10 + after, ANSWERED + 1448, 60, ASKED + 200, lost=0.9)
    at += 7_400_000
    talk.client(at, ASKED + 200, 200, ANSWERED + 1448)
    talk.answer(at, ANSWERED + 1448, 60, ASKED + 200)
    talk.answer(at + HALF_US, ANSWERED + 1508, 100, ASKED + 400)
    talk.client(at + RTT_US, ASKED + 400, 0, ANSWERED + 1608)
    assert _longest_ms(_run(tmp_path, talk)) > 7000


@pytest.mark.parametrize("rtt_us", [40_000, 200_000, 600_000])
def test_a_probe_after_the_last_ack_of_a_long_path(tmp_path: Path, rtt_us: int) -> None:
    """Test six segments of which the last is lost. The probe comes two round trips after the last ACK, or an
    RTO after it."""
    talk = Talk(place=SERVER, rtt_us=rtt_us)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += rtt_us // 2
    for k in range(6):
        lost = 0.1 if k == 5 else None
        talk.answer(at + 10 * k, ANSWERED + 1448 * k, 1448, ASKED + 200, lost=lost)
    heard = at + rtt_us
    for k in range(5):
        talk.client(heard - rtt_us // 2 + 10 * k, ASKED + 200, 0, ANSWERED + 1448 * (k + 1))
    probe = heard + 40 + min(2 * rtt_us + 200_000, rtt_us + 200_000)
    talk.answer(probe, ANSWERED + 1448 * 5, 1448, ASKED + 200)
    talk.client(probe + rtt_us // 2, ASKED + 200, 0, ANSWERED + 1448 * 6)
    found = _run(tmp_path, talk)
    stalls = found.stalls.select(pl.col("cause", "ended_by").cast(pl.String)).rows()
    assert ("tail_probe", "probe") in stalls and not any(cause == "tail_timer" for cause, _ in stalls)


def test_a_minimum_rto_of_a_second_is_not_a_second_loss(tmp_path: Path) -> None:
    """Test a sender with the minimum RTO of RFC 6298, whose answer is lost once."""
    talk = Talk(place=CLIENT, rtt_us=4000)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + 2000, ANSWERED, 0, ASKED + 200)
    talk.answer(at + 20_000, ANSWERED, 100, ASKED + 200, lost=0.9)
    talk.answer(at + 1_030_000, ANSWERED, 100, ASKED + 200)
    talk.client(at + 1_032_000, ASKED + 200, 0, ANSWERED + 100)
    assert "resend_lost" not in _run(tmp_path, talk).stalls["cause"].cast(str).to_list()


@pytest.mark.parametrize(("waited_us", "cause"), [(242_000, "tail_probe"), (700_000, "tail_timer")])
def test_a_probe_comes_within_an_rto(tmp_path: Path, waited_us: int, cause: str) -> None:
    """Test an answer that was lost before the capture point, by how long its repair took."""
    talk = Talk(place=CLIENT)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 200)
    talk.answer(at + HALF_US + 20_000, ANSWERED, 100, ASKED + 200, lost=0.9)
    talk.answer(at + HALF_US + 20_000 + waited_us, ANSWERED, 100, ASKED + 200)
    talk.client(at + RTT_US + 20_000 + waited_us, ASKED + 200, 0, ANSWERED + 100)
    assert _run(tmp_path, talk).stalls["cause"].cast(str).to_list() == [cause]


@pytest.mark.parametrize(("waited_us", "cause"), [(700_000, "tail_timer"), (5 * S, "resend_lost")])
def test_one_expiry_of_the_timer_does_not_take_many_rtos(tmp_path: Path, waited_us: int, cause: str) -> None:
    """Test a gap before the last segment of an answer, without IP identification, by how long it stays."""
    talk = Talk(place=CLIENT, numbered=False)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    at += HALF_US
    talk.answer(at, ANSWERED, 1448, ASKED + 200, lost=0.9)
    talk.answer(at + 10, ANSWERED + 1448, 100, ASKED + 200)
    edges = ((ANSWERED + 1448, ANSWERED + 1548),)
    talk.client(at + 10 + HALF_US, ASKED + 200, 0, ANSWERED, blocks=edges)
    talk.answer(at + waited_us, ANSWERED, 1448, ASKED + 200)
    talk.client(at + waited_us + HALF_US, ASKED + 200, 0, ANSWERED + 1548)
    assert _run(tmp_path, talk).stalls["cause"].cast(str).to_list() == [cause]


@pytest.mark.parametrize("acknowledged", [True, False])
def test_what_is_sent_to_a_client_that_has_gone(tmp_path: Path, acknowledged: bool) -> None:
    """Test data after a pause that nobody acknowledges, although the server sends it again."""
    talk = Talk()
    at = _calm(talk)
    talk.client(at, ASKED, 0, ANSWERED)
    for after in (20 * S, 21 * S, 23 * S):
        talk.answer(at + after, ANSWERED, 151, ASKED)
    if acknowledged:
        talk.client(at + 23 * S + HALF_US, ASKED, 0, ANSWERED + 151)
    found = _run(tmp_path, talk)
    assert (_longest_ms(found) > 1000) == acknowledged
    assert found.stalls.filter(pl.col("cause").cast(pl.String) == "server").height == acknowledged
