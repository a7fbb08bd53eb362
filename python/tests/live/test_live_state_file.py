# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the file of the guard's state: a written file is read again, and a damaged or hostile file is renamed
with one line of warning."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tcplearn.errors import UserError
from tcplearn.live.arms import WHOLE
from tcplearn.live.guard import Guard, Plan
from tcplearn.live.guard_state import FORMAT, State, state_of
from tcplearn.live.simulated import Fleet, guarded
from tcplearn.live.simulated import Path as Simulated
from tcplearn.live.state_file import RefusedError, StateFile

HALF = Plan(steps=(0.5,))
DAY_S = 86400.0
PATHS = [Simulated(loss=0.02, spurious=(0.001, 0.03)), *[Simulated(loss=0.01)] * 10]


@pytest.fixture
def file(tmp_path: Path) -> StateFile:
    return StateFile(tmp_path / "state", Path("/sys/fs/cgroup"))


def _written(file: StateFile) -> dict[str, Any]:
    fleet = Fleet(PATHS, 5)
    guard = guarded(fleet, HALF)
    fleet.play(40_000, guard)
    assert guard.places.stopped(fleet.now_s)
    file.write(guard.state(fleet.now_s, fleet.seen))
    found: dict[str, Any] = json.loads(file.path.read_text())
    return found


def test_what_is_written_is_read(file: StateFile) -> None:
    assert file.read() is None
    written = _written(file)
    found = file.read()
    assert found and json.loads(found.model_dump_json()) == written
    assert file.path.parent.stat().st_mode & 0o777 == 0o700
    other = StateFile(file.path.parent, Path("/sys/fs/cgroup/other"))
    assert other.path != file.path and other.read() is None


def _changed(*where: Any, to: object) -> Callable[[dict[str, Any]], str]:
    def change(state: dict[str, Any]) -> str:
        at: Any = state
        for part in where[:-1]:
            at = at[part]
        at[where[-1]] = to
        return json.dumps(state)

    return change


_ARMS = ("epoch", "arms")
HOSTILE: dict[str, Callable[[dict[str, Any]], str]] = {
    "empty": lambda _: "",
    "cut off": lambda state: json.dumps(state)[:1000],
    "no JSON": lambda _: "\x00\xff",
    "deep": lambda _: "[" * 200_000,
    "a list": lambda _: "[]",
    "another version": _changed("format", to=FORMAT + 1),
    "more": _changed("more", to=1),
    "no number": _changed("saved_s", to="now"),
    "not finite": lambda state: json.dumps({**state, "saved_s": float("inf")}),
    "too large": _changed("saved_s", to=1e300),
    "a share above the whole": _changed("step", to=WHOLE + 1),
    "a negative count": _changed(*_ARMS, 0, "rounds", to=-1),
    "a huge count": _changed(*_ARMS, 0, "rounds", to=2**64),
    "an unknown count": _changed(*_ARMS, 0, "other", to=1),
    "two arms": lambda state: _changed(*_ARMS, to=state["epoch"]["arms"][:2])(state),
    "no key": _changed("stops", 0, "key", to="zz"),
    "an escape sequence": _changed("journal", 0, "text", to="\x1b[2J"),
    "a long text": _changed("journal", 0, "text", to="x" * 10_000),
    "no attempts": _changed("attempts", to=0),
    "9 MB": lambda state: json.dumps(state) + " " * (9 << 20),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_is_put_aside_in_a_line(file: StateFile, change: Callable[[Any], str]) -> None:
    file.path.write_text(change(_written(file)), errors="surrogateescape")
    with pytest.raises(RefusedError) as error:
        file.read()
    said = str(error.value)
    assert "\n" not in said and len(said) < 500 and "\x1b" not in said
    assert f"{file.path} is not used: it is" in said
    assert said.endswith(f"it is now {file.path.stem}.refused, and the steps begin anew")
    assert not file.path.exists() and file.path.with_suffix(".refused").exists()
    assert file.read() is None
    _written(file)
    assert file.read()


def test_another_version_is_named(file: StateFile) -> None:
    file.path.write_text(_changed("format", to=FORMAT + 1)(_written(file)))
    with pytest.raises(RefusedError, match="it is of another version of tcplearn;"):
        file.read()


def _linked(path: Path) -> None:
    path.symlink_to(path.with_name("other"))
    path.with_name("other").write_text("{}")


def _writable(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0o622)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, _linked, _writable])
def test_what_is_no_file_of_its_own_is_put_aside(file: StateFile, make: Callable[[Path], None]) -> None:
    make(file.path)
    with pytest.raises(RefusedError, match="and the steps begin anew"):
        file.read()
    assert file.read() is None


def test_a_folder_to_which_others_can_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(UserError, match="others can write to it; choose another folder"):
        StateFile(tmp_path, Path("/"))
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file; name a directory"):
        StateFile(tmp_path / "file", Path("/"))


def _numbers(at: Any) -> Iterator[tuple[Any, Any]]:
    for key in at if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else ():
        if isinstance(at[key], int | float):
            yield at, key
        yield from _numbers(at[key])


def test_no_state_that_is_accepted_breaks_the_guard(file: StateFile) -> None:
    """Test states in which some numbers are replaced by ones that no guard writes. The guard must work with
    every such state that is accepted."""
    written, accepted = json.dumps(_written(file)), 0
    for seed in range(300):
        draw, state = random.Random(seed), json.loads(written)
        places = [*_numbers(state)]
        for at, key in draw.sample(places, draw.choice((1, 5, len(places)))):
            at[key] = draw.choice((0, 1, 7, 655, 10**6, 2**63, 2**64 - 1, 0.0, 1e9))
        state["format"] = FORMAT
        try:
            kept: State = state_of(json.dumps(state))
        except ValueError:
            continue
        accepted += 1
        fleet = Fleet(PATHS, seed)
        fleet.now_s = draw.choice((0.0, kept.saved_s, kept.saved_s + 100))
        guard = Guard(draw.choice((Plan(), HALF)), fleet.now_s, fleet.seen, False, kept)
        fleet.play(500, guard)
        assert 0 <= guard.share <= round(0.95 * WHOLE)
        assert guard.again_at_s <= fleet.now_s + DAY_S
    assert accepted > 50
