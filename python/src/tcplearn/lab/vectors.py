# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes the test vectors of every algorithm as lines that the kernel module's test reads (vectors.h)."""

from collections.abc import Iterator
from pathlib import Path

FEATURES = "features"


def kernel_lines(folder: Path) -> Iterator[str]:
    """Yield the lines for the kernel module's test, from the test vectors in `folder`."""
    for kind, expected in answers(folder):
        yield f"kind {kind}"
        last = ""
        for series, spec, lines in sorted(case for path in expected for case in _cases(path)):
            if series != last:
                yield "series"
                yield from (
                    (folder / kind.partition("/")[0] / "series" / f"{series}.csv").read_text().splitlines()
                )
                last = series
            yield f"case {spec}"
            yield from lines
            yield "end"


def answers(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield pairs from `folder`: the name of each kind of algorithm, such as "loss", and the files with the
    expected outputs of its algorithms. The features of losses are treated as a kind of their own,
    "loss/features"."""
    for kind in sorted(path.parent.name for path in folder.glob("*/series")):
        yield kind, sorted((folder / kind / "expected").glob("*.csv"))
        if features := sorted((folder / kind / FEATURES).glob("*.csv")):
            yield f"{kind}/{FEATURES}", features


def _cases(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (name of the input series, algorithm with its parameters, lines of expected outputs) for each
    test case in the file `path`. A file "a--b.csv" has the test cases of the algorithm "a/b"."""
    name = path.stem.replace("--", "/")
    for text in path.read_text().split("case,")[1:]:
        head, *lines = text.splitlines()
        series, _, parameters = head.partition(",")
        yield series, name + (f":{parameters}" if parameters else ""), lines
