# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines a row of the table of small forms. A small form is a quick command that tests run in place of one
that a page shows. Several rows share the functions and constants here."""

from __future__ import annotations

from dataclasses import dataclass

SMOKE = "experiments/nunes2014/scenario-5.toml --profile smoke --out TMP/runs"
NAME = "a name stands for the reader's own"


@dataclass(frozen=True)
class Form:
    """Describes one row: `make test` runs `runs` in place of a command that matches the regular expression
    `shown`, and `make test-full` also `full`. `\\1` is the match's first group, TMP a folder of the test.
    Inputs that inputs.py knows are made if a command names them. Steps are separated by &&."""

    shown: str
    why: str
    runs: tuple[str, ...] = ()
    full: tuple[str, ...] = ()


def with_traffic(command: str) -> str:
    """Return a command that runs `command` in a network namespace of its own and sends requests over lo."""
    script = f"ip link set lo up; python3 traffic.py 700 1 & {command}; code=$?; wait; exit $code"
    return f"unshare -n sh -c '{script}'"
