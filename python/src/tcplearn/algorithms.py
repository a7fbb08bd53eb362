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
    """A parameter of an algorithm, with the bounds between which it may be set."""

    key: str
    default: float
    low: float
    high: float
    choices: tuple[str, ...]  # names of the values 0, 1, ... where it is a choice
    text: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Info:
    """What is listed of an algorithm."""

    name: str
    summary: str
    params: tuple[Param, ...]
    core: bool = True
    learned: bool = True  # from its samples; False: a formula that people wrote
    about: str = ""  # longer than the summary


@dataclass(frozen=True, slots=True)
class Spec:
    """A name with parameters, as typed: ``experts/fitted:n=50,eta=1``."""

    text: str
    name: str
    params: Mapping[str, float]
    core: bool = True


def kinds() -> dict[str, str]:
    """Returns the title of each kind by its key: "resend policy" by "resend"."""
    return dict(_native.kinds())


@cache
def by_name(kind: str) -> Mapping[str, Info]:
    """Returns the core's algorithms of a kind, presets included."""
    return {a["name"]: _info(a) for a in _native.algorithms(kind)}


def _info(native: Mapping[str, Any]) -> Info:
    params = tuple(
        Param(p["key"], p["default"], p["low"], p["high"], tuple(p["choices"]), p["text"], p["whole"])
        for p in native["params"]
    )
    return Info(native["name"], native["summary"], params, learned=native["learned"], about=native["about"])


def available(kind: str) -> list[Info]:
    """Returns the core's algorithms of a kind, in the order in which they are listed."""
    return list(by_name(kind).values())


def parse(kind: str, text: str) -> Spec:
    """Reads a spec of that kind. Raises UserError with the core's line, which names what is nearest."""
    try:
        name, params = _native.read_spec(kind, text)
    except ValueError as error:
        raise UserError(str(error)) from None
    return Spec(text.strip(), name, params)


def checked(kind: str, text: str) -> str:
    """Returns the spec itself. Raises ValueError, as pydantic wants it, for what the core does not take."""
    try:
        parse(kind, text)
    except UserError as error:
        raise ValueError(str(error)) from None
    return text


def parameters(kind: str, spec: Spec) -> dict[str, float]:
    """Returns all parameters of a spec, the defaults of those that it does not set."""
    return {p.key: p.default for p in by_name(kind)[spec.name].params} | dict(spec.params)
