# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""List the algorithms of tcplearn's C core by kind, and parse specs that name them:
``NAME[/PRESET][:key=value,...]``."""

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
    key: str
    default: float
    low: float
    high: float
    choices: tuple[str, ...]  # if the parameter is a choice: the names of its values 0, 1, ...
    text: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Info:
    """An algorithm as `tcplearn algorithms` lists it: name, summary and parameters."""

    name: str
    summary: str
    params: tuple[Param, ...]
    core: bool = True
    learned: bool = True  # False if the algorithm is a fixed formula
    about: str = ""  # a longer description than `summary`


@dataclass(frozen=True, slots=True)
class Spec:
    """An algorithm's name and the parameters that the user set, as in ``experts/fitted:n=50,eta=1``."""

    text: str
    name: str
    params: Mapping[str, float]
    core: bool = True


def kinds() -> dict[str, str]:
    """Return the titles of the kinds of algorithm, such as "resend policy", by their keys ("resend")."""
    return dict(_native.kinds())


@cache
def by_name(kind: str) -> Mapping[str, Info]:
    """Return the C core's algorithms of the kind `kind`, such as "estimator", by name, including presets such
    as ``experts/fitted``."""
    return {a["name"]: _info(a) for a in _native.algorithms(kind)}


def _info(native: Mapping[str, Any]) -> Info:
    params = tuple(
        Param(p["key"], p["default"], p["low"], p["high"], tuple(p["choices"]), p["text"], p["whole"])
        for p in native["params"]
    )
    return Info(native["name"], native["summary"], params, learned=native["learned"], about=native["about"])


def available(kind: str) -> list[Info]:
    """Return the C core's algorithms of kind `kind`, in the order of `tcplearn algorithms`."""
    return list(by_name(kind).values())


def parse(kind: str, text: str) -> Spec:
    """Return the parsed form of the spec `text` of an algorithm of kind `kind`. Raise UserError if the spec
    is invalid; for an unknown name, the message suggests a similar one."""
    try:
        name, params = _native.read_spec(kind, text)
    except ValueError as error:
        raise UserError(str(error)) from None
    return Spec(text.strip(), name, params)


def checked(kind: str, text: str) -> str:
    """Return `text` if it is a valid spec of kind `kind`. Otherwise raise ValueError, as pydantic needs."""
    try:
        parse(kind, text)
    except UserError as error:
        raise ValueError(str(error)) from None
    return text


def parameters(kind: str, spec: Spec) -> dict[str, float]:
    """Return the value of every parameter of the algorithm of kind `kind` that `spec` names: the value that
    `spec` sets, or else the default."""
    return {p.key: p.default for p in by_name(kind)[spec.name].params} | dict(spec.params)


def resend_policy(spec: str) -> _native.ResendPolicy:
    """Return the resend policy (a rule for when to retransmit) with the spec `spec`, such as "priced". It
    computes in fixed point, as in the kernel module. Raise UserError."""
    read = parse(RESEND, spec)
    return _native.ResendPolicy(read.name, "fixed", read.params)
