# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Say in lines of text whether `tcplearn live` can run on this machine: which of its conditions are met,
whether the kernel accepts its BPF program, and how much learned minimum RTOs can gain."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tcplearn.errors import UserError

from .conditions import NEEDED, Line, found, needed
from .program import Program, Settings


def needed_count() -> int:
    """Return how many results of lines(), the first ones, are about conditions without which `tcplearn live`
    does not run."""
    return 1 + len(NEEDED) + 1


def lines() -> Iterator[Line]:
    conditions = [*needed()]
    yield from conditions
    yield _program(all(line.state != "no" for line in conditions))
    yield from found()


def _program(is_possible: bool) -> Line:
    if not is_possible:
        return Line("program", "note", "not loaded: a condition above is not met")
    begun = time.monotonic()
    try:
        Program(Settings()).close()
    except UserError as error:
        return Line("program", "no", str(error))
    return Line(
        "program", "yes", f"the kernel accepts it; compiled and verified in {time.monotonic() - begun:.1f} s"
    )
