# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Detects a full disk while the lab's scripts write to it; QEMU silently drops what does not fit."""

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tcplearn.output.files import full_disk

_EVERY_S = 0.25  # a full disk stays full until the script ends, so no look can miss it
_FULL_BYTES = 4096  # less free space than this, at most a block of a file system, means: full
_NO_SPACE = ("No space left on device", "Disk quota exceeded")


class Watched:
    def __init__(self) -> None:
        self.folder = Path(tempfile.gettempdir())
        self._was_full = False

    def look(self) -> None:
        with contextlib.suppress(OSError):
            self._was_full = self._was_full or shutil.disk_usage(self.folder).free < _FULL_BYTES

    def refuse(self, complaint: str) -> None:
        """Raise FullDiskError if a full disk made the script fail that printed `complaint`."""
        if self._was_full or any(text in complaint for text in _NO_SPACE):
            raise full_disk(self.folder)


@contextlib.contextmanager
def watched() -> Iterator[Watched]:
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
