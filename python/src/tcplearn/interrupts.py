# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Signals that end the work as Ctrl-C does, so that no temporary file remains."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

#: SIGTERM comes from timeout and from schedulers of jobs, SIGHUP from a terminal that is closed.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def as_on_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP, unless another handler is set (nohup ignores SIGHUP).
    Only the first signal counts: a shell and its terminal both send SIGHUP, and systemd may send SIGHUP just
    after SIGTERM, while temporary files are being removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    ending = False

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal ending
        if not ending:  # if the system ignored it, a signal that has already arrived would give a traceback
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
