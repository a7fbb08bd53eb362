# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the search for stalls of several connections that overlap, against a comparison of every pair."""

from __future__ import annotations

import numpy as np
import pytest

from tcplearn.explain.silence import _meets


@pytest.mark.parametrize("seed", range(60))
def test_overlaps_are_those_of_every_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 25))
    start_s = np.sort(rng.integers(0, 40, count)).astype(float)
    end_s = start_s + rng.integers(1, 12, count)
    connection = rng.integers(0, int(rng.integers(1, 5)), count).astype(np.uint32)
    twin = [
        any(
            connection[i] != connection[k] and start_s[i] < end_s[k] and start_s[k] < end_s[i]
            for i in range(count)
        )
        for k in range(count)
    ]
    assert _meets(start_s, end_s, connection).tolist() == twin


def test_20_000_at_once() -> None:
    """Test 20,000 stalls, of which a comparison of every pair would take minutes."""
    count = 20_000
    start_s = np.arange(count) / count
    assert _meets(start_s, start_s + 2, np.arange(count, dtype=np.uint32)).all()
