# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes temporary folders, and removes those of killed processes (docs/adr/0059-temporary-folders.md)."""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_NAME = re.compile(r"\.?tcplearn-[0-9]+-[a-z0-9_]{8}")
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITABLE_BY_OTHERS = 0o022


@contextlib.contextmanager
def folder(where: Path | None = None) -> Iterator[Path]:
    """Yield a new folder in `where` (default: the system's temporary folder), and remove it afterwards unless
    it was renamed. The function `clear` does not remove it while this process lives."""
    path, handle = _locked(where)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _locked(where: Path | None) -> tuple[Path, int]:
    prefix = f"{'.' if where else ''}tcplearn-{os.getpid()}-"
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=where))
        with contextlib.suppress(FileNotFoundError):  # another process removed it before it was locked
            handle = os.open(path, _OPEN)
            with contextlib.suppress(OSError):  # a file system without locks: `clear` gets no lock either
                fcntl.flock(handle, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(path.lstat(), os.fstat(handle)):
                    return path, handle
            os.close(handle)


def clear(where: Path | None = None) -> None:
    """Remove the temporary folders of this user's killed processes from `where` (default: the system's)."""
    with contextlib.suppress(OSError), _opened(where or tempfile.gettempdir()) as parent:
        with os.scandir(parent) as entries:
            names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
        for name in names:
            with contextlib.suppress(OSError), _opened(name, parent) as found:
                _remove(name, found, parent)


@contextlib.contextmanager
def _opened(name: str | Path, parent: int | None = None) -> Iterator[int]:
    flags = _OPEN if parent is not None else _OPEN & ~os.O_NOFOLLOW
    handle = os.open(name, flags, dir_fd=parent)
    try:
        yield handle
    finally:
        os.close(handle)


def _remove(name: str, found: int, parent: int) -> None:
    """Remove the folder `name`, unless another user owns it or can write to it. `found` and `parent` are the
    descriptors of it and its parent. Raise OSError if a process uses it."""
    state = os.fstat(found)
    if state.st_uid != os.geteuid() or state.st_mode & _WRITABLE_BY_OTHERS:
        return
    fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with os.scandir(found) as inside:
        for entry in list(inside):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.name, dir_fd=found)
            else:
                os.unlink(entry.name, dir_fd=found)
    os.rmdir(name, dir_fd=parent)
