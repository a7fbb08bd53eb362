# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Signals that end the work in good order, as Ctrl-C does: nothing temporary is left."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

#: Of timeout and of schedulers of jobs; of a terminal that is closed.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def as_on_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP, where nothing else was chosen for them (nohup ignores
    SIGHUP). Only the first counts: a shell and its terminal both send SIGHUP, and systemd may send SIGHUP
    just after SIGTERM, while what is temporary is being removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    ending = False

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal ending
        if not ending:  # ignored by the system instead, one that has come already would be a traceback
            ending = True
            raise KeyboardInterrupt

    ours = [number for number in ENDING if signal.getsignal(number) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
