# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs the guard beside the program: reads what was counted, asks the guard, and does what it says."""

from __future__ import annotations

import json
import sys
import syslog
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from tcplearn.output.files import write_atomically

from . import arms, notes
from .guard import Guard, Plan
from .program import Program

LOOK_EVERY_S = 5.0
KILL_SWITCH = Path("/etc/tcplearn/live.off")
_KILL_EVERY_S = 0.5


def to_stderr(text: str) -> None:
    print(f"live: {text}", file=sys.stderr, flush=True)


def to_journal(text: str) -> None:
    syslog.openlog("tcplearn-live", syslog.LOG_PID, syslog.LOG_DAEMON)
    syslog.syslog(syslog.LOG_NOTICE, text)


class Steward:
    def __init__(
        self, program: Program, plan: Plan, note: notes.Note, kill_switch: Path, say: Callable[[str], None]
    ) -> None:
        self._program, self._note, self._kill_switch, self._say = program, note, kill_switch, say
        self._said = 0
        self._done: tuple[int, int] = (-1, -1)
        seen = program.seen()
        self.guard = Guard(plan, time.time(), seen, kill_switch.exists())
        self._do(time.time(), seen)

    def keep(self) -> None:
        """Look again and again."""
        while True:
            for _ in range(round(LOOK_EVERY_S / _KILL_EVERY_S)):
                time.sleep(_KILL_EVERY_S)
                if self._kill_switch.exists() != self.guard.killed:
                    break
            self.look()

    def look(self) -> None:
        seen, now_s = self._program.seen(), time.time()
        self.guard.look(now_s, seen, self._kill_switch.exists())
        self._do(now_s, seen)

    def _do(self, now_s: float, seen: arms.Seen) -> None:
        guard = self.guard
        stopped = guard.places.stopped(now_s)
        self._program.make_stock(set(stopped))
        if (guard.share, guard.epoch) != self._done:
            self._done = guard.share, guard.epoch
            self._program.assign(*self._done)
        for entry in guard.news():
            self._say(entry.text)
        state = {
            "share": guard.share / arms.WHOLE,
            "stopped_until": guard.again_at_s if guard.step is None else None,
            "killed": guard.killed,
            "kill_switch": str(self._kill_switch),
            "places": [{"place": arms.name_of(key), **asdict(of)} for key, of in stopped.items()],
            "journal": [asdict(entry) for entry in guard.journal],
        }
        shown = {"guard": state, "arms": list(arms.pooled(guard.epochs.by_share(seen.arms)))}
        write_atomically(self._note.guarded, json.dumps(shown))
