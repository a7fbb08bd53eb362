# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A row of the table of small forms, and what several rows share."""

from __future__ import annotations

from dataclasses import dataclass

SMOKE = "experiments/nunes2014/scenario-5.toml --profile smoke --out TMP/runs"
NAME = "a name stands for the reader's own"


@dataclass(frozen=True)
class Form:
    """`shown` is a regular expression of the whole command; `runs` are run in its place by `make test`, and
    `full` by `make test-full` too. `\\1` is the first group of the expression, TMP a folder of the test; what
    inputs.py can make is made where a command names it. Steps are parted by &&."""

    shown: str
    why: str
    runs: tuple[str, ...] = ()
    full: tuple[str, ...] = ()


def with_traffic(command: str) -> str:
    """The command on a network of its own, with requests over lo that begin when it listens."""
    script = f"ip link set lo up; python3 traffic.py 700 1 & {command}; code=$?; wait; exit $code"
    return f"unshare -n sh -c '{script}'"
