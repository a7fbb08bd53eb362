# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test inputs of the fuzzers: their seeds, simple damage to the seeds, and inputs that once failed."""

from __future__ import annotations

import random

import fuzz_text
import pytest

#: By format: found by fuzz_text.py.
ONCE_FAILED: dict[str, list[bytes]] = {}

WORDS = (
    b"",
    b"\n",
    b"\0",
    b"\xff",
    b"-",
    b"1e400",
    b"9" * 25,
    b"nan",
    b",",
    b'"',
    b"{",
    b"]",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"1_0",
)


@pytest.mark.parametrize("kind", fuzz_text.FORMATS)
def test_seeds_and_what_failed(kind: str) -> None:
    one = fuzz_text.target(kind)
    for data in (*fuzz_text.seeds()[kind], *ONCE_FAILED.get(kind, ())):
        one(data)


@pytest.mark.parametrize("kind", fuzz_text.FORMATS)
def test_damaged_seeds(kind: str) -> None:
    one, chance = fuzz_text.target(kind), random.Random(1)
    all_seeds = fuzz_text.seeds()[kind]
    for _ in range(400):
        data = bytearray(chance.choice(all_seeds))
        for _ in range(chance.randint(1, 4)):
            at = chance.randint(0, len(data))
            data[at : at + chance.choice((0, 0, 1, 2, 9, 50))] = chance.choice(WORDS)
        one(bytes(data))
