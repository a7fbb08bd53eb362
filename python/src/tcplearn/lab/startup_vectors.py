# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The golden vectors of startup policies as the lines that the kernel's replay takes (startup_vectors.c)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .vectors import cases, parameter_lines


def kernel_lines(folder: Path) -> Iterator[str]:
    """Every case of every policy, the answer beside each handshake."""
    for path in sorted((folder / "expected" / "startup").glob("*.csv")):
        for policy, series, parameters, answers in cases(path, path.stem.replace("--", "/"), str):
            yield f"C {policy}"
            yield from parameter_lines(parameters, "P")
            yield from _events(folder / "handshakes" / f"{series}.csv", iter(answers))


def _events(path: Path, answers: Iterator[str]) -> Iterator[str]:
    for line in path.read_text().splitlines():
        kind, *words = line.split(",")
        if kind == "handshake":
            yield f"H {' '.join([*words, *next(answers).split(',')])}"
        else:
            yield f"R {' '.join(words)}"
