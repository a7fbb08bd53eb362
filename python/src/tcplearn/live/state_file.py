# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read and write the file that keeps the state of the guard, which limits the harm of `tcplearn live`, over
restarts. There is one file for each cgroup, in a folder that only its owner can write to."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import stat
import sys
from pathlib import Path

from tcplearn.errors import UserError, printable
from tcplearn.output.files import make_directory, write_atomically

from .guard_state import State, state_of

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_SO_NETNS_COOKIE = 71  # include/uapi/asm-generic/socket.h
_COOKIE_BYTES = 8
_MOST_BYTES = 8 << 20
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class RefusedError(Exception):
    """The file with the guard's state cannot be used; the message gives the reason in one line."""


class StateFile:
    def __init__(self, folder: Path, cgroup: Path) -> None:
        """Name the state file in `folder` by a hash of `cgroup`. Make the folder if it is missing. Raise
        UserError if it cannot be made or if other users can write to it."""
        old_mask = os.umask(0o077)
        try:
            make_directory(folder)
        finally:
            os.umask(old_mask)
        if not _is_own(folder.stat()):
            raise UserError(f"--state {printable(folder)}: others can write to it; choose another folder")
        self.path = folder.absolute() / f"live-{hashlib.sha256(bytes(cgroup)).hexdigest()[:16]}.json"

    def read(self) -> State | None:
        """Return the guard's stored state, adapted to the current boot of the machine, or None if there is no
        file. If the file cannot be used, rename it and raise RefusedError, whose message also says if
        renaming failed."""
        try:
            return state_of(self._bytes()).here(_boot(), _netns())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            why = f"{printable(self.path)} is not used: {_reason(error)}"
            raise RefusedError(f"{why}; {self._aside()}") from error

    def write(self, state: State) -> None:
        """Write the guard's state `state` to the file. Raise UserError or OSError."""
        here = state.model_copy(update={"boot": _boot(), "netns": _netns()})
        write_atomically(self.path, here.model_dump_json())

    def _bytes(self) -> bytes:
        # nothing but a file is opened: no pipe that never ends, no link to a file of others
        handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or not _is_own(about):
            os.close(handle)
            raise ValueError("it is not a file that only its owner can write to")
        with os.fdopen(handle, "rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES >> 20} MB")
        return content

    def _aside(self) -> str:
        refused = self.path.with_suffix(".refused")
        try:
            self.path.replace(refused)
        except OSError as error:
            return f"it cannot be renamed either: {_reason(error)}"
        return f"it is now {printable(refused.name)}, and the steps begin anew"


def _is_own(about: os.stat_result) -> bool:
    return about.st_uid == os.geteuid() and not about.st_mode & _OTHERS_WRITE


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is damaged: too deep"
    strerror = error.strerror if isinstance(error, OSError) else None
    return printable(strerror or str(error))


def _boot() -> str:
    with contextlib.suppress(OSError):
        return _BOOT_ID.read_text().strip()
    return ""


def _netns() -> int:
    """Return the number of this process's network namespace, as bpf_get_netns_cookie() gives it, or 0 if the
    kernel is older than Linux 5.14."""
    with contextlib.suppress(OSError), socket.socket() as any_socket:
        packed = any_socket.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, _COOKIE_BYTES)
        return int.from_bytes(packed, sys.byteorder)
    return 0
