# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find the C core's loss classifiers, which decide whether a segment was lost by congestion or at random."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tcplearn import _native, algorithms, loss_model
from tcplearn.errors import UserError

CONGESTION, RANDOM = "congestion", "random"
#: The causes, indexed by the numbers that the core uses for them.
CAUSES = (CONGESTION, RANDOM)
#: The value of the parameter `model` with which a classifier gets its weights from the calling program.
OWN = "own"
_KEY = "model"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A loss classifier: its spec for the C core, and, if the user named a model file, the text of its
    weights (otherwise "")."""

    spec: str
    weights: str = ""


@cache
def features() -> tuple[str, ...]:
    """Return the names of the loss classifiers' input features, in the C core's order."""
    return tuple(meanings())


def chosen(spec: str) -> Chosen:
    """Return the loss classifier with the spec `spec`, such as "mlp:threshold=0.4". Its model may be a file
    that `tcplearn train loss` wrote, as in "mlp:model=own/loss_own.json". Raise UserError."""
    pairs, at = _pairs(spec)
    if at < 0 or _value(pairs[at]) == OWN:
        read = algorithms.parse(algorithms.LOSS, spec)
        if at >= 0 or read.params.get(_KEY) == _own_number(read.name):
            raise UserError(f"'{spec}': name the file of your own model, as {_KEY}=own/loss_own.json")
        return Chosen(spec)
    file = _value(pairs[at])
    core = _joined(spec, pairs, at, OWN)
    algorithms.parse(algorithms.LOSS, core)
    return Chosen(core, loss_model.words(loss_model.read(Path(file), features())))


def checked(spec: str) -> str:
    """Return `spec`, the name and parameters of a loss classifier, if it is valid. The classifier's trained
    model may be a file. Raise ValueError if `spec` is not valid, because pydantic expects this error."""
    try:
        chosen(spec)
    except UserError as error:
        raise ValueError(str(error)) from None
    return spec


def located(spec: str, folder: Path) -> str:
    """Return `spec`. If it names a model file, whose path is relative to `folder`, this path is made
    absolute."""
    pairs, at = _pairs(spec)
    if at < 0 or _value(pairs[at]) == OWN:
        return spec
    return _joined(spec, pairs, at, os.path.realpath(folder / _value(pairs[at])))


def _pairs(spec: str) -> tuple[list[str], int]:
    """Return the pairs "key=value" of `spec`, and the index of the pair "model=..." if its value is a file or
    "own" (weights of the user); otherwise the index is -1."""
    pairs = spec.partition(":")[2].split(",")
    for k, pair in enumerate(pairs):
        value = _value(pair)
        if pair.partition("=")[0].strip() == _KEY and (value == OWN or "/" in value or "." in value):
            return pairs, k
    return pairs, -1


def _own_number(name: str) -> int:
    """Return the index of the choice "own" of the parameter "model" of the loss classifier `name`, or -1."""
    choices = [p.choices for p in algorithms.by_name(algorithms.LOSS)[name].params if p.key == _KEY]
    return choices[0].index(OWN) if choices and OWN in choices[0] else -1


def _value(pair: str) -> str:
    return pair.partition("=")[2].strip()


def _joined(spec: str, pairs: list[str], at: int, value: str) -> str:
    return ":".join((spec.partition(":")[0], ",".join((*pairs[:at], f"{_KEY}={value}", *pairs[at + 1 :]))))


def classifier(spec: str, arithmetic: str = "fixed") -> _native.LossClassifier:
    """Return the loss classifier of spec `spec`, whose model may be a file. Raise UserError."""
    it = chosen(spec)
    read = algorithms.parse(algorithms.LOSS, it.spec)
    return _native.LossClassifier(read.name, arithmetic, read.params, it.weights)


@cache
def meanings() -> dict[str, str]:
    return {f["name"]: f["text"] for f in _native.loss_features()}
