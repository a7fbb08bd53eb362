# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Startup policies in Python: the golden vectors, and what is said of a name that is not known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from samples import ROOT
from tcplearn import _native, startups
from tcplearn.errors import UserError

NAMES = [info.name for info in startups.available()]
VECTORS = ROOT / "vectors"


def cases(name: str) -> Iterator[tuple[str, dict[str, float], list[tuple[int, int]]]]:
    text = (VECTORS / "expected" / "startup" / f"{name.replace('/', '--')}.csv").read_text()
    for part in text.split("case,")[1:]:
        head, *lines = part.splitlines()
        series, *pairs = head.split(",")
        params = {key: float(value) for key, _, value in (pair.partition("=") for pair in pairs)}
        yield series, params, [(int(a), int(b)) for a, b in (line.split(",") for line in lines)]


@pytest.mark.parametrize("name", NAMES)
def test_vectors(name: str) -> None:
    for series, params, expected in cases(name):
        policy = _native.StartupPolicy(name, params)
        found = []
        for line in (VECTORS / "handshakes" / f"{series}.csv").read_text().splitlines():
            kind, *values = line.split(",")
            if kind == "report":
                policy.report(*map(int, values))
            else:
                found.append(policy.handshake(*map(int, values)))
        assert found == expected
        assert policy.state_bytes <= 128


def test_what_is_not_known_is_named() -> None:
    for text, said in (
        ("standart", "did you mean standard"),
        ("tsl:half=1", "startup policy 'tsl' has no parameter 'half'"),
        ("tsl:rounding=sideways", "it takes one of down, up"),
        ("linux:iw=0", "allowed is 1 to 65535"),
        ("linux:iw", "'iw' is not key=value"),
    ):
        with pytest.raises(UserError, match=said):
            startups.parse(text)
