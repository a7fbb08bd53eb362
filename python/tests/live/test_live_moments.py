# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that `tcplearn live` may end at any moment, while connections are busy: no request goes unanswered,
nothing stays attached, and a new start works."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_command import AT_ONCE, Room, ask, missing, room, server, sessions, until, words_of
from lossy_path import LossyPath, Spec
from test_live_kernel import STOCK_MS

from tcplearn.bpf.build import tool
from tcplearn.bpf.libbpf import sock_ops_programs

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

ENDLESS = 10**9
KILLS, SEED = 10, 1
AFTER_S = 3.0  # every other kill comes within this time after the program was attached, the others before
_WAITS_S = 300.0


@pytest.fixture
def path(tmp_path: Path) -> Iterator[LossyPath]:
    with LossyPath(Spec(rtt_ms=5, loss=0.02), tmp_path) as made, server(made):
        yield made


@pytest.fixture
def at() -> Iterator[Room]:
    with room() as found:
        yield found


def _ended(talk: subprocess.Popen[str]) -> dict[str, Any]:
    """End an endless talk, and return what it has measured. It fails if a request was not answered."""
    talk.terminate()
    output = talk.communicate(timeout=_WAITS_S)[0]
    assert talk.returncode == 0
    found: dict[str, Any] = json.loads(output)
    return found


def _cgroups(at: Room) -> list[Path]:
    return [at.cgroup, *at.cgroup.glob("tcplearn-live-*")]


def _links(at: Room) -> list[dict[str, Any]]:
    """Return the BPF links to the room's cgroup and the cgroups below."""
    shown = subprocess.run(
        [tool("bpftool"), "-j", "link", "show"], capture_output=True, text=True, check=True
    )
    ours = {folder.stat().st_ino for folder in _cgroups(at)}
    return [link for link in json.loads(shown.stdout or "[]") if link.get("cgroup_id") in ours]


def test_stopped_while_busy(at: Room, path: LossyPath) -> None:
    assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
    talks = [at.popen(ask(path, ENDLESS, 3), stdout=subprocess.PIPE) for _ in range(4)]
    until(lambda: len(sessions(at)) == 1 and sessions(at)[0]["counts"]["rounds_lowered"] > 100, _WAITS_S)
    stopped = at.live("stop", "--cgroup", at.cgroup)
    assert stopped.returncode == 0 and "live: 4 connections, " in stopped.stdout, stopped
    assert sock_ops_programs(at.cgroup) == [] == _links(at) and sessions(at) == []
    new = json.loads(at.run(ask(path, 20, 3)).stdout)
    assert min(new["rto_ms"]) > STOCK_MS
    for talk in map(_ended, talks):
        assert talk["rto_ms"][-1] < STOCK_MS  # an open connection keeps its floor


def _kinds(at: Room, folder: Path) -> list[list[str]]:
    guarded = ["--state", folder / "state", "--kill-switch", folder / "off", "--cgroup", at.cgroup]
    return [
        words_of("start", "--foreground", *guarded),
        words_of("start", *guarded),
        words_of("run", "-q", "--", "sleep", "600"),
    ]


def _busy(for_s: float, off: Path) -> None:
    """Wait, and let the guard change the share of connections with floors again and again by its kill
    switch."""
    end = time.monotonic() + for_s
    while (left_s := end - time.monotonic()) > 0:
        if off.exists():
            off.unlink()
        else:
            off.write_text("")
        time.sleep(min(left_s, 0.6))


def _others(at: Room, ours: set[int]) -> set[int]:
    """Return the processes in the room's cgroups that are not `ours`. The kernel lists one that ends as 0."""
    listed = " ".join((folder / "cgroup.procs").read_text() for folder in _cgroups(at))
    return set(map(int, listed.split())) - ours - {0}


def _are_killed(at: Room, ours: set[int]) -> bool:
    """Kill all processes in the room's cgroups that are not `ours`. Return whether there were none."""
    others = _others(at, ours)
    for process in others:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return not others


def _loading_s(at: Room, words: list[str]) -> float:
    """Return how long a start takes now, and stop what was started."""
    begun_s = time.monotonic()
    assert at.run(words).returncode == 0
    loading_s = time.monotonic() - begun_s
    assert at.live("stop", "--cgroup", at.cgroup).returncode == 0
    return loading_s


@pytest.mark.full
def test_killed_at_any_moment(at: Room, path: LossyPath, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    kinds = _kinds(at, tmp_path)
    talks = [at.popen(ask(path, ENDLESS, 3, each=n), stdout=subprocess.PIPE) for n in (ENDLESS, 10)]
    ours = {talk.pid for talk in talks}
    loading_s = _loading_s(at, kinds[1])
    for moment in range(KILLS):
        process = at.popen(kinds[moment % len(kinds)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if moment % 2:
            until(lambda: bool(_links(at)), _WAITS_S)
            _busy(AFTER_S * draw.random(), tmp_path / "off")
        else:
            time.sleep(loading_s * draw.random())
        # again and again, because a killed process may just have started one
        until(lambda: _are_killed(at, ours), _WAITS_S)
        process.wait(timeout=_WAITS_S)
        until(lambda: not _links(at), _WAITS_S)
        assert sock_ops_programs(at.cgroup) == [] == sessions(at)
        assert all(talk.poll() is None for talk in talks)
    (tmp_path / "off").unlink(missing_ok=True)
    _loading_s(at, kinds[1])
    until(lambda: not _others(at, ours), _WAITS_S)
    assert all(_ended(talk)["ms"] for talk in talks)
