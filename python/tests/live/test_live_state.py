# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the guard makes the same decisions with restarts as without, and that old evidence does not
count."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

import pytest

from tcplearn.live import state_file
from tcplearn.live.arms import ARMS, CONTROL, EPOCHS, OURS, WHOLE, Seen, name_of, none
from tcplearn.live.guard import Guard, Plan
from tcplearn.live.guard_state import COUNTS_FOR_S, state_of
from tcplearn.live.simulated import Fleet, Path, guarded, key_of
from tcplearn.live.state_file import StateFile

CALM = Path(loss=0.01)
HARMED = Path(loss=0.01, spurious=(0.0, 0.02))
PLAN = Plan(least_s=0.0)
HALF = Plan(steps=(0.5,))
DAY_S = 86400.0
MIXED = [Path(loss=0.01, spurious=(0.001, 0.001)), Path(loss=0.02, spurious=(0.0, 0.03)), *[CALM] * 10]


def _restarted(fleet: Fleet, guard: Guard, plan: Plan, after_s: float = 0.0, killed: bool = False) -> Guard:
    """Return the guard of the next process, which has read the stored state. The program's counts start at
    zero."""
    text = guard.state(fleet.now_s, fleet.seen).model_dump_json()
    fleet.now_s += after_s
    fleet.seen = Seen([[none() for _ in range(ARMS)] for _ in range(EPOCHS)], {})
    return Guard(plan, fleet.now_s, fleet.seen, killed, state_of(text))


def _decided(guard: Guard) -> list[str]:
    """Return the guard's decisions in its journal, without the numbers of a place's rounds, because a restart
    resets this number while there is no evidence against the place."""
    texts = [re.sub(r"in \d+ rounds; the guard", "; the guard", entry.text) for entry in guard.journal]
    return [text for text in texts if "continues" not in text]


def _counted(guard: Guard, fleet: Fleet) -> dict[int, int]:
    found: dict[int, int] = {}
    for share, element in guard.epochs.by_share(fleet.seen.arms):
        found[share] = found.get(share, 0) + sum(arm["rounds"] for arm in element)
    return found


def _until_s(guard: Guard, fleet: Fleet) -> dict[bytes, float]:
    return {key: place.until_s for key, place in guard.places.stopped(fleet.now_s).items()}


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_doubt_is_kept(before: bool, after: bool) -> None:
    """Test that a guard that has gone back to halves to compare does not forget it when it is restarted or
    when the kill switch is set (`before` the restart, or `after` it) and removed."""
    fleet = Fleet([CALM] * 50, 1)
    guard = guarded(fleet, HALF)
    fleet.play(20_000, guard)
    assert guard.share > 0.9 * WHOLE
    fleet.paths = [Path(spurious=(0.0, 0.05), is_recognised=False)] * 50
    while guard.share > 0.9 * WHOLE:
        fleet.play(fleet.rounds + 100, guard)
    fleet.paths = [Path()] * 50  # nothing is retransmitted: not enough rounds to decide
    guard.look(fleet.now_s, fleet.seen, killed=before)
    guard = _restarted(fleet, guard, HALF, 1.0, killed=after)
    guard.look(fleet.now_s, fleet.seen, killed=False)
    guard.look(fleet.now_s + 61.0, fleet.seen, killed=False)
    assert guard.share == round(0.5 * WHOLE) and guard.state(fleet.now_s, fleet.seen).doubted


@pytest.mark.parametrize("paths", [[CALM] * 20, [HARMED] * 20, MIXED], ids=["calm", "harmed", "mixed"])
def test_with_restarts_it_decides_as_without(paths: list[Path]) -> None:
    """Test that a guard that is restarted makes the same decisions at the same times as one that is not, also
    on which places are stock."""
    fleets = [Fleet(paths, 3), Fleet(paths, 3)]
    plain, restarted = (guarded(fleet, PLAN) for fleet in fleets)
    for rounds in range(2000, 42_001, 2000):
        fleets[0].play(rounds, plain)
        fleets[1].play(rounds, restarted)
        restarted = _restarted(fleets[1], restarted, PLAN)
        plain.look(fleets[0].now_s, fleets[0].seen)
        restarted.look(fleets[1].now_s, fleets[1].seen)
    assert len(_decided(plain)) > 1 and _decided(restarted) == _decided(plain)
    assert (restarted.step, restarted.share) == (plain.step, plain.share)
    assert _until_s(restarted, fleets[1]) == _until_s(plain, fleets[0])
    assert _counted(restarted, fleets[1]) == _counted(plain, fleets[0])


def _stopped() -> tuple[Fleet, Guard]:
    fleet = Fleet([HARMED] * 50, 1)
    guard = guarded(fleet, HALF)
    while guard.step is not None:
        fleet.play(fleet.rounds + 50, guard)
    return fleet, guard


def test_what_was_stopped_stays_so_until_its_time() -> None:
    fleet, guard = _stopped()
    again_s = guard.again_at_s
    guard = _restarted(fleet, guard, HALF, after_s=600.0)
    assert guard.share == 0 and guard.step is None and guard.again_at_s == again_s
    fleet.now_s = again_s
    guard.look(fleet.now_s, fleet.seen)
    assert guard.step == 0 and guard.share == WHOLE // 2
    for _ in range(100):
        fleet.play(fleet.rounds + 100, guard)
        if guard.step is None:
            break
    assert guard.again_at_s - fleet.now_s > 7000  # twice as long, for the second time


@pytest.mark.parametrize("after_s", [COUNTS_FOR_S + 1, -COUNTS_FOR_S], ids=["old", "clock set back"])
def test_old_evidence_does_not_count(after_s: float) -> None:
    fleet = Fleet([CALM] * 20, 3)
    fleet.now_s = 2 * DAY_S
    guard = guarded(fleet, PLAN)
    fleet.play(60_000, guard)
    assert guard.step == len(PLAN.steps)
    guard = _restarted(fleet, guard, PLAN, after_s)
    assert guard.step == 0 and guard.share == round(0.01 * WHOLE) and guard.begun_s == fleet.now_s
    assert _counted(guard, fleet) == {guard.share: 0}
    assert "are no longer used" in guard.journal[-1].text


def test_what_is_young_counts() -> None:
    fleet = Fleet([CALM] * 20, 3)
    fleet.now_s = 2 * DAY_S
    guard = guarded(fleet, PLAN)
    fleet.play(60_000, guard)
    guard = _restarted(fleet, guard, PLAN, COUNTS_FOR_S - 1)
    assert guard.step == len(PLAN.steps) and "continues from 1970-01-03" in guard.journal[-1].text


def test_a_place_stays_stock_until_its_time_also_over_a_boot() -> None:
    fleet = Fleet([Path(spurious=(0.0, 0.03)), *[CALM] * 30], 5)
    guard = guarded(fleet, HALF)
    fleet.play(60_000, guard)
    (of,) = guard.places.stopped(fleet.now_s).values()
    state = guard.state(fleet.now_s, fleet.seen).model_copy(update={"boot": "one", "netns": 0})
    own, other = (number.to_bytes(8, "little") + key_of(0)[8:] for number in (5, 6))
    kept = Guard(HALF, fleet.now_s, Fleet([CALM], 1).seen, False, state.here("two", 5))
    assert kept.places.stopped(fleet.now_s) == {own: of} and name_of(own) == "10.0.0.0/24"
    assert not kept.places.stopped(of.until_s)
    assert [stop.key for stop in state.here("one", 5).stops] == [key_of(0).hex()]
    elsewhere = [state.stops[0].model_copy(update={"key": other.hex()})]  # a container's, numbered anew
    assert state.model_copy(update={"stops": elsewhere, "netns": 5}).here("two", 5).stops == []
    old = Guard(HALF, of.until_s - 60, Fleet([CALM], 1).seen, False, state.here("two", 5))
    assert old.places.stopped(of.until_s - 60)
    back = Guard(HALF, 0.0, Fleet([CALM], 1).seen, False, state)
    assert not back.places.stopped(8 * DAY_S)


def test_another_plan_and_the_kill_switch() -> None:
    fleet = Fleet([CALM] * 20, 3)
    guard = guarded(fleet, PLAN)
    fleet.play(60_000, guard)
    killed = _restarted(fleet, guard, PLAN, killed=True)
    assert (
        killed.share == 0
        and killed.step == len(PLAN.steps)
        and "kill switch is set" in killed.journal[-1].text
    )
    again = _restarted(fleet, killed, PLAN, killed=True)
    assert again.share == 0
    again.look(fleet.now_s, fleet.seen, killed=False)
    assert again.share == round(0.95 * WHOLE)
    fewer = _restarted(fleet, again, Plan(control=0.2))
    assert fewer.share == round(0.8 * WHOLE) and sum(_counted(fewer, fleet).values()) > 50_000
    more = _restarted(fleet, fewer, PLAN)
    assert (
        more.step == len(PLAN.steps) - 1 and more.share == WHOLE // 2
    )  # what 80 % have shown is not enough for 95 %


def test_counts_of_the_epoch_are_those_of_both_processes() -> None:
    fleet = Fleet([CALM], 1)
    guard = guarded(fleet, HALF)
    fleet.play(100, guard)
    before = [arm["rounds"] for arm in guard.epochs.now(fleet.seen.arms)]
    guard = _restarted(fleet, guard, HALF)
    assert [arm["rounds"] for arm in guard.epochs.now(fleet.seen.arms)] == before
    fleet.play(200, guard)
    now = guard.epochs.now(fleet.seen.arms)
    assert now[OURS]["rounds"] + now[CONTROL]["rounds"] == fleet.rounds


def test_over_a_boot_the_places_of_this_network_namespace_are_found(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = Fleet(MIXED, 5)
    guard = guarded(fleet, HALF)
    fleet.play(40_000, guard)
    file = StateFile(tmp_path / "state", FilePath("/sys/fs/cgroup"))
    monkeypatch.setattr(state_file, "_netns", lambda: 0)
    monkeypatch.setattr(state_file, "_boot", lambda: "before")
    file.write(guard.state(fleet.now_s, fleet.seen))
    monkeypatch.undo()
    found = file.read()
    assert found and found.stops and found.places and found.netns > 0
    assert {int.from_bytes(bytes.fromhex(stop.key)[:8], "little") for stop in found.stops} == {found.netns}
