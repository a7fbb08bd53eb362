# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The golden vectors of the resend policies as the kernel's replay takes them
(linux/module/vectors_resend.c)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .vectors import by_series, cases

_KINDS = {"send": "d", "timer": "t", "ack": "a", "next": "n"}


def kernel_lines(folder: Path) -> Iterator[str]:
    """Every case, fixed point only."""
    found = [
        case
        for path in sorted((folder / "expected" / "resend").glob("*.csv"))
        for case in cases(path, path.stem.replace("--", "/"), _answer)
    ]
    return by_series(found, lambda series: _series(folder / "resends" / f"{series}.csv"), "w ")


def _answer(line: str) -> str:
    wait_us, probe, *_ = line.split(",")
    return f"w q {wait_us} {probe}"


def _series(path: Path) -> Iterator[str]:
    yield "w s"
    for line in path.read_text().splitlines():
        kind, *fields = line.split(",")
        yield " ".join(("w", _KINDS[kind], *fields))
