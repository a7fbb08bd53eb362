# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The golden vectors as the lines that the kernel's replay takes (linux/module/vectors.c)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def kernel_lines(folder: Path, kind: str = "estimators") -> Iterator[str]:
    """Every case of every algorithm of a kind, fixed point only; a series is sent when it changes."""
    cases = [case for path in sorted((folder / "expected" / kind).glob("*.csv")) for case in _cases(path)]
    last = ""
    for estimator, series, parameters, answers in sorted(cases, key=lambda case: case[1]):
        if series != last:
            yield from _series(folder / "series" / f"{series}.csv")
            last = series
        yield f"c {estimator}"
        for pair in parameters:
            key, _, value = pair.partition("=")
            yield f"p {key} {q30(float(value))}"
        yield from answers
        yield "e"


def q30(value: float) -> int:
    return int(value * 2**30 + (0.5 if value >= 0 else -0.5))


def _cases(path: Path) -> Iterator[tuple[str, str, list[str], list[str]]]:
    estimator = path.stem.replace("--", "/")
    answers: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("case,"):
            series, *parameters = line.removeprefix("case,").split(",")
            answers = []
            yield estimator, series, parameters, answers
        else:
            rtt, rto, *_ = line.split(",")
            answers.append(f"q {rtt} {rto}")


def _series(path: Path) -> Iterator[str]:
    head, _, *rows = path.read_text().splitlines()
    _, repeat, _, period_us, _, every = head.split(",")
    yield "s"
    yield from (f"r {row.replace(',', ' ')}" for row in rows)
    yield f"n {repeat} {period_us} {every}"
