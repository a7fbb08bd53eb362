# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the golden vectors of every algorithm of every kind on Python's classes, in both arithmetics."""

from __future__ import annotations

import pytest

import vector_reader
from tcplearn import algorithms

CASES = [
    (kind, folder, name)
    for kind, folder in vector_reader.PLAYERS
    for name in (algorithms.by_name(kind) if folder == "expected" else ["congestion"])
]


@pytest.mark.parametrize("arithmetic", ["fixed", "double"])
@pytest.mark.parametrize(("kind", "folder", "name"), CASES)
def test_vectors(kind: str, folder: str, name: str, arithmetic: str) -> None:
    answers = 0
    for case, found, expected in vector_reader.replay(kind, folder, name, arithmetic):
        answers += 1
        if arithmetic == "fixed":
            assert list(found) == expected, case
        else:
            for a, b in zip(found, expected, strict=True):
                assert a == pytest.approx(b, rel=1e-12, abs=1e-12), case
    assert answers > 80


def test_every_kind_has_vectors() -> None:
    assert {kind for kind, _ in vector_reader.PLAYERS} == set(algorithms.kinds())
