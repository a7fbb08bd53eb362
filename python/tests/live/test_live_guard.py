# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the guard of `tcplearn live` on simulated counts of connections (docs/live-guard.md has the results of
longer simulations)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import guard_trial
import pytest

from tcplearn.live.arms import CONTROL, EPOCHS, OURS, WHOLE, Place, Seen, name_of, none
from tcplearn.live.epochs import Epochs
from tcplearn.live.guard import Guard, Plan
from tcplearn.live.places_guard import PlacesGuard
from tcplearn.live.power import rounds_to_stop
from tcplearn.live.simulated import Fleet, Path, count, guarded, key_of

CALM = Path(loss=0.01)
HARMED = Path(loss=0.01, spurious=(0.0, 0.02))
#: Stock against stock: nothing, little, much that is spurious; short and long, like and unlike connections.
ALIKE = [
    Path(loss=0.02, spurious=(rate, rate), wait_ms=(230, 230), rounds=rounds, unlike=unlike)
    for rate in (0.0, 0.0012, 0.039)
    for rounds in (5, 50, 400)
    for unlike in (0.5, 4.0)
]
HALF = Plan(steps=(0.5,))


def _texts(guard: Guard) -> list[str]:
    return [entry.text for entry in guard.journal]


def _ours(fleet: Fleet) -> int:
    return sum(element[OURS]["rounds"] for element in fleet.seen.arms)


@pytest.mark.parametrize("plan", [Plan(), HALF], ids=["ramp", "half"])
@pytest.mark.parametrize("at_once", [1, 30])
def test_stock_against_stock_is_no_harm(plan: Plan, at_once: int) -> None:
    """Test that the guard seldom stops when stock is compared with stock: at most twice in 20 runs."""
    stopped = 0
    for seed in range(20):
        fleet = Fleet(ALIKE, seed, at_once=at_once)
        guard = guarded(fleet, plan)
        fleet.play(10_000, guard)
        stopped += any("tries again" in text and "had" in text for text in _texts(guard))
    assert stopped <= 2


def test_harm_is_stopped_within_2000_requests() -> None:
    for seed in range(5):
        fleet = Fleet([HARMED] * 50, seed)
        guard = guarded(fleet, HALF)
        while guard.step is not None and fleet.rounds < 20_000:
            fleet.play(fleet.rounds + 50, guard)
        assert guard.step is None and guard.share == 0 and _ours(fleet) <= 2000
        assert "connections with learned floors had spurious retransmissions" in _texts(guard)[-1]
        assert guard.epochs.now(fleet.seen.arms)[OURS]["connections"] == 0


@pytest.mark.parametrize(("is_recognised", "most"), [(True, 2000), (False, 3000)])
def test_harm_that_begins_when_nearly_all_have_floors_is_stopped(is_recognised: bool, most: int) -> None:
    """Test that the guard goes back to halves at the first sign of harm, and then stops floors, also if
    spurious retransmissions are not known as such."""
    harmful = replace(HARMED, loss=0.0, is_recognised=is_recognised)
    rounds = []
    for seed in range(9):
        fleet = Fleet([replace(CALM, loss=0.001)] * 50, seed, look_every_s=1.0)
        guard = guarded(fleet, HALF)
        fleet.play(20_000, guard)
        before = _ours(fleet)
        assert guard.share > 0.9 * WHOLE
        fleet.paths = [harmful] * 50
        while guard.step is not None and fleet.rounds < 60_000:
            fleet.play(fleet.rounds + 20, guard)
        texts = _texts(guard)
        assert guard.step is None and any("to compare, because" in text for text in texts), texts
        rounds.append(_ours(fleet) - before)
    assert sorted(rounds)[4] <= most, rounds


def test_losses_that_increase_for_all_raise_few_doubts() -> None:
    """Test that the guard does not go back to halves again and again if the paths of both groups lose more
    than before."""
    for seed in range(5):
        fleet = Fleet([replace(CALM, loss=0.001)] * 50, seed)
        guard = guarded(fleet, HALF)
        fleet.play(20_000, guard)
        fleet.paths = [replace(CALM, loss=0.03)] * 50
        fleet.play(120_000, guard)
        doubts = sum("to compare" in text for text in _texts(guard))
        assert doubts <= 2 and guard.share > 0.9 * WHOLE, _texts(guard)


def test_long_connections_raise_no_doubt() -> None:
    """Test that young connections with floors are not compared with old ones of the control group: a
    connection on a lossy path has its first retransmission early, and 20 connections begin in a second."""
    for seed in range(2):
        paths = [replace(CALM, loss=0.03, rounds=200)] * 50
        fleet = Fleet(paths, seed, at_once=200, rounds_per_s=4000)
        guard = guarded(fleet, replace(HALF, least_s=30.0))
        fleet.play(300_000, guard)
        assert guard.share > 0.9 * WHOLE and not any("to compare" in text for text in _texts(guard))


def test_a_glance_sees_what_a_look_decides() -> None:
    """Test that is_pressing() is true just before the share is lowered because of harm or doubt, and at no
    other time."""
    fleet = Fleet([replace(CALM, loss=0.001)] * 50, 1)
    guard = guarded(fleet, HALF)
    fleet.play(20_000, guard)
    fleet.paths = [replace(HARMED, loss=0.0, is_recognised=False)] * 50
    lowered, fleet.look_every_s = 0, 1e9  # from here on the fleet does not look by itself
    while guard.step is not None and fleet.rounds < 60_000:
        fleet.play(fleet.rounds + 100, guard)
        share, is_pressing = guard.share, guard.is_pressing(fleet.seen.arms)
        guard.look(fleet.now_s, fleet.seen)
        assert is_pressing == (guard.share < share)
        lowered += guard.share < share
    assert lowered >= 2 and guard.step is None


def test_harm_is_found_sooner_if_many_long_connections_are_open() -> None:
    """Test that 50 open connections show harm sooner than as many, each after the end of the one before: the
    guard counts a connection when it has its first spurious retransmission."""
    found = {
        k: sorted(rounds_to_stop(0.02, 100.0, k, seed) or (20_000, 0) for seed in range(15)) for k in (1, 50)
    }
    middle = {k: of[7][0] for k, of in found.items()}
    assert middle[50] < 1500 < middle[1], middle


def test_open_connections_add_up() -> None:
    """Test that connections that take turns leave the same kind of counts as complete ones."""
    fleet = Fleet([HARMED] * 5, 3, at_once=7).play(4000)
    counts = fleet.seen.arms[0][OURS]
    places = [place.ours for place in fleet.seen.places.values()]
    for name in ("connections", "rounds", "spurious", "needed"):
        assert counts[name] == sum(place[name] for place in places), name
    assert (
        counts["rounds"] == fleet.rounds
        and 0 < counts["spurious_4"] < counts["spurious_1"] <= counts["connections"]
    )


def test_it_tries_again_and_waits_longer_each_time() -> None:
    fleet = Fleet([HARMED] * 50, 1)
    guard = guarded(fleet, Plan(steps=(0.5,), again_s=100.0))
    waits = []
    while len(waits) < 3:
        fleet.play(fleet.rounds + 100, guard)
        if guard.step is None:
            waits.append(round(guard.again_at_s - fleet.now_s))
            fleet.now_s = guard.again_at_s
    assert 90 <= waits[0] <= 100 and 190 <= waits[1] <= 200 and 390 <= waits[2] <= 400
    assert "the guard tries again" in _texts(guard)[2]


def test_the_ramp_takes_its_steps_and_keeps_a_control_group() -> None:
    fleet = Fleet([CALM] * 20, 3)
    guard = guarded(fleet, Plan())
    fleet.play(60_000, guard)
    steps = ["1 %", "2 %", "5 %", "10 %", "20 %", "50 %", "95 %"]
    assert [text.split(" of")[0] for text in _texts(guard)] == steps
    control, ours = (guard.epochs.now(fleet.seen.arms)[arm]["connections"] for arm in (CONTROL, OURS))
    assert 0.03 < control / (control + ours) < 0.07


def test_no_step_without_connections_that_have_floors() -> None:
    fleet = Fleet([CALM], 1)
    guard = guarded(fleet, Plan())
    for _ in range(1000):
        count(fleet.seen.arms[0][OURS], 20, 0, (), is_lowered=False)
    guard.look(10_000.0, fleet.seen)
    assert guard.step == 0


def test_harm_that_begins_later_is_compared_by_halves_and_stopped() -> None:
    fleet = Fleet([CALM] * 20, 2)
    guard = guarded(fleet, Plan())
    fleet.play(80_000, guard)
    assert guard.step == len(Plan().steps)
    before = _ours(fleet)
    fleet.paths = [HARMED] * 20
    while guard.step is not None and fleet.rounds < 200_000:
        fleet.play(fleet.rounds + 50, guard)
    assert any("to compare" in text for text in _texts(guard))
    assert guard.step is None and _ours(fleet) - before < 4000


def test_the_kill_switch() -> None:
    fleet = Fleet([CALM], 1)
    guard = guarded(fleet, Plan())
    guard.look(1.0, fleet.seen, killed=True)
    assert guard.share == 0 and "the kill switch is set" in _texts(guard)[-1]
    guard.look(2.0, fleet.seen, killed=False)
    assert guard.share == round(0.01 * WHOLE)


def test_a_place_with_harm_is_stock_and_the_others_go_on() -> None:
    fleet = Fleet([Path(spurious=(0.0, 0.03)), *[CALM] * 30], 5)
    guard = guarded(fleet, HALF)
    fleet.play(60_000, guard)
    assert list(guard.places.stopped(fleet.now_s)) == [key_of(0)] and guard.step == 1
    assert f"{name_of(key_of(0))} gets no learned floors" in " ".join(_texts(guard))
    ours = fleet.seen.places[key_of(0)].ours
    assert ours["spurious"] < 10 and ours["rounds"] < 600


SIDE = dict.fromkeys(("connections", "rounds", "resent", "needed", "spurious", "wait"), 0)


def _place(rounds: int, spurious: int, stock: int = 0) -> Place:
    """Return a place (destination prefix) with these counts of connections with learned floors. Its
    connections without floors have had a tenth of the rounds and `stock` spurious retransmissions."""
    return Place(
        SIDE | {"rounds": rounds // 10, "spurious": stock}, SIDE | {"rounds": rounds, "spurious": spurious}
    )


def _found(
    guard: PlacesGuard, looks: int, rounds: int, spurious: int, keys: Sequence[bytes], stock: int = 0
) -> list[str]:
    """Return what the guard finds in so many looks, between which the places `keys` have had these rounds."""
    found = []
    for k in range(1, looks + 1):
        places = {key: _place(rounds * k, spurious * k, stock * k) for key in keys}
        found += guard.look(float(k), places, 0.0)
    return found


def test_what_the_path_does_to_all_connections_at_once_is_no_harm_of_a_place() -> None:
    """Test that a path that holds up all connections at once, with floors or without, stops nothing, and that
    as many spurious retransmissions stop a place if the connections without floors have none."""
    guard, key = PlacesGuard(), key_of(0)
    assert not _found(guard, 3, 300, 12, [key], stock=1)
    # what the place has alone afterwards counts in full
    for k in range(1, 40):
        found = list(guard.look(3.0 + k, {key: _place(900 + 25 * k, 36 + k, 3)}, 0.0))
        if found:
            break
    assert found and 5 < k < 39
    assert _found(PlacesGuard(), 3, 300, 12, [key])


def test_events_of_one_moment_are_one_over_a_restart_too() -> None:
    """Test the stored counts of a place that the path has held up, and counts after a time without looks,
    which are not of one moment."""
    guard, key = PlacesGuard(), key_of(0)
    assert not _found(guard, 3, 300, 12, [key], stock=1)
    judged, again = guard.judged(key), PlacesGuard()
    assert judged is not None and judged["spurious"] == 3 * 11
    again.keep_on(100.0, [], {key: judged})
    assert not list(again.look(100.0, {key: _place(900, 36, 3)}, 0.0))
    assert list(again.look(4000.0, {key: _place(1200, 100, 4)}, 0.0))


def test_a_place_that_the_program_forgot_is_judged_anew() -> None:
    """Test that a prefix whose counts begin again after a stop, because the BPF program's map was full, is
    stopped for what it has had since, although this is less than before."""
    places, key = PlacesGuard(), key_of(0)
    assert _found(places, 12, 25, 1, [key]) and key in places.stopped(0.0)
    assert not list(places.look(60.0, {key: _place(300, 12)}, 0.0))
    assert not list(places.look(200_000.0, {key: _place(40, 0)}, 0.0)) and not places.stopped(200_000.0)
    assert list(places.look(200_100.0, {key: _place(200, 9)}, 0.0))


def test_one_spurious_retransmission_stops_a_place_only_where_many_places_were_harmed() -> None:
    def stopped(harmed: int) -> int:
        guard = PlacesGuard()
        assert len(_found(guard, 5, 20, 1, [key_of(n) for n in range(harmed)])) == harmed
        places = {key_of(n): _place(100, 5 if n < harmed else 0) for n in range(100)}
        return len(list(guard.look(6.0, places | {key_of(500): _place(20, 1)}, 0.0)))

    assert [stopped(harmed) for harmed in (0, 2, 15)] == [0, 0, 1]


def test_an_element_that_is_used_again_keeps_what_it_had() -> None:
    """Test counts in the program's sixteen elements, which are reused: counts of finished epochs are summed
    by share."""
    fleet = Fleet([CALM], 1)
    epochs = Epochs()
    draw, expected = random.Random(1), dict[int, int]()
    for number in range(50):
        share = draw.choice((0, 100, WHOLE))
        epochs.begin(share, fleet.seen.arms)
        for _ in range(number):
            count(fleet.seen.arms[number % 16][OURS], 3, 0, (), True)
        assert epochs.now(fleet.seen.arms)[OURS]["rounds"] == 3 * number
        expected[share] = expected.get(share, 0) + 3 * number
    found = dict.fromkeys(expected, 0)
    for share, element in epochs.by_share(fleet.seen.arms):
        found[share] += element[OURS]["rounds"]
    assert found == expected


def test_many_places_with_harm_are_left_out_no_longer() -> None:
    """Test that the next step is decided without the places that alone have harm, as long as they are few."""

    def steps(harmed: int) -> bool:
        guard = guarded(Fleet([CALM], 1), Plan(steps=(0.1, 0.5), least_s=0.0))
        places = {key_of(n): _place(300, 6 if n < harmed else 0) for n in range(20)}
        ours = none() | {"connections": 300, "rounds": 6000, "rounds_lowered": 6000, "spurious": 6 * harmed}
        arms = Fleet([CALM], 1).seen.arms
        arms[guard.epoch % EPOCHS][OURS] = ours | {"spurious_square": 6 * harmed}
        arms[guard.epoch % EPOCHS][CONTROL] = none() | {"connections": 2700, "rounds": 54_000}
        for now_s in (1.0, 2.0):  # places are stopped after the first decision on the next step
            guard.look(now_s, Seen(arms, places))
        assert len(guard.places.stopped(2.0)) == harmed
        return guard.step == 1

    assert [steps(harmed) for harmed in (0, 2, 4, 5, 10)] == [True, True, True, False, False]


def test_false_alarms_on_recorded_connections() -> None:
    """Test some of the 200 draws of guard_trial.py for false alarms."""
    rows = guard_trial.recorded()
    assert len(rows) == 240 and sum(row.spurious for row in rows) > 300
    guards = [
        guard_trial.played(rows, seed, plan, 1000) for plan in guard_trial.PLANS.values() for seed in range(5)
    ]
    assert not any(guard.step is None for guard in guards)


@pytest.mark.full
def test_a_virtual_day() -> None:
    fleet, guard = guard_trial.day(3)
    assert guard.step == len(Plan().steps)
    lossy, harmful = fleet.effects[guard_trial.LOSSY], fleet.effects[guard_trial.HARMFUL]
    assert lossy.saved_ms > 0.8 * lossy.could_save_ms and harmful.harm < 0.25 * harmful.could_harm
    gain, harm = guard_trial.parts(guard_trial.whole(fleet))
    assert gain > 0.7 and harm < 0.4
