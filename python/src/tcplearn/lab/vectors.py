# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The golden vectors as the lines that the kernel's replay takes (linux/module/vectors.c)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

#: Of one algorithm: its name, the series, parameters as `key=value`, and the lines of its answers.
Case = tuple[str, str, Sequence[str], Sequence[str]]


def kernel_lines(folder: Path) -> Iterator[str]:
    """Every case of every estimator, fixed point only."""
    found = [
        case
        for path in sorted((folder / "expected" / "estimators").glob("*.csv"))
        for case in cases(path, path.stem.replace("--", "/"), _answer)
    ]
    return by_series(found, lambda series: _series(folder / "series" / f"{series}.csv"))


def cases(path: Path, algorithm: str, answer: Callable[[str], str]) -> Iterator[Case]:
    """Of one file of expected answers, a line of which `answer` turns into the kernel's."""
    for text in path.read_text().split("case,")[1:]:
        head, *lines = text.splitlines()
        series, *parameters = head.split(",")
        yield algorithm, series, parameters, [answer(line) for line in lines]


def by_series(found: Sequence[Case], send: Callable[[str], Iterable[str]], prefix: str = "") -> Iterator[str]:
    """A series is sent when it changes."""
    last = ""
    for algorithm, series, parameters, answers in sorted(found, key=lambda case: case[1]):
        if series != last:
            yield from send(series)
            last = series
        yield f"{prefix}c {algorithm}"
        yield from parameter_lines(parameters, f"{prefix}p")
        yield from answers
        yield f"{prefix}e"


def parameter_lines(parameters: Iterable[str], kind: str) -> Iterator[str]:
    for pair in parameters:
        key, _, value = pair.partition("=")
        yield f"{kind} {key} {q30(float(value))}"


def q30(value: float) -> int:
    """As the core has a parameter."""
    return int(value * 2**30 + (0.5 if value >= 0 else -0.5))


def _answer(line: str) -> str:
    rtt, rto, *_ = line.split(",")
    return f"q {rtt} {rto}"


def _series(path: Path) -> Iterator[str]:
    head, _, *rows = path.read_text().splitlines()
    _, repeat, _, period_us, _, every = head.split(",")
    yield "s"
    yield from (f"r {row.replace(',', ' ')}" for row in rows)
    yield f"n {repeat} {period_us} {every}"
