# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The golden vectors of the classifiers of losses as the kernel's replay takes them
(linux/module/vectors_loss.c)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tcplearn import losses

from .vectors import Case, by_series, cases

#: Whose file the expected features are in, and with whom they are replayed: they are the same for all.
FEATURES, FEATURES_OF = "features", "congestion"
_KINDS = {"ack": "a", "decide": "d", "change": "g"}


def kernel_lines(folder: Path) -> Iterator[str]:
    """Every case, fixed point only."""
    found = [case for path in sorted((folder / "expected" / "loss").glob("*.csv")) for case in _cases(path)]
    return by_series(found, lambda series: _series(folder / "losses" / f"{series}.csv"), "l ")


def _cases(path: Path) -> Iterator[Case]:
    if path.stem == FEATURES:
        return cases(path, FEATURES_OF, _feature)
    return cases(path, path.stem.replace("--", "/"), _answer)


def _feature(line: str) -> str:
    feature, fixed, _ = line.split(",")
    return f"l f {losses.features().index(feature)} {fixed}"


def _answer(line: str) -> str:
    cause, fixed, *_ = line.split(",")
    return f"l q {cause} {fixed}"


def _series(path: Path) -> Iterator[str]:
    yield "l s"
    for line in path.read_text().splitlines():
        kind, *fields = line.split(",")
        yield " ".join(("l", _KINDS[kind], *fields))
