# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Keep the current directory out of the module search path of Python processes that tcplearn starts.
Otherwise a file there, such as `signal.py`, would run in place of the standard module, with sudo even as
root. Empty and relative entries of PYTHONPATH are removed. Absolute entries stay, because the user chose
them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Python's option that keeps `-m` and scripts from adding a folder at the front of the search path.
SAFE = "-P"
_VARIABLE, _SAFE_VARIABLE = "PYTHONPATH", "PYTHONSAFEPATH"


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a copy of the environment `base` (default: this process's) for a child process that may start
    Python. PYTHONSAFEPATH is set in it, and PYTHONPATH has only its absolute entries."""
    out = {**(os.environ if base is None else base), _SAFE_VARIABLE: "1"}
    if _VARIABLE in out:
        out[_VARIABLE] = os.pathsep.join(e for e in out[_VARIABLE].split(os.pathsep) if Path(e).is_absolute())
    return out


def without_current(entries: list[str]) -> list[str]:
    """Return `entries`, which are those of `sys.path`, without the current directory, unless PYTHONPATH has
    its full path."""
    variable = "" if sys.flags.ignore_environment else os.environ.get(_VARIABLE, "")
    given = variable.split(os.pathsep) if variable else []
    named = {os.path.normpath(entry) for entry in given if Path(entry).is_absolute()}
    # Python has made the relative entries absolute, so they are compared as absolute paths
    relative = {os.path.normpath(Path(entry).absolute()) for entry in given if not Path(entry).is_absolute()}
    return [entry for entry in entries if entry and os.path.normpath(entry) not in relative - named]


@contextlib.contextmanager
def safe() -> Iterator[None]:
    """Within this context, remove the current directory from the module search path that child processes of
    multiprocessing inherit."""
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
