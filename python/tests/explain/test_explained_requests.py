# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test which exchanges `explain` counts as requests, and the response times that it reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import PLACES
from talk import RTT_US, Talk, explained

HALF_US = RTT_US // 2


@pytest.mark.parametrize("place", PLACES)
def test_the_time_is_the_clients_wherever_it_is_seen(tmp_path: Path, place: str) -> None:
    talk = Talk(place=PLACES[place])
    at = talk.open()
    talk.client(at, 1, 300, 1)
    for k in range(10):
        talk.answer(at + HALF_US + 1000 * k, 1 + 1448 * k, 1448, 301)
    talk.close(at + 200_000, 301, 14_481)
    found = explained(tmp_path, talk)
    (request,) = found.requests.iter_rows(named=True)
    assert request["response_ms"] == pytest.approx(RTT_US / 1e3 + 9, abs=0.1)
    assert (request["request_bytes"], request["answer_bytes"]) == (300, 14_480)
    assert not request["pipelined"]
    assert (request["client"], request["server"]) == ("10.0.0.1", "10.0.0.2:80")
    assert found.connections["handshake_ms"].to_list() == pytest.approx([RTT_US / 1e3], abs=0.1)


def test_a_stream_of_one_way_has_no_requests(tmp_path: Path) -> None:
    talk = Talk()
    at = talk.open()
    for k in range(30):
        talk.client(at + 1000 * k, 1 + 1448 * k, 1448, 1)
        talk.answer(at + 1000 * k + HALF_US, 1, 0, 1 + 1448 * (k + 1))
    found = explained(tmp_path, talk)
    assert found.requests.height == 0
    assert found.connections["client_bytes"].to_list() == [30 * 1448]


def test_a_server_that_speaks_first_answers_nothing(tmp_path: Path) -> None:
    talk = Talk()
    at = talk.open()
    talk.answer(at + 10_000, 1, 50, 1)
    talk.client(at + 100_000, 1, 20, 51)
    talk.answer(at + 100_000 + HALF_US, 51, 30, 21)
    talk.close(at + 300_000, 21, 81)
    (request,) = explained(tmp_path, talk).requests.iter_rows(named=True)
    assert (request["request_bytes"], request["answer_bytes"]) == (20, 30)


def test_pipelined_requests_are_told(tmp_path: Path) -> None:
    """Test two requests of which the second is sent before the answer to the first is complete."""
    talk = Talk()
    at = talk.open()
    talk.client(at, 1, 100, 1)
    talk.answer(at + HALF_US, 1, 1448, 101)
    talk.client(at + RTT_US + 1000, 101, 100, 1449)
    talk.answer(at + HALF_US + 25_000, 1449, 1448, 101)
    talk.answer(at + RTT_US + 1000 + HALF_US, 2897, 700, 201)
    talk.close(at + 300_000, 201, 3597)
    first, second = explained(tmp_path, talk).requests.iter_rows(named=True)
    assert first["pipelined"] and second["pipelined"]
    assert (first["answer_bytes"], second["answer_bytes"]) == (2896, 700)
    assert first["response_ms"] == pytest.approx(65, abs=1)
    assert second["response_ms"] == pytest.approx(40, abs=1)


def test_the_answer_to_one_of_several_under_way(tmp_path: Path) -> None:
    """Test that `explain` does not blame the server while the second of two requests is on its way."""
    talk = Talk()
    at = talk.exchanges(talk.open(), 4)
    talk.client(at, 801, 100, 5)
    talk.client(at + 38_000, 901, 100, 5)
    talk.answer(at + HALF_US, 5, 700, 901)
    talk.client(at + RTT_US, 1001, 0, 705)
    talk.answer(at + 38_000 + HALF_US, 705, 700, 1001)
    talk.close(at + 300_000, 1001, 1405)
    found = explained(tmp_path, talk)
    *_, first, second = found.requests.iter_rows(named=True)
    assert first["pipelined"] and second["pipelined"]
    assert [first["response_ms"], second["response_ms"]] == pytest.approx([40, 40], abs=1)
    assert found.stalls.height == 0 and found.requests["server_ms"].sum() == 0


def test_a_connection_that_was_under_way(tmp_path: Path) -> None:
    """Test a connection whose handshake was not captured: the host with the lower port is taken for the
    server."""
    talk = Talk()
    at = talk.exchanges(1000, 20)
    talk.close(at, 4001, 21)
    found = explained(tmp_path, talk)
    assert found.requests.height == 20
    assert found.connections["handshake_ms"].to_list() == [None]
    assert found.connections["server"].to_list() == ["10.0.0.2:80"]


def test_an_answer_that_never_came_is_no_request(tmp_path: Path) -> None:
    talk = Talk()
    at = talk.exchanges(talk.open(), 3)
    talk.client(at, 601, 200, 4)
    found = explained(tmp_path, talk)
    assert found.requests.height == 3


def test_a_request_whose_sequence_numbers_jump(tmp_path: Path) -> None:
    """Test a damaged capture whose sequence numbers jump by half of their range before the request is
    answered. Data before the jump cannot be compared with data after it."""
    talk = Talk()
    at = talk.open()
    talk.client(at, 1, 200, 1)
    talk.client(at + 1000, 1 + 2**31, 100, 1)
    talk.answer(at + 21_000, 1, 50, 101 + 2**31)
    talk.close(at + 200_000, 101 + 2**31, 51)
    found = explained(tmp_path, talk)
    assert found.requests["request_bytes"].to_list() == [100]
    spent = sum(value for name, value in found.requests.row(0, named=True).items() if name.endswith("_ms"))
    assert spent == pytest.approx(2 * found.requests["response_ms"][0])
