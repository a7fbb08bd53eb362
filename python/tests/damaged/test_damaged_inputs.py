# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that damaged files of every kind give results or one line of error, and that damaged_inputs.py finds
runs that give neither."""

from __future__ import annotations

import damaged_inputs as damaged
import pytest


@pytest.mark.parametrize("count", [24, pytest.param(2000, marks=pytest.mark.full)])
def test_damaged_inputs(count: int) -> None:
    ends, faults = damaged.run(damaged.drawn(count, seed=1))
    assert sum(ends.values()) == count and not faults, faults
    assert ends["exit 0"] and ends["exit 2"]


@pytest.mark.parametrize(
    ("code", "said", "kb", "why"),
    [
        (-11, [], 1, "signal 11"),
        (1, ["Traceback (most recent call last):"], 1, "exit code 1"),
        (2, ["one", "two"], 1, "2 lines"),
        (2, [], 1, "0 lines"),
        (0, [], damaged.MOST_KB + 1, "MB"),
    ],
)
def test_what_is_not_accepted(code: int, said: list[str], kb: int, why: str, tmp_path: damaged.Path) -> None:
    assert why in damaged.judged(code, said, kb, tmp_path / "out")
    assert not damaged.judged(2, ["tcplearn: x: one line"], 1, tmp_path / "out")
    (tmp_path / "out").touch()
    assert damaged.judged(2, ["tcplearn: x: one line"], 1, tmp_path / "out") == "it left a file"
