# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a pause in the middle of an answer counts as part of its request's time."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import ANSWERED, ASKED, HALF_US, PLACES, _calm
from talk import RTT_US, Talk, explained


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("cause", "by", "window"), [("window_closed", "server", 0), ("server", "server", 65535)]
)
def test_a_pause_in_an_answer(tmp_path: Path, place: str, cause: str, by: str, window: int) -> None:
    talk = Talk(place=PLACES[place])
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    talk.answer(at + HALF_US, ANSWERED, 1448, ASKED + 200)
    talk.client(at + RTT_US, ASKED + 200, 0, ANSWERED + 1448, window=window)
    if window == 0:
        talk.client(at + RTT_US + 300_000, ASKED + 200, 0, ANSWERED + 1448)
    talk.answer(at + RTT_US + 300_000 + HALF_US, ANSWERED + 1448, 500, ASKED + 200)
    talk.close(at + 700_000, ASKED + 200, ANSWERED + 1948)
    found = explained(tmp_path, talk)
    (stall,) = found.stalls.iter_rows(named=True)
    assert (stall["cause"], stall["by"]) == (cause, by)
    slow = found.requests.filter(found.requests["response_ms"] > 200)
    assert slow[f"{cause}_ms"].to_list() == pytest.approx([300], abs=5)
    assert slow["transfer_ms"].to_list() == pytest.approx([2 * RTT_US / 1e3], abs=5)


@pytest.mark.parametrize("place", PLACES)
def test_a_pause_between_writes_begins_with_the_last_of_them(tmp_path: Path, place: str) -> None:
    """Test that a pause between two writes of an answer begins with the last segment of the first write, and
    not with the ACK of that segment."""
    talk = Talk(place=PLACES[place])
    at = _calm(talk)
    talk.client(at, ASKED, 200, ANSWERED)
    for k in range(4):
        talk.answer(at + HALF_US + 100_000 * k, ANSWERED + 500 * k, 500, ASKED + 200)
        talk.client(at + RTT_US + 100_000 * k, ASKED + 200, 0, ANSWERED + 500 * (k + 1))
    talk.close(at + 700_000, ASKED + 200, ANSWERED + 2000)
    found = explained(tmp_path, talk)
    slow = found.requests.filter(found.requests["response_ms"] > 200)
    assert slow["server_ms"].to_list() == pytest.approx([300], abs=5)
