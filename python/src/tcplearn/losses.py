# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find the core's loss classifiers, which decide whether a segment was lost by congestion or at random."""

from __future__ import annotations

from functools import cache

from tcplearn import _native, algorithms

CONGESTION, RANDOM = "congestion", "random"
#: The causes, indexed by the numbers that the core uses for them.
CAUSES = (CONGESTION, RANDOM)


@cache
def features() -> tuple[str, ...]:
    """Return the names of the classifiers' input features, in the core's order."""
    return tuple(meanings())


def classifier(spec: str, arithmetic: str = "fixed") -> _native.LossClassifier:
    """Return the loss classifier of spec `spec`, such as "mlp:threshold=0.4". Raise UserError."""
    read = algorithms.parse(algorithms.LOSS, spec)
    return _native.LossClassifier(read.name, arithmetic, read.params)


@cache
def meanings() -> dict[str, str]:
    return {f["name"]: f["text"] for f in _native.loss_features()}
