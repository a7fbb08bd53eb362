# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Errors that the user can correct, and functions that report them in one line."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import sys
from collections.abc import Iterable


class UserError(Exception):
    """Bad usage or bad input. The message says what is wrong and what to do."""

    exit_code = 2


class FailedError(UserError):
    """The input was good but the work failed, for example because of a full disk."""

    exit_code = 1


class FullDiskError(FailedError):
    """The disk is full, so further runs would fail as well."""


class InterruptedWork(KeyboardInterrupt):
    """An interrupt (Ctrl-C) whose message says which part of the work is already stored."""


#: Optional dependencies (extras in pyproject.toml) that some subcommands need, with the modules to look for.
EXTRAS = {
    "cluster": ("dask_jobqueue", "distributed"),
    "pictures": ("altair", "jinja2", "vl_convert"),
    "training": ("altair", "jinja2", "sklearn", "vl_convert"),
}
#: Whether tcplearn was installed as a Debian package, which has a Python environment of its own
#: (packaging/debian/rules).
_IS_DEBIANS = sys.prefix == "/usr/lib/tcplearn"


def need_extra(extra: str, what: str) -> None:
    """Raise UserError, which says that `what` needs more packages, unless all modules of the optional
    dependencies `extra` are installed."""
    if not all(map(importlib.util.find_spec, EXTRAS[extra])):
        where = (
            " (in an environment of your own: the Debian package does not contain them)"
            if _IS_DEBIANS
            else ""
        )
        raise UserError(f"{what} needs more Python packages; run: pip install 'tcplearn[{extra}]'{where}")


def is_trace_error(error: BaseException) -> bool:
    """Return whether `error` is a TraceError, by its name: importing the class would slow every start."""
    return isinstance(error, ValueError) and any(c.__name__ == "TraceError" for c in type(error).__mro__)


def printable(text: object) -> str:
    """Return `text` as one line, with control characters (as from a trace or a file name) replaced."""
    line = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def say(message: str) -> None:
    """Print `message` as one line on standard error. Do nothing if standard error is closed."""
    with contextlib.suppress(OSError):
        print(f"tcplearn: {printable(message)}", file=sys.stderr, flush=True)


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return at most `most` of the names in `known` that resemble `name`, the most similar first."""
    names = list(dict.fromkeys(known))
    lower = name.lower()
    close = difflib.get_close_matches(lower, names, n=most, cutoff=0.5)
    starts = [n for n in names if n.startswith(lower.split("/")[0]) or (lower and lower.startswith(n))]
    return list(dict.fromkeys(close + starts))[:most]


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    *others, last = nearest(name, known) or [""]
    names = f"{', '.join(others)} or {last}" if others else last
    return f"did you mean {names}?" if names else otherwise
