# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run the guard, which limits the harm of `tcplearn live`: pass the BPF program's counts to the guard, apply
its decisions, and store its state."""

from __future__ import annotations

import json
import signal
import sys
import syslog
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.output.files import write_atomically

from . import arms, by_place, notes
from .guard import Guard, Plan
from .guard_state import State
from .program import Program
from .state_file import RefusedError, StateFile

LOOK_EVERY_S = 5.0
KILL_SWITCH = Path("/etc/tcplearn/live.off")
GLANCE_EVERY_S = 0.5  # time between two looks at the kill switch, and at whether the counts show harm
_KEEP_EVERY_S = 60.0  # the state is stored this often, and after each decision; a crash loses the rest
_ENDING = {signal.SIGTERM, signal.SIGINT}


def to_stderr(text: str) -> None:
    print(f"live: {text}", file=sys.stderr, flush=True)


def to_journal(text: str) -> None:
    syslog.openlog("tcplearn-live", syslog.LOG_PID, syslog.LOG_DAEMON)
    syslog.syslog(syslog.LOG_NOTICE, text)


class Steward:
    """Runs a guard for the BPF program `program` by the steps of `plan`."""

    def __init__(
        self,
        program: Program,
        plan: Plan,
        note: notes.Note,
        kill_switch: Path,
        say: Callable[[str], None],
        state_file: StateFile | None = None,
    ) -> None:
        self._program, self._note, self._kill_switch, self._say = program, note, kill_switch, say
        self._state_file = state_file
        self._is_kept = True  # False since the state could not be written
        self._kept_s = 0.0
        self._done: tuple[int, int] = (-1, -1)
        # counts by prefix when the comparison by prefix began: when the share was last changed or, if later,
        # when the last stop of floors to the prefix ended
        self._places_before: Mapping[bytes, arms.Place] = {}
        seen = program.seen()
        self.guard = Guard(plan, time.time(), seen, kill_switch.exists(), *self._read())
        self._do(time.time(), seen)

    def keep(self) -> None:
        """Let the guard decide every few seconds, until a signal comes. The signal is handled only after a
        decision is complete, so that the stored state is complete too."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        while not self._is_ended():
            self.look()
        self._keep(time.time(), self._program.seen())

    def _is_ended(self) -> bool:
        """Wait until the next decision is due, harm is to be stopped at once, or the kill switch, a file,
        changes. Return whether a signal came."""
        for _ in range(round(LOOK_EVERY_S / GLANCE_EVERY_S)):
            if signal.sigtimedwait(_ENDING, GLANCE_EVERY_S):
                return True
            is_switched = self._kill_switch.exists() != self.guard.killed
            if is_switched or self.guard.is_pressing(self._program.by_arm()):
                return False
        return False

    def look(self) -> None:
        """Read the BPF program's counts, let the guard decide by them, and apply its decisions."""
        seen, now_s = self._program.seen(), time.time()
        self.guard.look(now_s, seen, self._kill_switch.exists())
        self._do(now_s, seen)

    def _read(self) -> tuple[State | None, str]:
        """Return the guard's stored state, or None, and the reason why a stored state is not used, or ""."""
        try:
            return self._state_file.read() if self._state_file else None, ""
        except RefusedError as error:
            return None, str(error)

    def _keep(self, now_s: float, seen: arms.Seen) -> None:
        """Write the guard's state, with the counts `seen` so far, to its file. The guard continues if this
        fails, for example because of a full disk."""
        if not self._state_file:
            return
        self._kept_s = now_s
        try:
            self._state_file.write(self.guard.state(now_s, seen))
            self._is_kept = True
        except (UserError, OSError, ValueError) as error:
            if self._is_kept:
                self._say(f"the guard's state cannot be stored: {printable(str(error))}")
            self._is_kept = False

    def _do(self, now_s: float, seen: arms.Seen) -> None:
        guard = self.guard
        stopped = guard.places.stopped(now_s)
        self._program.make_stock(set(stopped))
        if (guard.share, guard.epoch) != self._done:
            self._done = guard.share, guard.epoch
            self._program.assign(*self._done)
            self._places_before = seen.places
        self._places_before = by_place.renewed(self._places_before, seen.places, stopped)
        news = guard.news()
        for entry in news:
            self._say(entry.text)
        if news or not 0 <= now_s - self._kept_s < _KEEP_EVERY_S:
            self._keep(now_s, seen)
        state = {
            "share": guard.share / arms.WHOLE,
            "since": guard.begun_s,
            "stopped_until": guard.again_at_s if guard.step is None else None,
            "killed": guard.killed,
            "kill_switch": str(self._kill_switch),
            "places": [{"place": arms.name_of(key), **asdict(of)} for key, of in stopped.items()],
            "journal": [asdict(entry) for entry in guard.journal],
        }
        shown = {
            "guard": state,
            "arms": list(arms.pooled(guard.epochs.by_share(seen.arms))),
            "compared": by_place.compared(seen.places, self._places_before),
        }
        write_atomically(self._note.guarded, json.dumps(shown))
