# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The core's loss classifiers by name, and the features that they decide on."""

from __future__ import annotations

from functools import cache

from tcplearn import _native, algorithms

CONGESTION, RANDOM = "congestion", "random"
#: The causes, by the core's numbers.
CAUSES = (CONGESTION, RANDOM)


@cache
def features() -> tuple[str, ...]:
    """Return the names of the features, in the core's order."""
    return tuple(f["name"] for f in _native.loss_features())


def classifier(spec: str, arithmetic: str = "fixed") -> _native.LossClassifier:
    """Return the classifier of a spec such as "mlp:threshold=0.4"; raise UserError."""
    read = algorithms.parse(algorithms.LOSS, spec)
    return _native.LossClassifier(read.name, arithmetic, read.params)


@cache
def meanings() -> dict[str, str]:
    return {f["name"]: f["text"] for f in _native.loss_features()}
