# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Detects a disk that fills while the lab's scripts write to it, because QEMU silently drops what does not
fit."""

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tcplearn.output.files import full_disk

#: The interval of the checks. A full disk stays full until the script ends, which then removes its files.
_EVERY_S = 0.25
#: Less than a block of any file system, so no more can be written.
_FULL_BYTES = 4096
_NO_SPACE = ("No space left on device", "Disk quota exceeded")


class Watched:
    """The disk of the temporary folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.gettempdir())
        self._was_full = False

    def look(self) -> None:
        """Check whether the disk is full."""
        with contextlib.suppress(OSError):
            self._was_full = self._was_full or shutil.disk_usage(self.folder).free < _FULL_BYTES

    def refuse(self, complaint: str) -> None:
        """Raise FullDiskError if a full disk is the reason for the `complaint` of a script."""
        if self._was_full or any(text in complaint for text in _NO_SPACE):
            raise full_disk(self.folder)


@contextlib.contextmanager
def watched() -> Iterator[Watched]:
    """Check the disk repeatedly until the end of the context."""
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
