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


@cache
def meanings() -> dict[str, str]:
    return {f["name"]: f["text"] for f in _native.loss_features()}
