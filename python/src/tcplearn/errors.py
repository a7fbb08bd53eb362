# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Errors that are the user's to mend, and how they are reported: in one line."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterable


class UserError(Exception):
    """Bad usage or bad input. The message says what is wrong and what to do."""

    exit_code = 2


class FailedError(UserError):
    """Good input, but the work could not be done: a full disk, no memory."""

    exit_code = 1


class FullDiskError(FailedError):
    """No further run would fit either."""


class InterruptedWork(KeyboardInterrupt):
    """An interrupt whose message says what is kept of the work."""


def is_trace_error(error: BaseException) -> bool:
    """Known by its name: importing the readers only to name the class would slow every start."""
    return isinstance(error, ValueError) and any(c.__name__ == "TraceError" for c in type(error).__mro__)


def printable(text: object) -> str:
    """One line, without the control characters that a trace or a file name may carry."""
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def say(message: str) -> None:
    """A line on standard error, which may be closed."""
    with contextlib.suppress(OSError):
        print(f"tcplearn: {printable(message)}", file=sys.stderr, flush=True)


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Known names that look like `name`, the likeliest first; a family's presets count as like it."""
    names = list(dict.fromkeys(known))
    lower = name.lower()
    close = difflib.get_close_matches(lower, names, n=most, cutoff=0.5)
    starts = [n for n in names if n.startswith(lower.split("/")[0]) or (lower and lower.startswith(n))]
    return list(dict.fromkeys(close + starts))[:most]


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    close = nearest(name, known)
    return f"did you mean {' or '.join(close)}?" if close else otherwise
