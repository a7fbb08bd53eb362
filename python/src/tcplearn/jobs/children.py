# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs child processes that end when this process ends, even if this process is killed."""

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence

from tcplearn import search_path

PR_SET_PDEATHSIG = 1  # from linux/prctl.h: asks for a signal when the parent process ends

_running: set[subprocess.Popen[str]] = set()
_lock = threading.Lock()
_stopping = False


class Stopped(Exception):
    """Raised by `run` if `stop` ended the child process together with all others."""


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `command`. Raise OSError if it cannot start, and Stopped if `stop` ended it."""
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
            start_new_session=True,  # Ctrl-C reaches this process, which calls stop()
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
    """End all child processes. Until `allow` is called, `run` then raises Stopped."""
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
    """Prefix `command` so that the kernel sends it `how` when the thread that started it ends."""
    return ["setpriv", "--pdeathsig", how, "--", *command]


def end_with_parent(parent: int) -> None:
    """Make the kernel kill this worker process when its parent, with the process id `parent`, ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent has already been killed
        os._exit(1)
