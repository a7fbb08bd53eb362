# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The core's startup policies by name: what a connection begins with after its handshake."""

from __future__ import annotations

from functools import cache

from tcplearn import _native
from tcplearn.errors import UserError, did_you_mean
from tcplearn.estimators import Info, Spec, params_of, read_params

KIND = "startup policy"


@cache
def _core() -> dict[str, Info]:
    found = _native.startup_policies()
    return {
        p["name"]: Info(p["name"], p["summary"], params_of(p), learned=False, about=p["about"]) for p in found
    }


def available() -> list[Info]:
    return list(_core().values())


def parse(text: str) -> Spec:
    """Reads ``name[/preset][:key=value,...]``. Raises UserError with one line that names the nearest."""
    text = text.strip().rstrip(":")
    name, _, rest = text.partition(":")
    if name not in _core():
        raise UserError(f"no {KIND} '{name}'; {did_you_mean(name, _core(), 'it has ' + ', '.join(_core()))}")
    return Spec(text, name, read_params(_core()[name], rest, KIND), core=True)


def parameters(spec: Spec) -> dict[str, float]:
    """All of a policy's, the defaults of those that were not typed."""
    return {p.key: p.default for p in _core()[spec.name].params} | dict(spec.params)
