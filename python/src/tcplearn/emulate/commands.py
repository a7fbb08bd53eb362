# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Start and end the commands of a client and a server, and forward signals to them. The calling process is
the first process of the commands' PID namespace. So the kernel tells it when any process in the namespace
ends, even one whose parent ended earlier."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from tcplearn.errors import FailedError, printable

from . import kernel
from .trial import EndedError

_NOT_FOUND, _NOT_RUN = 127, 126
_BY_SIGNAL = 128
_ENDS_AFTER_S = 2.0
_LOOK_EVERY_S = 0.01


class Commands:
    """Starts commands and waits for them. `codes` has the exit code of each process that has ended, by PID,
    in the form in which a shell gives exit codes."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self.codes: dict[int, int] = {}

    def start(self, words: Sequence[str]) -> int:
        """Start the client's command `words`; return its PID. Raise EndedError."""
        try:
            process = subprocess.Popen(words, env=self._environment)
        except FileNotFoundError as error:
            raise EndedError(f"{printable(words[0])}: not found", _NOT_FOUND) from error
        except OSError as error:
            raise EndedError(f"{printable(words[0])}: {error.strerror}", _NOT_RUN) from error
        return _left_to_us(process)

    def start_server(self, command: str, network: int) -> int:
        """Start `command` by a shell in the network namespace with the handle `network`; return its PID. Its
        output goes to standard error. It has a session of its own, so that Ctrl-C does not end it before the
        client."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=2,
            start_new_session=True,
            preexec_fn=lambda: kernel.enter(network),
        )
        return _left_to_us(process)

    def wait(self, pid: int) -> int:
        while pid not in self.codes:
            self._ended(0)
        return self.codes[pid]

    def wait_until(self, ready: Callable[[], bool], server: int, what: str, most_s: float) -> None:
        """Wait until `ready()` is true. Raise FailedError if the process `server` ends before that, or if
        `most_s` seconds pass. The message then says that the server has not yet `what`, such as "opened port
        80"."""
        end = time.monotonic() + most_s
        while not ready():
            self._ended(os.WNOHANG)
            if server in self.codes:
                raise FailedError(f"the server ended with code {self.codes[server]} before it had {what}")
            if time.monotonic() > end:
                raise FailedError(f"after {most_s:g} s the server has not yet {what}")
            time.sleep(_LOOK_EVERY_S)

    def stop(self, pid: int) -> int | None:
        """Return the exit code of the process `pid` if it has already ended. Otherwise end all processes of
        its group, and return None."""
        self._ended(os.WNOHANG)
        if pid in self.codes:
            return self.codes[pid]
        os.killpg(pid, signal.SIGTERM)
        end = time.monotonic() + _ENDS_AFTER_S
        while pid not in self.codes and time.monotonic() < end:
            self._ended(os.WNOHANG)
            time.sleep(_LOOK_EVERY_S)
        return None

    def _ended(self, flags: int) -> None:
        """Wait for the next process that ends and store its exit code. With WNOHANG in `flags`, do not wait,
        but store the exit codes of all processes that have already ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, flags)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            self.codes[pid] = code if code >= 0 else _BY_SIGNAL - code
            if not flags:
                return


def _left_to_us(process: subprocess.Popen[bytes]) -> int:
    process.returncode = 0  # waitpid above, not the module subprocess, learns of its end
    return process.pid


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
