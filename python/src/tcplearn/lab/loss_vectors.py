# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The golden vectors of the classifiers of losses as the kernel's replay takes them
(linux/module/vectors_loss.c)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tcplearn import losses

from .vectors import q30

#: Whose file the expected features are in, and with whom they are replayed: they are the same for all.
FEATURES, FEATURES_OF = "features", "congestion"
_KINDS = {"ack": "a", "decide": "d", "change": "g"}


def kernel_lines(folder: Path) -> Iterator[str]:
    """Every case, fixed point only; a series is sent when it changes."""
    cases = [case for path in sorted((folder / "expected" / "loss").glob("*.csv")) for case in _cases(path)]
    last = ""
    for name, series, parameters, answers in sorted(cases, key=lambda case: case[1]):
        if series != last:
            yield "l s"
            yield from map(_event, (folder / "losses" / f"{series}.csv").read_text().splitlines())
            last = series
        yield f"l c {name}"
        for pair in parameters:
            key, _, value = pair.partition("=")
            yield f"l p {key} {q30(float(value))}"
        yield from answers
        yield "l e"


def _event(line: str) -> str:
    kind, *fields = line.split(",")
    return " ".join(("l", _KINDS[kind], *fields))


def _cases(path: Path) -> Iterator[tuple[str, str, list[str], list[str]]]:
    of_features = path.stem == FEATURES
    name = FEATURES_OF if of_features else path.stem.replace("--", "/")
    answers: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("case,"):
            series, *parameters = line.removeprefix("case,").split(",")
            answers = []
            yield name, series, parameters, answers
        elif of_features:
            feature, fixed, _ = line.split(",")
            answers.append(f"l f {losses.features().index(feature)} {fixed}")
        else:
            cause, fixed, *_ = line.split(",")
            answers.append(f"l q {cause} {fixed}")
