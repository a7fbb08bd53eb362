# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs a command in a cgroup of its own, to which the BPF program of `tcplearn live` is attached until the
command ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.interrupts import waited
from tcplearn.output.numbers import counted

from .conditions import here, need_all, need_free
from .notes import noted
from .program import Program, Settings

_PREFIX = "tcplearn-live-run-"
_NOT_FOUND, _NOT_RUN, _BY_SIGNAL = 127, 126, 128
_REMOVED_AFTER_S = 2.0


def run(command: Sequence[str], settings: Settings) -> tuple[int, dict[str, int]]:
    """Run `command` in a cgroup of its own with the BPF program attached. Return the command's exit code, as
    a shell gives it, and the BPF program's counts. Raise UserError."""
    need_all()
    need_free(here())
    with own_cgroup() as cgroup, Program(settings) as program:
        program.attach(cgroup)
        with noted(cgroup, settings, program.maps()):
            code = _exit_code(command, cgroup)
        return code, program.counts()


@contextlib.contextmanager
def own_cgroup() -> Iterator[Path]:
    """Yield a new cgroup below the cgroup of this process, and remove it afterwards. Processes that still run
    in it are first moved to the cgroup of this process."""
    under = here()
    _remove_left(under)
    cgroup, lock = _made(under)
    try:
        yield cgroup
    finally:
        _remove(cgroup, under)
        os.close(lock)


def _made(under: Path) -> tuple[Path, int]:
    """Make and lock a cgroup below `under`; return its path and the descriptor of the lock. The name is
    random instead of a PID, because PIDs repeat in other PID namespaces. If another `tcplearn live run`
    removes the cgroup before it is locked, make another one."""
    while True:
        cgroup = under / f"{_PREFIX}{secrets.token_hex(8)}"
        try:
            cgroup.mkdir()
        except OSError as error:
            raise UserError(f"{printable(under)}: no cgroup can be made here: {error.strerror}") from error
        lock = _locked(cgroup)
        if lock is not None and cgroup.exists():
            return cgroup, lock
        if lock is not None:
            os.close(lock)


def _locked(cgroup: Path) -> int | None:
    """Lock the folder of `cgroup`; return the lock's descriptor, or None if the `tcplearn live run` that made
    the cgroup still runs, or the cgroup does not exist."""
    try:
        lock = os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _remove_left(under: Path) -> None:
    """Remove the cgroups without a process that a killed `tcplearn live run` left below `under`."""
    for cgroup in under.glob(f"{_PREFIX}*"):
        lock = _locked(cgroup)
        if lock is not None:
            with contextlib.suppress(OSError):
                cgroup.rmdir()
            os.close(lock)


def _remove(cgroup: Path, under: Path) -> None:
    end = time.monotonic() + _REMOVED_AFTER_S
    while cgroup.exists() and time.monotonic() < end:
        for process in (cgroup / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (under / "cgroup.procs").write_text(process)
        with contextlib.suppress(OSError):  # a process that has ended may be counted for a moment
            cgroup.rmdir()
            return
        time.sleep(0.01)


def _exit_code(command: Sequence[str], cgroup: Path) -> int:
    def join() -> None:
        (cgroup / "cgroup.procs").write_text("0")

    try:
        process = subprocess.Popen(command, preexec_fn=join)
    except FileNotFoundError as error:
        raise _NotRun(f"{printable(command[0])}: not found", _NOT_FOUND) from error
    except OSError as error:
        raise _NotRun(f"{printable(command[0])}: {error.strerror}", _NOT_RUN) from error
    code = waited(process)
    return code if code >= 0 else _BY_SIGNAL - code


class _NotRun(UserError):
    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code


def summary(counts: dict[str, int], observed: bool = False) -> str:
    """Return the BPF program's `counts` in one line of text. If it only `observed`, the line says what
    learned minimum RTOs would have done."""
    resent = counts["probes"] + counts["timeouts"]
    lowered, saved = counts["rounds_lowered"], f"about {counts['saved_us'] / 1e6:.2f} s of waiting"
    had = "that would have had" if observed else "with"
    return (
        f"live{' (observing)' if observed else ''}: {counted(counts['connections'], 'connection')}, "
        f"{counted(counts['rounds'], 'round')}, {lowered} {had} a learned floor; "
        f"{counted(resent, 'retransmission')} by timer, spurious in "
        f"{counted(counts['resent_spurious'], 'round')}; "
        f"{saved} {'would have been saved' if observed else 'saved'}"
    )
