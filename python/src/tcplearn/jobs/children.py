# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Child processes that end with this one: by `stop`, and by the kernel where this one is killed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence

from tcplearn import search_path

#: linux/prctl.h
PR_SET_PDEATHSIG = 1

_running: set[subprocess.Popen[str]] = set()
_lock = threading.Lock()
_stopping = False


class Stopped(Exception):
    """Not a failure of the child's: the others are being ended too."""


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Waits for it. Raises OSError, Stopped."""
    with _lock:
        if _stopping:
            raise Stopped
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=search_path.environment(env),
            start_new_session=True,  # a ^C comes to us first, and goes on by stop()
        )
        _running.add(process)
    try:
        out, complaint = process.communicate()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        with _lock:
            _running.discard(process)
    if _stopping:
        raise Stopped
    return subprocess.CompletedProcess(command, process.returncode, out, complaint)


def stop() -> None:
    """Ends them all, and lets none start until `allow`: for a pool that is being ended."""
    global _stopping
    with _lock:
        _stopping = True
        for process in _running:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()


def allow() -> None:
    global _stopping
    with _lock:
        _stopping = False


def with_parent(command: Sequence[str], how: str = "KILL") -> list[str]:
    """The command, sent that signal when the thread that starts it is no more (util-linux)."""
    return ["setpriv", "--pdeathsig", how, "--", *command]


def end_with_parent(parent: int) -> None:
    """For this process, as `with_parent`; for workers that are forked or spawned."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before it could be said
        os._exit(1)
