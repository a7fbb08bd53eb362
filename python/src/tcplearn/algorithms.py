# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The core's algorithms of every kind, and specs as users write them: ``NAME[/PRESET][:key=value,...]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tcplearn import _native
from tcplearn.errors import UserError

ESTIMATOR, LOSS, STARTUP, RESEND, FIRST_RTO = "estimator", "loss", "startup", "resend", "first-rto"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of an algorithm, with its bounds."""

    key: str
    default: float
    low: float
    high: float
    choices: tuple[str, ...]  # names of the values 0, 1, ... of a choice
    text: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Info:
    """The listed properties of an algorithm."""

    name: str
    summary: str
    params: tuple[Param, ...]
    core: bool = True
    learned: bool = True  # False: a formula
    about: str = ""  # a longer text than the summary


@dataclass(frozen=True, slots=True)
class Spec:
    """A name with parameters, such as ``experts/fitted:n=50,eta=1``."""

    text: str
    name: str
    params: Mapping[str, float]
    core: bool = True


def kinds() -> dict[str, str]:
    """Return the title of each kind by its key, such as "resend policy" by "resend"."""
    return dict(_native.kinds())


@cache
def by_name(kind: str) -> Mapping[str, Info]:
    """Return the core's algorithms of a kind by name, including presets."""
    return {a["name"]: _info(a) for a in _native.algorithms(kind)}


def _info(native: Mapping[str, Any]) -> Info:
    params = tuple(
        Param(p["key"], p["default"], p["low"], p["high"], tuple(p["choices"]), p["text"], p["whole"])
        for p in native["params"]
    )
    return Info(native["name"], native["summary"], params, learned=native["learned"], about=native["about"])


def available(kind: str) -> list[Info]:
    """Return the core's algorithms of a kind, in their listed order."""
    return list(by_name(kind).values())


def parse(kind: str, text: str) -> Spec:
    """Return the spec in `text` of that kind; raise UserError with the core's line, which names the nearest
    name."""
    try:
        name, params = _native.read_spec(kind, text)
    except ValueError as error:
        raise UserError(str(error)) from None
    return Spec(text.strip(), name, params)


def checked(kind: str, text: str) -> str:
    """Return `text`; raise ValueError, for pydantic, if it is not a spec of that kind."""
    try:
        parse(kind, text)
    except UserError as error:
        raise ValueError(str(error)) from None
    return text


def parameters(kind: str, spec: Spec) -> dict[str, float]:
    """Return all parameters of a spec, with defaults for parameters that it does not set."""
    return {p.key: p.default for p in by_name(kind)[spec.name].params} | dict(spec.params)
