# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Errors that the user can correct, and their reports in one line."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterable


class UserError(Exception):
    """Bad usage or bad input. The message says what is wrong and what to do."""

    exit_code = 2


class FailedError(UserError):
    """Good input, but the work failed, for example because of a full disk."""

    exit_code = 1


class FullDiskError(FailedError):
    """The disk is full, so no further run would fit either."""


class InterruptedWork(KeyboardInterrupt):
    """An interrupt whose message says which part of the work is stored."""


def is_trace_error(error: BaseException) -> bool:
    """Return whether `error` is a TraceError, by its name, because importing the readers would slow every
    start."""
    return isinstance(error, ValueError) and any(c.__name__ == "TraceError" for c in type(error).__mro__)


def printable(text: object) -> str:
    """Return `text` as one line, with the control characters of a trace or a file name replaced."""
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def say(message: str) -> None:
    """Print a line on standard error, which may be closed."""
    with contextlib.suppress(OSError):
        print(f"tcplearn: {printable(message)}", file=sys.stderr, flush=True)


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return at most `most` of the `known` names that resemble `name`, the best first; presets resemble their
    family."""
    names = list(dict.fromkeys(known))
    lower = name.lower()
    close = difflib.get_close_matches(lower, names, n=most, cutoff=0.5)
    starts = [n for n in names if n.startswith(lower.split("/")[0]) or (lower and lower.startswith(n))]
    return list(dict.fromkeys(close + starts))[:most]


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    *others, last = nearest(name, known) or [""]
    names = f"{', '.join(others)} or {last}" if others else last
    return f"did you mean {names}?" if names else otherwise
