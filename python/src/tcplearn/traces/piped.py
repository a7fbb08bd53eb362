# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Copy a pipe to a file, within limits on its size and on the free disk space."""

import errno
import shutil
import tempfile
from typing import BinaryIO

from .base import TraceError

MOST_BYTES = 1 << 30  # 30 million samples as text; the temporary folder may be in memory
_CHUNK_BYTES = 1 << 20
_SAVE = "save it to a file, and name that"


def copy(source: BinaryIO, out: BinaryIO, name: str, head: bytes = b"") -> None:
    """Copy `head` and the rest of the pipe `source` to the temporary file `out`. Raise TraceError, which
    names the pipe `name`, if it has too many bytes."""
    folder = tempfile.gettempdir()
    copied, data = 0, head or source.read(_CHUNK_BYTES)
    while data:
        copied += len(data)
        if copied > MOST_BYTES:
            raise TraceError(f"{name}: no more than {MOST_BYTES >> 30} GiB is taken from a pipe; {_SAVE}")
        if copied > shutil.disk_usage(folder).free - len(data):  # leave half of the free space to others
            raise _no_room(name, folder)
        try:
            out.write(data)
            out.flush()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _no_room(name, folder) from error
            raise
        data = source.read(_CHUNK_BYTES)


def _no_room(name: str, folder: str) -> TraceError:
    return TraceError(
        f"{name}: a copy of this pipe would take over half of the space that is free in {folder}; set TMPDIR "
        f"to a folder with more, or {_SAVE}"
    )
