# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test what `explain` says of data that a server sends long after its answer or after the client's FIN, of
repairs that came too late for what they seem to be, and of pauses within an answer."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from scenes import ASKED, BEFORE, HALF_US, _calm
from talk import CLIENT, MIDDLE, RTT_US, SERVER, Talk
from test_ordinary_captures import ANSWERED, S, _longest_ms, _run
from wire import FIN

from tcplearn.explain import sentences
from tcplearn.explain.advice import _seen_by

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
    at = _calm(talk)
    talk.client(at, ASKED, 0, ANSWERED)
    at += pause_s * S
    for k, flags in ((0, 0), (1, FIN)):
        talk.answer(at + 10_000 * k, ANSWERED + k * (bytes_ // 2), bytes_ // 2, ASKED, flags=flags)
    talk.client(at + 10_000 + HALF_US, ASKED, 0, ANSWERED + bytes_ + 1)
    assert (_longest_ms(_run(tmp_path, talk)) > 1000) == slow


def test_data_that_crosses_the_next_request_long_after_the_answer(tmp_path: Path) -> None:
    """Test 14 bytes of the server, 20 s after its answer, that were sent before the next request arrived."""
    talk = Talk(place=CLIENT)
    at = _calm(talk)
    talk.client(at, ASKED, 0, ANSWERED)
    at += 20 * S
    talk.answer(at, ANSWERED, 14, ASKED)
    talk.client(at + 10_000, ASKED, 200, ANSWERED)
    talk.answer(at + 10_000 + HALF_US, ANSWERED + 14, 100, ASKED + 200)
    talk.client(at + 10_000 + RTT_US, ASKED + 200, 0, ANSWERED + 114)
    found = _run(tmp_path, talk)
    assert found.requests.height == BEFORE + 1 and _longest_ms(found) < 100


def _in_two_parts(talk: Talk, pause_us: int) -> None:
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 0, ASKED + 200)
    at += 100_000
    talk.answer(at, ANSWERED, 1448, ASKED + 200)
    talk.client(at + HALF_US, ASKED + 200, 0, ANSWERED + 1448)
    at += pause_us
    talk.answer(at, ANSWERED + 1448, 100, ASKED + 200)
    talk.client(at + HALF_US, ASKED + 200, 0, ANSWERED + 1548)


def test_a_silence_of_unknown_cause_is_not_the_servers(tmp_path: Path) -> None:
    """Test a pause after a full segment, without IP identification: what followed may have been lost."""
    talk = Talk(place=CLIENT, numbered=False)
    _in_two_parts(talk, 2 * S)
    (slow,) = _run(tmp_path, talk).requests.filter(pl.col("response_ms") > 1000).iter_rows(named=True)
    assert slow["unknown_ms"] > 1900 and slow["server_ms"] < 200 and slow["pauses_ms"] == 0


@pytest.mark.parametrize("pause_s", [0.5, 3])
def test_pauses_within_an_answer_are_told(tmp_path: Path, pause_s: float) -> None:
    """Test that the first lines say so if the server paused for a second or more within its answer."""
    talk = Talk(place=SERVER)
    _in_two_parts(talk, round(pause_s * S))
    found = _run(tmp_path, talk)
    told = [line for line in sentences.of(found) if "without being asked" in line]
    assert len(told) == (pause_s >= 1)
    assert all(line.startswith("In it the server had begun to answer") for line in told)
    assert float(found.requests["pauses_ms"].max() or 0) == pytest.approx(3000 * len(told), abs=60)


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


def test_an_address_behind_a_translation_is_not_routed_to() -> None:
    """Test that a server with a public address is not told to set a route to a private one."""
    assert not _seen_by("192.168.1.4", ["192.229.232.240", "10.0.0.1"])
    assert _seen_by("192.168.1.4", ["10.0.0.1"]) and _seen_by("192.229.232.240", ["20.106.86.13"])
