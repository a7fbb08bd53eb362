# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Keep a file (a note), which only root can read, in /run for each process that keeps the BPF program of
`tcplearn live` attached to a cgroup."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tcplearn.bpf.libbpf import map_of

from . import arms, by_place
from .program import Settings, counts_of, known

NOTES = Path("/run/tcplearn-live")
_MOST_PLACES = 200  # the most destination prefixes whose counts are shown: those with the most round trips
_ENDED = ("Z", "X")  # states in /proc/PID/stat, proc(5)
_STARTED = 19  # index of the start time in /proc/PID/stat, from the field behind the command's name


@dataclass(frozen=True)
class Note:
    """What a note says: which process keeps the BPF program attached to which cgroup, and since when."""

    pid: int
    started: int  # start of the process, in ticks since boot: a later process may have the same PID
    cgroup: str
    observe: bool
    bounds_backoff: bool
    share: int  # of connections with floors, in units of 1 / arms.WHOLE, unless a guard decides
    since: float  # seconds since 1970
    maps: Mapping[str, int]

    @property
    def lives(self) -> bool:
        return _started(self.pid) == self.started

    @property
    def path(self) -> Path:
        return NOTES / f"{self.pid}.json"

    @property
    def guarded(self) -> Path:
        """Return the path of the file to which a guard writes its state for other processes."""
        return NOTES / f"{self.pid}.guard"

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)
        self.guarded.unlink(missing_ok=True)

    def read(self) -> dict[str, object]:
        """Return, for JSON, a dict with the contents of this note (which process keeps the BPF program
        attached to which cgroup), the program's counts so far, and the guard's state."""
        with map_of(self.maps["counts"]) as counted:
            counts = counts_of(counted)
        with map_of(self.maps["hosts"]) as hosts, map_of(self.maps["places"]) as places:
            learned = {"hosts": known(hosts), "places": known(places)}
        shown = {name: value for name, value in asdict(self).items() if name not in ("maps", "started")}
        return {
            **shown,
            "host": socket.gethostname(),
            "until": time.time(),
            "cgroup_is_there": Path(self.cgroup).exists(),
            **learned,
            "counts": counts,
            **self._compared(),
        }

    def _compared(self) -> dict[str, object]:
        """Return, by name, the guard's state (None without a guard), the counts of each group (arm) of
        connections, and those of the destination prefixes with the most round trips: all of them ("traffic"),
        and those since the share of new connections with learned minimum RTOs last changed ("compared")."""
        with map_of(self.maps["traffic"]) as traffic:
            places = arms.places(traffic)
        shown = sorted(places.items(), key=lambda one: -one[1].rounds)[:_MOST_PLACES]
        traffic_of = [{"place": arms.name_of(key), **asdict(place)} for key, place in shown]
        with contextlib.suppress(OSError, ValueError):
            return {**json.loads(self.guarded.read_text()), "traffic": traffic_of}
        with map_of(self.maps["arms"]) as counted:
            pooled = arms.pooled([(self.share, arms.element(counted, 0))])
        return {
            "guard": None,
            "arms": list(pooled),
            "compared": by_place.compared(places),
            "traffic": traffic_of,
        }


def share_of(session: Mapping[str, Any]) -> float:
    """Return the share of new connections that gets learned minimum RTOs in `session`, a result of
    Note.read()."""
    return float(session["guard"]["share"] if session["guard"] else session["share"] / arms.WHOLE)


def _started(pid: int) -> int | None:
    """Return when the process `pid` was started, in clock ticks since boot, or None if there is no such
    process or it has ended and its parent has not yet waited for it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in _ENDED else int(fields[_STARTED])


def write(cgroup: Path, settings: Settings, maps: Mapping[str, int]) -> Note:
    """Write and return a note that this process keeps the BPF program attached to `cgroup`."""
    pid = os.getpid()
    started = _started(pid)
    assert started is not None
    fixed = (settings.observe, settings.bounds_backoff, settings.share)
    note = Note(pid, started, str(cgroup), *fixed, time.time(), dict(maps))
    NOTES.mkdir(mode=0o700, exist_ok=True)
    note.path.write_text(json.dumps(asdict(note)))
    return note


@contextlib.contextmanager
def noted(cgroup: Path, settings: Settings, maps: Mapping[str, int]) -> Iterator[Note]:
    """Write and yield a note that this process keeps the BPF program attached; remove it at the end."""
    note = write(cgroup, settings, maps)
    try:
        yield note
    finally:
        note.forget()


def living() -> list[Note]:
    """Return the note of each process that keeps the BPF program attached. Remove the notes of killed
    processes, because the kernel has detached their BPF programs."""
    found = []
    for path in sorted(NOTES.glob("*.json")):
        with contextlib.suppress(ValueError, TypeError, OSError):  # half written, or just removed
            note = Note(**json.loads(path.read_text()))
            if note.lives:
                found.append(note)
            else:
                note.forget()
    return found
