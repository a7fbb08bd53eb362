# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes files completely or not at all, and reports full disks."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

from tcplearn.errors import FailedError, FullDiskError, UserError, printable

_NEW_FILE_MODE = 0o666


def cache_folder(room: str = "") -> Path:
    """Return the folder of tcplearn in the user's cache, or its subfolder `room`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tcplearn" / room


def full_disk(path: Path) -> FullDiskError:
    """Return the error for a full disk, with its mount point. `path` is the file that was written, or its
    folder."""
    where = path.absolute()
    while not where.exists() or not os.path.ismount(where):
        where = where.parent
    return FullDiskError(
        f"{printable(path)}: cannot write: no space left on device {printable(where)}; make room there, or "
        "choose another place"
    )


def is_full_disk(error: BaseException | None) -> bool:
    """Return whether `error` means that the disk is full or the user's quota is exceeded."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def naming_full_disk(folder: Path) -> Iterator[None]:
    """Let a full disk raise a FullDiskError that names the written file or, if unknown, `folder`."""
    try:
        yield
    except OSError as error:
        if is_full_disk(error):
            raise full_disk(Path(error.filename or folder)) from error
        raise


@contextlib.contextmanager
def naming_full_output() -> Iterator[None]:
    """Within this context, raise FullDiskError if standard output goes to a full disk, and discard further
    output."""
    try:
        yield
    except OSError as error:
        if not is_full_disk(error):
            raise
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise FullDiskError("standard output: cannot write: no space left on device") from error


@contextlib.contextmanager
def mending(path: Path) -> Iterator[None]:
    """Within this context, turn file system errors into errors that name `path` and say what to do."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        if is_full_disk(error):
            raise full_disk(path) from error
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
    """Raise an error if `path` cannot be written. It is called before long work begins."""
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


class Pending:
    """A file that is being written. `commit` moves it to `path`, or copies it to standard output if `path` is
    None. If `commit` is not called, nothing of it remains."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._target: Path | None = None
        self._temporary: Path | None  # replaces the target; None: a file without a name
        self.file: IO[bytes]
        with self._mending():
            if path is not None and path.is_dir():
                raise IsADirectoryError(21, "is a directory")
            if path is None or _is_special(path):  # /dev/null or a pipe cannot be replaced by a rename
                self._temporary, self.file = None, tempfile.TemporaryFile()  # noqa: SIM115 (__exit__ closes)
            else:
                self._target = path.resolve()  # follow symbolic links
                prefix = f".{self._target.name[:100]}."
                handle, name = tempfile.mkstemp(prefix=prefix, dir=self._target.parent)
                self._temporary, self.file = Path(name), os.fdopen(handle, "w+b")

    def __enter__(self) -> Pending:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        with contextlib.suppress(OSError):
            self.file.close()
        if self._temporary:
            with contextlib.suppress(OSError):
                self._temporary.unlink()
        if is_full_disk(error):  # raised by the code that writes into `file`
            raise full_disk(self._path or Path(tempfile.gettempdir())) from error

    def _mending(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext() if self._path is None else mending(self._path)

    def write(self, content: str | bytes) -> None:
        with self._mending():
            self.file.write(content.encode() if isinstance(content, str) else content)

    def commit(self) -> None:
        with self._mending():
            if self._target and self._temporary:
                self.file.flush()
                os.fsync(self.file.fileno())
                self._temporary.chmod(_mode(self._target))
                self._temporary.replace(self._target)
                return
            self.file.seek(0)
            if self._path is None:
                with naming_full_output():
                    sys.stdout.flush()
                    shutil.copyfileobj(self.file, sys.stdout.buffer)
                return
            with self._path.open("wb") as out:
                shutil.copyfileobj(self.file, out)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write `content` to `path`, so that readers see either the old or the new file."""
    with Pending(path) as file:
        file.write(content)
        file.commit()


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
