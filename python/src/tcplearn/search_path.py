# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The module search path of Python processes started here. It never contains the current directory, where
somebody may have put a file such as `signal.py`, which would run as root under sudo.

PYTHONPATH is the user's own choice where its entries are absolute. An empty or relative entry means the
current directory or a folder below it, often because of an extra colon, and is left out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Python's option with which neither `-m` nor a script adds a folder at the front.
SAFE = "-P"
_VARIABLE, _SAFE_VARIABLE = "PYTHONPATH", "PYTHONSAFEPATH"


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return `base` (default: this process's environment) for a child that is Python or may start it."""
    out = {**(os.environ if base is None else base), _SAFE_VARIABLE: "1"}
    if _VARIABLE in out:
        out[_VARIABLE] = os.pathsep.join(e for e in out[_VARIABLE].split(os.pathsep) if _is_outright(e))
    return out


def without_current(entries: list[str]) -> list[str]:
    """Return the entries of `sys.path` without the current directory, unless it was named as an absolute
    path."""
    variable = "" if sys.flags.ignore_environment else os.environ.get(_VARIABLE, "")
    given = variable.split(os.pathsep) if variable else []
    named = {os.path.normpath(entry) for entry in given if _is_outright(entry)}
    # Python has made them absolute
    relative = {os.path.normpath(Path(entry).absolute()) for entry in given if not _is_outright(entry)}
    return [entry for entry in entries if entry and os.path.normpath(entry) not in relative - named]


def _is_outright(entry: str) -> bool:
    return Path(entry).is_absolute()


@contextlib.contextmanager
def safe() -> Iterator[None]:
    """A context for starting children of multiprocessing, which inherit this process's environment and
    `sys.path`."""
    variables = {name: os.environ.get(name) for name in (_VARIABLE, _SAFE_VARIABLE)}
    before = sys.path[:]
    sys.path[:] = without_current(before)
    wanted = environment()
    os.environ.update({name: wanted[name] for name in variables if name in wanted})
    try:
        yield
    finally:
        sys.path[:] = before
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
