# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs a command over an emulated link."""

import contextlib
import json
import os
import subprocess
import sys
from typing import Any

from tcplearn import debian
from tcplearn.errors import FailedError, UserError
from tcplearn.interrupts import waited
from tcplearn.search_path import SAFE, environment

from .order import Order

_UNEXPECTED = "the emulating process ended before it gave a result"


class _EndedError(UserError):
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
    handles = (str(words_out), str(result_in))
    module = [sys.executable, SAFE, "-m", "tcplearn.emulate.inside"]
    process = subprocess.Popen(
        [*module, str(os.getpid()), *handles], pass_fds=(words_out, result_in), env=environment()
    )
    os.close(words_out)
    os.close(result_in)
    with contextlib.suppress(BrokenPipeError), os.fdopen(words_in, "w") as pipe:
        pipe.write(order.words())
    waited(process)
    with os.fdopen(result_out) as pipe:
        found: dict[str, Any] = json.loads(pipe.read() or "{}")
    if not found:
        raise FailedError(_UNEXPECTED)
    if "error" in found:
        raise _EndedError(found["error"], found["exit_code"])
    return found
