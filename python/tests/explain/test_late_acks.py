# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of ACKs of requests that come late, of close_notify after the FIN of a client that
nobody answers, and of pauses within an answer behind a relay."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, HALF_US, _calm
from talk import CLIENT, MIDDLE, RTT_US, SERVER, Talk
from test_ordinary_captures import S, _longest_ms, _run
from wire import FIN, Host, Wire

from tcplearn.explain import sentences

PLACES = pytest.mark.parametrize("place", [CLIENT, MIDDLE, SERVER])


@pytest.mark.parametrize(
    ("after_us", "fast", "place", "cause"),
    [
        (100, False, CLIENT, "unknown"),
        (100, False, MIDDLE, "unknown"),
        (20_000, False, CLIENT, "server"),
        (100, True, CLIENT, "server"),
        (100, False, SERVER, "server"),
    ],
)
def test_an_answer_that_follows_a_late_ack_at_once(
    tmp_path: Path, after_us: int, fast: bool, place: float, cause: str
) -> None:
    """Test an ACK that comes 25 ms late, and an answer soon after it: the path was slow, or the server read
    the request late. It was the server if the answer comes clearly later, if a round trip just before was
    fast, or if the capture was taken at the server."""
    talk = Talk(place=place)
    at, asked, answered = _calm(talk), ASKED, ANSWERED
    if fast:  # a request of two segments, which the server acknowledges at once
        talk.client(at, asked, 1400, answered)
        talk.client(at + 10, asked + 1400, 1400, answered)
        asked += 2800
        talk.answer(at + HALF_US + 10, answered, 0, asked)
        talk.answer(at + HALF_US + 10_000, answered, 1, asked)
        at, answered = at + 100_000, answered + 1
    talk.client(at, asked, 200, answered)
    asked += 200
    at += HALF_US + 25_000
    talk.answer(at, answered, 0, asked)
    talk.answer(at + after_us, answered, 1, asked)
    talk.close(at + S, asked, answered + 1)
    last = _run(tmp_path, talk).requests.sort("start_s").row(-1, named=True)
    assert last[f"{cause}_ms"] == pytest.approx((25_000 + after_us) / 1000, abs=0.2)


@PLACES
@pytest.mark.parametrize(("bytes_", "tls", "rows"), [(24, True, 0), (24, False, 1), (60, True, 1)])
def test_close_notify_answers_no_message(
    tmp_path: Path, place: float, bytes_: int, tls: bool, rows: int
) -> None:
    """Test a message that the server acknowledges and does not answer; the client sends its FIN, and the
    server close_notify. Without TLS, or if it is longer, it may be an answer."""
    talk = Talk(place=place)
    at = _calm(talk)
    talk.client(at, ASKED, 25, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 25)
    at += 700_000
    talk.client(at, ASKED + 25, 0, ANSWERED, flags=FIN)
    talk.answer(at + HALF_US, ANSWERED, bytes_, ASKED + 26)
    talk.answer(at + HALF_US + 10, ANSWERED + bytes_, 0, ASKED + 26, flags=FIN)
    talk.client(at + RTT_US, ASKED + 26, 0, ANSWERED + bytes_ + 1)
    found = _run(tmp_path, talk, tls=tls)
    assert found.requests.height == 12 + rows and (_longest_ms(found) > 700) == bool(rows)


@pytest.mark.parametrize(("ttl", "cause"), [(64, "unknown"), (63, "server")])
def test_messages_behind_a_relay_may_be_events(tmp_path: Path, ttl: int, cause: str) -> None:
    """Test messages that a public server sends after its answer, one each 1.2 s, through a relay or not: the
    first lines say that the server may send them without being asked."""
    talk = Talk(rtt_us=1000)
    talk.wire = Wire(client=Host("10.0.0.1", 40_000), server=Host("203.0.113.5", 80, ttl=ttl))
    at, answered = talk.exchanges(talk.open(), 5), 6
    talk.client(at, 1001, 200, answered)
    for k in range(3):
        talk.answer(at + 500 + 1_200_000 * k, answered, 40, 1201)
        answered += 40
        talk.client(at + 1000 + 1_200_000 * k, 1201, 0, answered)
    talk.close(at + 3 * S, 1201, answered)
    found = _run(tmp_path, talk)
    assert found.total.slow_share(cause) > 0.9
    assert any("had begun to answer, and then paused" in line for line in sentences.of(found))
