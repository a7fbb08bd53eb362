# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the estimates of `tcplearn live report` for single destination prefixes (places)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tcplearn.live import arms, report
from tcplearn.live.arms import CONTROL, OURS, Place, name_of
from tcplearn.live.by_place import LEAST_ROUNDS, by_place, compared, renewed, since
from tcplearn.live.simulated import Fleet, key_of
from tcplearn.live.simulated import Path as Connections
from tcplearn.report import live as page

LOSSY = Connections(loss=0.02, spurious=(0.0, 0.001))
CALM = Connections(loss=0.0)
SAVED_MS = LOSSY.wait_ms[0] - LOSSY.wait_ms[1]


def _session(fleet: Fleet, share: float = 0.5) -> dict[str, Any]:
    (element,) = (one for one in fleet.seen.arms if any(arm["rounds"] for arm in one))
    counts = {"control": element[CONTROL], "ours": element[OURS], "stopped": arms.none()}
    return {
        "host": "one",
        "cgroup": "/",
        "observe": False,
        "since": 0.0,
        "until": 3600.0,
        "places": len(fleet.seen.places),
        "guard": None,
        "arms": [{"share": share, **counts}],
        "compared": compared(fleet.seen.places),
    }


def _halves(paths: list[Connections], seed: int, rounds: int) -> Fleet:
    """Return connections of which half have learned floors."""
    fleet, draw = Fleet(paths, seed), random.Random(seed)
    while fleet.rounds < rounds:
        at = draw.randrange(len(paths))
        connection = fleet.connect(paths[at], draw.choice((CONTROL, OURS)), key=key_of(at))
        fleet.advance(connection, connection.left)
    return fleet


def test_the_interval_of_a_place_has_what_was_saved() -> None:
    wrong = told = 0
    for seed in range(10):
        found = by_place([_session(_halves([LOSSY] * 10, seed, 40_000))])
        assert len(found) == 10
        for one in found:
            assert one.effect
            told += one.effect.less_ms.low > 0
            wrong += not one.effect.less_ms.low <= SAVED_MS <= one.effect.less_ms.high
            wrong += not one.ours.low <= 1.0 <= one.ours.high
    assert wrong <= 10 and told > 90, (wrong, told)


def test_a_place_with_too_few_rounds_is_left_out() -> None:
    session = _session(_halves([LOSSY, *[CALM] * 9], 1, 9_000))
    rounds = {one["place"]: one["ours"]["rounds"] for one in session["compared"]}
    found = {one.place: one for one in by_place([session])}
    assert set(found) == {place for place, had in rounds.items() if had >= LEAST_ROUNDS}
    assert [one.rounds for one in found.values()] == sorted((rounds[name] for name in found), reverse=True)
    calm = [one for name, one in found.items() if name != name_of(key_of(0))]
    assert calm and not any(one.effect for one in calm)
    assert all(one.ours.low == 0 < one.ours.high < 20 for one in calm)


def test_several_machines_are_merged_by_place() -> None:
    sessions = [_session(_halves([LOSSY], seed, 30_000)) for seed in (1, 2)]
    (one,), (both,) = by_place(sessions[:1]), by_place(sessions)
    assert one.effect and both.effect and both.rounds > one.rounds
    wide = [of.effect.less_ms.high - of.effect.less_ms.low for of in (both, one) if of.effect]
    assert wide[0] < wide[1]


def _counts(rounds: int) -> arms.Counts:
    return dict.fromkeys(("connections", "rounds", "resent", "needed", "spurious", "wait"), rounds)


def test_counts_since_the_share_was_changed() -> None:
    before = {key_of(0): Place(_counts(3), _counts(5)), key_of(1): Place(_counts(9), _counts(9))}
    now = {key_of(at): Place(_counts(4), _counts(8)) for at in range(3)}
    found = since(before, now)
    assert found[key_of(0)] == Place(_counts(1), _counts(3))
    assert found[key_of(1)] == now[key_of(1)], "the program has begun anew to count this place"
    assert found[key_of(2)] == now[key_of(2)]


def test_a_stopped_prefix_is_not_compared() -> None:
    """Test that rounds of connections that got no floors because of a stop count as those of no group."""
    before = {key_of(at): Place(_counts(1), _counts(1)) for at in range(2)}
    while_stopped = {key_of(at): Place(_counts(5), _counts(2)) for at in range(2)}
    begun = renewed(before, while_stopped, {key_of(0), key_of(7)})
    now = {key_of(at): Place(_counts(6), _counts(4)) for at in range(2)}
    assert since(begun, now) == {
        key_of(0): Place(_counts(1), _counts(2)),
        key_of(1): Place(_counts(5), _counts(3)),
    }


def test_screen_page_and_json_have_the_places(tmp_path: Path) -> None:
    session = _session(_halves([LOSSY] * 12, 1, 60_000))
    first = by_place([session])[0]
    text = "\n".join(report.lines([session]))
    assert f"by place      {first.place}: " in text and " ms less each lossy round, " in text
    assert "and 2 more places, in --json and --report" in text
    page.write([session], tmp_path / "page.html")
    assert first.place in (tmp_path / "page.html").read_text()
    shown = json.loads(json.dumps(report.figures([session]), allow_nan=False))
    assert len(shown["places"]) == 12 and shown["places"][0]["place"] == first.place
    less = shown["places"][0]["lossy_rounds"]["less_ms"]
    assert less["low"] < less["value"] < less["high"]
    assert shown["spurious_in_1000"]["ours"]["value"] > shown["spurious_in_1000"]["control"]["value"] == 0


def test_figures_of_nothing_are_json_too() -> None:
    shown = json.dumps(report.figures([]), allow_nan=False)
    assert json.loads(shown)["places"] == [] and json.loads(shown)["lossy_rounds"] is None
