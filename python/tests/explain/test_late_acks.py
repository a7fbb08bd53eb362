# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of ACKs of requests that come late, of close_notify after the FIN of a client that
nobody answers, and of pauses within an answer behind a relay."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, BEFORE, HALF_US, _calm
from talk import CLIENT, MIDDLE, RTT_US, SERVER, Talk
from test_ordinary_captures import S, _longest_ms, _run
from wire import FIN, Host, Wire

from tcplearn.explain import sentences

PLACES = pytest.mark.parametrize("place", [CLIENT, MIDDLE, SERVER])


@pytest.mark.parametrize(
    ("late_us", "after_us", "before_us", "place", "cause"),
    [
        (25_000, 100, None, CLIENT, "unknown"),
        (25_000, 100, None, MIDDLE, "unknown"),
        (25_000, 20_000, None, CLIENT, "server"),
        (25_000, 100, 0, CLIENT, "server"),
        (25_000, 100, 15_000, CLIENT, "slow_path"),
        (9_000, 100, None, CLIENT, "transfer"),
        (25_000, 100, None, SERVER, "server"),
    ],
)
def test_an_answer_that_follows_a_late_ack_at_once(
    tmp_path: Path, late_us: int, after_us: int, before_us: int | None, place: float, cause: str
) -> None:
    """Test an ACK that comes `late_us` late, and an answer soon after it: the path was slow, or the server
    read the request late. It was the server if the answer comes clearly later, if a round trip just before,
    which was late by `before_us`, was fast, or if the capture was taken at the server. It was the path if
    that round trip was slow. Less than a quarter of the shortest round trip is a part of this one."""
    talk = Talk(place=place)
    at, asked, answered = _calm(talk), ASKED, ANSWERED
    # requests of two segments, which the server acknowledges when they arrive
    for late_before_us in () if before_us is None else (0, before_us):
        talk.client(at, asked, 1400, answered)
        talk.client(at + 10, asked + 1400, 1400, answered)
        asked += 2800
        talk.answer(at + HALF_US + late_before_us + 10, answered, 0, asked)
        talk.answer(at + HALF_US + late_before_us + 10_000, answered, 1, asked)
        at, answered = at + 200_000, answered + 1
    talk.client(at, asked, 200, answered)
    asked += 200
    at += HALF_US + late_us
    talk.answer(at, answered, 0, asked)
    talk.answer(at + after_us, answered, 1, asked)
    talk.close(at + S, asked, answered + 1)
    last = _run(tmp_path, talk).requests.sort("start_s").row(-1, named=True)
    rest_ms = RTT_US / 1000 if cause == "transfer" else 0
    assert last[f"{cause}_ms"] == pytest.approx((late_us + after_us) / 1000 + rest_ms, abs=0.2)


@PLACES
@pytest.mark.parametrize(
    ("asked", "bytes_", "pause_us", "after_us", "tls", "rows"),
    [
        (25, 24, 700_000, 0, True, 0),
        (25, 24, 8 * S, 0, True, 0),
        (25, 24, 700_000, 2 * S, True, 1),
        (25, 24, 700_000, 0, False, 1),
        (25, 60, 700_000, 0, True, 1),
        (300, 24, 8 * S, 0, True, 1),
    ],
)
def test_close_notify_answers_no_message(
    tmp_path: Path,
    place: float,
    asked: int,
    bytes_: int,
    pause_us: int,
    after_us: int,
    tls: bool,
    rows: int,
) -> None:
    """Test a message that the server acknowledges and does not answer; the client sends its FIN after
    `pause_us`, and the server close_notify `after_us` after it came. Without TLS, or if it is longer or
    comes later, it may be an answer. If the message is longer, the client may have given up waiting for its
    answer."""
    talk = Talk(place=place)
    at = _calm(talk)
    talk.client(at, ASKED, asked, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + asked)
    at += pause_us
    to, seen = ASKED + asked, ANSWERED + bytes_
    talk.client(at, to, 0, ANSWERED, flags=FIN)
    at += after_us
    talk.answer(at + HALF_US, ANSWERED, bytes_, to + 1)
    talk.answer(at + HALF_US + 10, seen, 0, to + 1, flags=FIN)
    talk.client(at + RTT_US, to + 1, 0, seen + 1)
    found = _run(tmp_path, talk, tls=tls)
    assert found.requests.height == BEFORE + rows
    assert (_longest_ms(found) > pause_us / 1000) == bool(rows)


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


@PLACES
@pytest.mark.parametrize("numbered", [True, False])
def test_an_answer_whose_ack_was_lost_before_the_next_request(
    tmp_path: Path, place: float, numbered: bool
) -> None:
    """Test an answer whose ACK is lost. The server sends it again, and before this copy arrives, the client
    sends its next request, which acknowledges the answer. The client had the answer after one round trip:
    the IP identification shows that an ACK of the client was lost. Without it, the answer may have been
    late, except in a capture at the client."""
    talk = Talk(place=place, numbered=numbered)
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 100, ASKED + 200)
    talk.client(at + RTT_US, ASKED + 200, 0, ANSWERED + 100, lost=0.9 if place < SERVER else 0.1)
    again = at + HALF_US + 240_000
    talk.answer(again, ANSWERED, 100, ASKED + 200)
    at = again + HALF_US - 5000
    talk.client(at, ASKED + 200, 200, ANSWERED + 100)
    block = (ANSWERED, ANSWERED + 100)
    talk.client(again + HALF_US, ASKED + 400, 0, ANSWERED + 100, blocks=(block,))
    talk.answer(at + HALF_US, ANSWERED + 100, 100, ASKED + 400)
    talk.close(at + S, ASKED + 400, ANSWERED + 200)
    found = _run(tmp_path, talk)
    assert found.requests.height == BEFORE + 2
    if numbered or place < SERVER:
        assert _longest_ms(found) == pytest.approx(RTT_US / 1000, abs=1)
        assert found.requests["spurious_ms"].sum() <= 5  # of the next request, until the copy has come
    else:
        assert _longest_ms(found) > 200
