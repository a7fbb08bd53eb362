# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The core's classifiers of losses by name, and the features that they decide on."""

from __future__ import annotations

from functools import cache

from tcplearn import _native

CONGESTION, RANDOM = "congestion", "random"
#: By the core's numbers.
CAUSES = (CONGESTION, RANDOM)


@cache
def features() -> tuple[str, ...]:
    """Names of the features, in the core's order."""
    return tuple(f["name"] for f in _native.loss_features())


def parse(spec: str) -> tuple[str, dict[str, float]]:
    """Name and parameters of "mlp:threshold=0.4". Raise ValueError."""
    name, _, rest = spec.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",")] if rest else []
    return name, {key: float(value) for key, _, value in pairs}


def check(spec: str) -> None:
    """Raise ValueError for what the core does not take."""
    name, params = parse(spec)
    _native.LossClassifier(name, "fixed", params)


@cache
def meanings() -> dict[str, str]:
    return {f["name"]: f["text"] for f in _native.loss_features()}
