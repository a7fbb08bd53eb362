# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live start --state DIR` after it has ended: by stop, by kill -9, with a damaged state file,
and with a folder that vanishes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_command import Room, ask, missing, room, server, sessions, until, words_of
from lossy_path import LossyPath, Spec

from tcplearn.bpf.libbpf import map_of
from tcplearn.live import state_file
from tcplearn.live.arms import name_of
from tcplearn.live.guard import Plan
from tcplearn.live.simulated import Fleet, guarded, key_of
from tcplearn.live.simulated import Path as Simulated
from tcplearn.live.state_file import StateFile

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

_WAITS_S = 20.0


@pytest.fixture
def at() -> Iterator[Room]:
    with room() as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


def _start(at: Room, folder: Path, *more: object) -> dict[str, Any]:
    begun = at.live("start", "--state", folder, "--cgroup", at.cgroup, *more)
    assert begun.returncode == 0, begun.stderr
    return sessions(at)[0]


def _stop(at: Room) -> None:
    assert at.live("stop", "--cgroup", at.cgroup).returncode == 0


def _texts(session: dict[str, Any]) -> list[str]:
    return [entry["text"] for entry in session["guard"]["journal"]]


def _connections(session: dict[str, Any]) -> int:
    return sum(one[arm]["connections"] for one in session["arms"] for arm in ("control", "ours"))


def test_what_was_counted_is_there_after_a_stop(at: Room, folder: Path, tmp_path: Path) -> None:
    with LossyPath(Spec(rtt_ms=4), tmp_path) as path, server(path):
        first = _start(at, folder)
        assert at.run(ask(path, 40, 1, each=4)).returncode == 0
        _stop(at)
        second = _start(at, folder)
        assert _connections(first) == 0 and _connections(second) == 10
        assert second["guard"]["since"] == first["guard"]["since"] < second["since"]
        assert at.run(ask(path, 8, 1, each=4)).returncode == 0
        until(lambda: _connections(sessions(at)[0]) == 12, _WAITS_S)
        assert sessions(at)[0]["counts"]["connections"] == 2  # of this process
        _stop(at)


def _known(at: Room, folder: Path) -> None:
    """Write the state of a guard whose share is 95 % and that has made one place stock."""
    fleet = Fleet([Simulated(spurious=(0.0, 0.03)), *[Simulated(loss=0.01)] * 30], 5)
    fleet.now_s = time.time()
    guard = guarded(fleet, Plan(steps=(0.5,)))
    fleet.play(60_000, guard)
    assert guard.step == 1
    state = guard.state(time.time(), fleet.seen)
    own = state_file._netns().to_bytes(8, "little").hex()
    stops = [stop.model_copy(update={"key": own + stop.key[16:]}) for stop in state.stops]
    StateFile(folder, at.cgroup).write(state.model_copy(update={"stops": stops}))


def test_the_step_and_the_places_are_those_of_before_also_after_kill_9(at: Room, folder: Path) -> None:
    _known(at, folder)
    session = _start(at, folder)
    for _ in range(2):
        assert session["guard"]["share"] == pytest.approx(0.95, abs=1e-4)
        assert [place["place"] for place in session["guard"]["places"]] == [name_of(key_of(0))]
        note = json.loads(Path(f"/run/tcplearn-live/{session['pid']}.json").read_text())
        with map_of(note["maps"]["stock_places"]) as held:
            assert [name_of(key) for key in held.keys(32)] == [name_of(key_of(0))]
        assert (
            "95 % of the new connections have learned floors: the guard continues from 20"
            in _texts(session)[-1]
        )
        os.kill(session["pid"], signal.SIGKILL)
        session = _start(at, folder)
    _stop(at)


def test_the_kill_switch_is_obeyed_at_the_start(at: Room, folder: Path, tmp_path: Path) -> None:
    _known(at, folder)
    off = tmp_path / "off"
    off.write_text("")
    session = _start(at, folder, "--kill-switch", off)
    assert session["guard"]["killed"] and session["guard"]["share"] == 0
    off.unlink()
    until(lambda: sessions(at)[0]["guard"]["share"] > 0, _WAITS_S)
    assert sessions(at)[0]["guard"]["share"] == pytest.approx(0.95, abs=1e-4)
    _stop(at)


def test_a_damaged_file_begins_anew_and_says_so(at: Room, folder: Path) -> None:
    _known(at, folder)
    (path,) = folder.glob("live-*.json")
    path.write_text(path.read_text()[:500])
    session = _start(at, folder)
    (text,) = _texts(session)
    assert session["guard"]["share"] == pytest.approx(0.01, abs=1e-4)
    assert text.startswith("1 % of the new connections have learned floors: ")
    assert "is not used: it is damaged: JSON" in text
    assert path.with_suffix(".refused").exists()
    assert text.split("; ")[0] in at.live("status").stdout
    _stop(at)
    assert len(_texts(_start(at, folder))) == 2
    _stop(at)


def test_it_goes_on_where_the_file_cannot_be_written(at: Room, folder: Path) -> None:
    words = words_of("start", "--foreground", "--state", folder, "--cgroup", at.cgroup)
    process = at.popen(words, stderr=subprocess.PIPE)
    assert process.stderr
    assert "1 % of the new connections" in process.stderr.readline()
    shutil.rmtree(folder)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0
    assert sessions(at) == []


@pytest.mark.parametrize("ramp", ["steps", "none"])
def test_a_signal_ends_it_without_a_failure(at: Room, ramp: str) -> None:
    """Test that a signal ends the program with exit code 0, because systemd calls a unit failed that has
    another code."""
    words = words_of("start", "--foreground", "--ramp", ramp, "--cgroup", at.cgroup)
    process = at.popen(words, stderr=subprocess.PIPE)
    assert process.stderr and process.stderr.readline().startswith("live: ")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 0 and process.stderr.read() == ""
    assert sessions(at) == []


def test_a_folder_of_others_is_refused(at: Room, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    done = at.live("start", "--state", tmp_path, "--cgroup", at.cgroup)
    assert done.returncode != 0 and done.stderr.count("\n") == 1
    assert f"--state {tmp_path}: others can write to it; choose another folder" in done.stderr
