# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Let SIGTERM and SIGHUP end the work as Ctrl-C does, so that no temporary file remains."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator

#: `timeout` and job schedulers send SIGTERM. A terminal that is closed sends SIGHUP.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def as_on_interrupt() -> Iterator[None]:
    """Within this context, raise KeyboardInterrupt on the first SIGTERM or SIGHUP, unless the signal already
    has another handler. Further signals are ignored, because a shell and its terminal may both send one, and
    temporary files must still be removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    ending = False

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal ending
        if not ending:  # a flag, because SIG_IGN with a signal already pending would cause a traceback
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


def waited(process: subprocess.Popen[bytes]) -> int:
    """Wait until `process` has ended; return its exit code in the form of the module subprocess. SIGTERM and
    SIGHUP are forwarded to the process. SIGINT is not, because the terminal sends it to the process too."""
    before = {number: signal.getsignal(number) for number in (*ENDING, signal.SIGINT)}

    def hand_on(number: int, _: object) -> None:
        if number != signal.SIGINT:
            process.send_signal(number)

    for number in before:
        signal.signal(number, hand_on)
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
