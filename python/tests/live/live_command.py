# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs `tcplearn live` as a user does, in a cgroup of a test, and sends requests over an emulated path."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lossy_path import LossyPath

from own_cgroup import own_cgroup
from tcplearn.errors import UserError
from tcplearn.live.conditions import need_all

AT_ONCE = ("--ramp", "none", "--control-percent", 0)  # words of start
_ENDS_WITHIN_S = 300  # also on a busy machine
TALK = Path(__file__).with_name("small_talk.py")


def missing() -> str:
    """Return the reason why the program cannot be loaded on this machine, or "" if it can."""
    try:
        need_all()
    except UserError as error:
        return str(error)
    return "" if Path("/dev/net/tun").exists() else "no /dev/net/tun"


def until(holds: Callable[[], bool], within_s: float, what: str = "it takes too long") -> None:
    """Wait until `holds` returns true. Fail with the text `what` if that takes longer than `within_s`."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def words_of(*words: object) -> list[str]:
    return [sys.executable, "-m", "tcplearn", "live", *map(str, words)]


@dataclass(frozen=True)
class Room:
    """Runs commands in a cgroup."""

    cgroup: Path

    def popen(self, words: list[str], **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(words, text=True, preexec_fn=self._join, **options)

    def run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        process = self.popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            output, errors = process.communicate(timeout=_ENDS_WITHIN_S)
        finally:
            process.kill()
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def live(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.run(words_of(*words))

    def _join(self) -> None:
        (self.cgroup / "cgroup.procs").write_text(str(os.getpid()))


@contextlib.contextmanager
def room() -> Iterator[Room]:
    with own_cgroup() as cgroup:
        try:
            yield Room(cgroup)
        finally:
            for left in (cgroup, *cgroup.glob("tcplearn-live-*")):
                subprocess.run(words_of("stop", "--cgroup", left), capture_output=True, check=False)
                if left != cgroup and left.exists():
                    left.rmdir()


@contextlib.contextmanager
def server(path: LossyPath) -> Iterator[None]:
    words = path.within(path.far, sys.executable, TALK, "serve")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            yield
        finally:
            process.kill()


def ask(path: LossyPath, count: int, pause_ms: float, address: str = "", each: int = 0) -> list[str]:
    """Return a command that sends `count` requests, with `each` requests per connection (0: all on one
    connection)."""
    words = [TALK, "ask", address or path.address, count, pause_ms, 1, *([each] if each else [])]
    return path.within(path.near, sys.executable, *words)


def tail(ms: Sequence[float]) -> tuple[float, float]:
    """Return the 99th percentile and the mean of the slowest 2 % of the response times `ms`."""
    ordered = sorted(ms)
    return ordered[int(0.99 * len(ordered))], fmean(ordered[-max(1, len(ordered) // 50) :])


def rto_ms_by_ss(path: LossyPath) -> list[float]:
    """Return the RTOs in ms that ss shows for the established connections of the near host."""
    shown = subprocess.run(
        path.within(path.near, "ss", "-tinH", "state", "established"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [float(word.removeprefix("rto:")) for word in shown.split() if word.startswith("rto:")]


def sessions(at: Room) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(at.live("status", "--json").stdout)
    return [one for one in found if str(at.cgroup) in one["cgroup"]]
