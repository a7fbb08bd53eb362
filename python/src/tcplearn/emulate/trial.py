# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs a command over an emulated link, in a process of its own."""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

from tcplearn import debian
from tcplearn.errors import FailedError, UserError
from tcplearn.interrupts import waited
from tcplearn.search_path import SAFE, environment


@dataclass(frozen=True)
class Order:
    """What the emulating process is to emulate, and the commands that it is to run."""

    hops: list[dict[str, Any]]  # as path.hops() gives them
    seed: int
    command: list[str]  # the client's
    server: str = ""  # a command of the shell
    wait_port: int = 0  # the command starts when the server listens on this TCP port
    syns: int = 0  # to drop of each connection
    syn_acks: int = 0
    spin_us: int = 0  # the time before a packet is due in which the emulator does not sleep
    # the environment of the commands: the user's, not the one that search_path makes safe for processes of
    # tcplearn
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))


class EndedError(UserError):
    """The run gave no result. The exit code of `tcplearn emulate` is then `exit_code`."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code


def need() -> None:
    """Raise UserError if a Debian package that the emulator needs is missing."""
    debian.need("the emulator", {"iproute2": "ip"})


def run(order: Order) -> dict[str, Any]:
    """Run the command of `order` over an emulated link; return the emulator's counts of forwarded and
    dropped packets, and the command's exit code. Raise UserError or FailedError."""
    words_out, words_in = os.pipe()
    result_out, result_in = os.pipe()
    handles = (words_out, result_in)
    module = [sys.executable, SAFE, "-m", "tcplearn.emulate.inside"]
    process = subprocess.Popen(
        [*module, *map(str, (os.getpid(), *handles))], pass_fds=handles, env=environment()
    )
    os.close(words_out)
    os.close(result_in)
    with contextlib.suppress(BrokenPipeError), os.fdopen(words_in, "w") as pipe:
        json.dump(asdict(order), pipe)
    waited(process)
    with os.fdopen(result_out) as pipe:
        found: dict[str, Any] = json.loads(pipe.read() or "{}")
    if not found:
        raise FailedError("the emulating process ended before it gave a result")
    if "error" in found:
        raise EndedError(found["error"], found["exit_code"])
    return found
