# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Forward signals to another process."""

import contextlib
import os
import signal
from collections.abc import Iterable


class HandedOn:
    """Forwards the signals `numbers` to another process. Signals that arrive before to() is called with its
    PID are stored, and forwarded when to() is called."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._pid: int | None = None
        self._waiting: list[int] = []
        for number in numbers:
            signal.signal(number, self._take)

    def to(self, pid: int) -> None:
        self._pid = pid
        while self._waiting:
            self._take(self._waiting.pop(0), None)

    def _take(self, number: int, _frame: object) -> None:
        if self._pid is None:
            self._waiting.append(number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, number)
