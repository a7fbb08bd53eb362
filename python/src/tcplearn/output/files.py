# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Files that are whole or absent."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tcplearn.errors import FailedError, UserError, printable

#: What a file that came into being by itself may be read and written by: the umask's business.
_NEW_FILE_MODE = 0o666


def cache_folder(room: str = "") -> Path:
    """Where what can be made again is kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tcplearn" / room


@contextlib.contextmanager
def mending(path: Path) -> Iterator[None]:
    """Failures of the file system as errors that name the file and what to do."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            todo = "make its directory first"
        elif isinstance(error, IsADirectoryError):
            todo = "name a file"
        elif isinstance(error, PermissionError):
            todo = "choose a place that you may write to"
        else:
            raise FailedError(f"{printable(path)}: cannot write: {what.lower()}") from error
        raise UserError(f"{printable(path)}: cannot write: {what.lower()}; {todo}") from error


def check_writable(path: Path) -> None:
    """Fail before the long work, not after it."""
    with mending(path):
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        if _is_special(path):
            return
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass


def make_directory(path: Path) -> None:
    with mending(path):
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise UserError(f"{printable(path)}: is a file; name a directory") from error
        with tempfile.TemporaryFile(dir=path):
            pass


def write_atomically(path: Path, content: str | bytes) -> None:
    """To a temporary beside it, then renamed: a reader sees the old file or the new one."""
    data = content.encode() if isinstance(content, str) else content
    with mending(path):
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        if _is_special(path):  # /dev/null, a pipe: nothing to rename
            path.write_bytes(data)
            return
        target = path.resolve()  # through a symbolic link, to what it names
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(_mode(target))
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _is_special(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False


def _mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return _NEW_FILE_MODE & ~umask
