# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Detects that the disk fills up while the lab's scripts write to it. QEMU does not report this error: it
silently drops what does not fit."""

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tcplearn.output.files import full_disk

#: The interval of the checks, in seconds. Checks cannot miss a full disk: it stays full until the script
#: ends and its files are removed.
_EVERY_S = 0.25
#: With less free space than this, which is at most a block of a file system, no more can be written.
_FULL_BYTES = 4096
_NO_SPACE = ("No space left on device", "Disk quota exceeded")


class Watched:
    """Remembers whether the disk of the temporary folder has been full."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.gettempdir())
        self._was_full = False

    def look(self) -> None:
        """Check whether the disk is full now."""
        with contextlib.suppress(OSError):
            self._was_full = self._was_full or shutil.disk_usage(self.folder).free < _FULL_BYTES

    def refuse(self, complaint: str) -> None:
        """Raise FullDiskError if a full disk is the reason why a script failed; `complaint` is what the
        script printed."""
        if self._was_full or any(text in complaint for text in _NO_SPACE):
            raise full_disk(self.folder)


@contextlib.contextmanager
def watched() -> Iterator[Watched]:
    """Check every 0.25 s, until the context ends, whether the disk of the temporary folder is full."""
    disk, ended = Watched(), threading.Event()

    def look() -> None:
        while not ended.wait(_EVERY_S):
            disk.look()

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield disk
    finally:
        ended.set()
        watcher.join()
