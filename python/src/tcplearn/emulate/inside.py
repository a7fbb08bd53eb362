# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Hold an emulated link, its two network namespaces and all processes in them:

python -m tcplearn.emulate.inside PARENT ORDER RESULT    # PARENT: a PID; the others: file handles of pipes

This process makes a PID namespace whose first process does the work. When the process PARENT, this process or
the first process ends, for whatever reason, the kernel kills everything in the PID namespace. The network
namespaces disappear with the last process in them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tcplearn import _native
from tcplearn.errors import FailedError, UserError
from tcplearn.interrupts import ENDING

from . import ends, kernel
from .commands import Commands, HandedOn
from .trial import Order

_SERVER_WITHIN_S = 30.0
_ALL = (*ENDING, signal.SIGINT)
_INTERRUPTED = 130


class _Stopped(Exception):
    """A signal came before the client's command was started."""


def _emulate(order: Order) -> dict[str, Any]:
    """Run the commands in `order` over the emulated link; return their result. Raise UserError or OSError."""
    server = ends.make("SERVER", "CLIENT")
    client = ends.make("CLIENT", "SERVER")
    commands = Commands({**order.environment, **ends.variables()})
    serving = commands.start_server(order.server, server.network) if order.server else 0
    if order.wait_port:
        kernel.enter(server.network)
        what = f"opened port {order.wait_port}"
        commands.wait_until(lambda: ends.is_listening(order.wait_port), serving, what, _SERVER_WITHIN_S)
        kernel.enter(client.network)
    stop = os.eventfd(0, os.EFD_CLOEXEC)
    link = (client.device, server.device, stop, order.syns, order.syn_acks, order.spin_us)
    carry = _native.EmulatedPath(order.hops, order.seed).carry
    try:
        carried = ThreadPoolExecutor(1).submit(carry, *link)
        signals = HandedOn(_ALL)
        asking = commands.start(order.command)
        signals.to(asking)
        signal.signal(signal.SIGINT, _ignore)  # a terminal sends it to the command too
        code = commands.wait(asking)
    finally:
        os.eventfd_write(stop, 1)  # the process ends only after its thread
    try:
        found = carried.result()
    except Exception as error:
        raise FailedError(f"the emulated link failed: {error}") from error
    served = commands.stop(serving) if serving else None
    overrun = ends.overrun(client) + ends.overrun(server)
    return {"exit_code": code, "server_exit_code": served, "overrun": overrun, **found}


def _ignore(_number: int, _frame: object) -> None:
    """Do nothing. A handler is used instead of SIG_IGN, because commands would inherit SIG_IGN."""


def _stop(_number: int, _frame: object) -> None:
    raise _Stopped


def _first_process(order: Order, alive: int, result: int) -> None:
    """Run the commands of `order` as the first process of a PID namespace, and write their result to the pipe
    `result`. Do nothing if the parent process has already ended, which closes its end of the pipe `alive`."""
    kernel.die_with_parent()
    if select.select([alive], (), (), 0)[0]:
        return
    with contextlib.suppress(OSError):  # without it, programs see PIDs in /proc that are not their own
        kernel.mount_own_proc()
    for number in _ALL:
        signal.signal(number, _stop)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ALL)
        found = _emulate(order)
    except UserError as error:
        found = {"error": str(error), "exit_code": error.exit_code}
    except OSError as error:
        found = {"error": f"no emulated link can be made here: {error.strerror}", "exit_code": 2}
    except _Stopped:
        found = {"error": "interrupted before the command was started", "exit_code": _INTERRUPTED}
    os.write(result, json.dumps(found).encode())


def _namespaces() -> None:
    """Move this process into a new mount namespace, and its children into a new PID namespace. A user other
    than root is root in a new user namespace. Raise OSError."""
    flags = kernel.NEW_NAMESPACE | kernel.NEW_PIDS
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        kernel.unshare(flags)
        return
    kernel.unshare(flags | kernel.NEW_USER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def main(parent: int, order: int, result: int) -> None:
    """Run the order from the pipe `order` in new namespaces; write its result to the pipe `result`."""
    kernel.die_with_parent()
    if os.getppid() != parent:
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)  # until each process has its handlers
    with os.fdopen(order) as pipe:
        given = Order(**json.load(pipe))
    try:
        _namespaces()
    except OSError as error:
        why = f"namespaces are not permitted here: {error.strerror}"
        os.write(result, json.dumps({"error": why, "exit_code": 2}).encode())
        return
    alive, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        _first_process(given, alive, result)
        os._exit(0)
    os.close(result)
    signal.signal(signal.SIGINT, _ignore)
    HandedOn(ENDING).to(child)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ALL)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
