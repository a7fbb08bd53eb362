# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implement the process that `tcplearn live start` leaves behind. It attaches the BPF program and reports on
standard output whether this succeeded. Then it runs the guard or, without one, becomes `sleep`, which only
keeps the BPF links open. When it ends, the BPF program is detached. It is started by `python -m
tcplearn.live.holder ORDER`, with the order as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tcplearn.errors import UserError

from . import notes
from .guard import Plan
from .program import Program, Settings
from .state_file import StateFile
from .steward import KILL_SWITCH, Steward, to_journal, to_stderr

READY = "ready"


@dataclass(frozen=True)
class Order:
    """The arguments of `tcplearn live start`: the cgroup, the BPF program's settings, and the guard's plan,
    which has the steps of the share of new connections with learned minimum RTOs."""

    cgroup: str
    settings: Settings
    plan: Plan | None = None  # None: no guard
    kill_switch: str = str(KILL_SWITCH)
    state: str = ""  # the folder in which the guard's state is stored; "": not stored

    def words(self) -> str:
        return json.dumps(asdict(self))


def order_of(words: str) -> Order:
    given = json.loads(words)
    plan = given["plan"]
    if plan:
        plan = Plan(**{**plan, "steps": tuple(plan["steps"])})
    return Order(given["cgroup"], Settings(**given["settings"]), plan, given["kill_switch"], given["state"])


def begin(order: Order, say: Callable[[str], None]) -> tuple[notes.Note, list[int], Steward | None]:
    """Attach the BPF program as `order` says. Return the note (a file in /run) on this process, the
    descriptors of the BPF links, and the guard, if the order has a plan. Raise UserError."""
    cgroup = Path(order.cgroup)
    state_file = StateFile(Path(order.state), cgroup) if order.plan and order.state else None
    program = Program(order.settings)
    note = notes.write(cgroup, order.settings, program.maps())
    guard = None
    try:
        if order.plan:
            guard = Steward(program, order.plan, note, Path(order.kill_switch), say, state_file)
        return note, program.attach(cgroup), guard
    except BaseException:
        note.forget()
        raise


def stay(order: Order) -> None:
    """Keep the BPF program attached, as `order` says, until a signal ends this process. Raise UserError."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        note, _, guard = begin(order, to_stderr)
        try:
            if guard:
                guard.keep()
            else:
                to_stderr("started without a guard")
                signal.pause()
        finally:
            note.forget()


def main(order: Order) -> None:
    """Attach the BPF program as `order` says, and print READY, or print an error and exit. Then run the guard
    until a signal comes or, without a guard, become `sleep`."""
    try:
        note, links, guard = begin(order, to_journal)
    except (UserError, OSError) as error:
        print(error, flush=True)
        sys.exit(1)
    os.chdir("/")
    print(READY, flush=True)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    if guard:
        guard.keep()
        note.forget()
        return
    for link in links:
        os.set_inheritable(link, True)
    os.execvp("sleep", ["tcplearn-live", "infinity"])


if __name__ == "__main__":
    main(order_of(sys.argv[1]))
