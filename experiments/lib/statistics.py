# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Bootstrap intervals, and what they say of a criterion that was set beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from experiments.lib.runs import Floats
from tcplearn.output.numbers import ratio

#: A value, and the same of each bootstrap sample.
Drawn = tuple[float, Floats]


def geometric(values: Sequence[float] | Floats) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(values, float)))))


def geometric_drawn(found: Sequence[Drawn]) -> Drawn:
    """Returns the geometric mean of ratios, and the same of each bootstrap sample of them."""
    drawn = np.exp(np.mean([np.log(drawn) for _, drawn in found], axis=0))
    return geometric([value for value, _ in found]), drawn


def interval(drawn: Floats) -> tuple[float, float]:
    """Returns the 95 % interval of bootstrap samples."""
    low, high = np.percentile(drawn, (2.5, 97.5)).tolist()
    return low, high


def spread(of: Drawn) -> str:
    """Returns a ratio with its 95 % interval, as text."""
    low, high = interval(of[1])
    return f"{ratio(of[0])} ({ratio(low)}-{ratio(high)})"


def how(limit: float, drawn: Floats) -> str:
    """Returns whether the whole interval is at most the limit, above it, or on both sides."""
    low, high = interval(drawn)
    return "met" if high <= limit else "missed" if low > limit else "undecided"


def verdict(of: Drawn, limit: float, *, least: bool = False) -> str:
    """Returns a ratio, its interval and whether it keeps the limit, which with `least` is one from below."""
    return f"{spread(of)}: {how(-limit, -of[1]) if least else how(limit, of[1])}"


def means_drawn(values: Sequence[float] | Floats, seed: int, draws: int) -> Floats:
    """Returns the means of bootstrap samples of the values."""
    each = np.asarray(values, float)
    chosen = np.random.default_rng(seed).integers(0, len(each), (draws, len(each)))
    return np.asarray(each[chosen].mean(axis=1))


def ratio_drawn(
    ours: Floats,
    base: Floats,
    seed: int,
    draws: int,
    of: Callable[..., Floats] = np.mean,
    *,
    paired: bool = False,
) -> Drawn:
    """Returns a figure of `ours` over that of `base`: with `paired` each sample draws the same places of
    both."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, len(base), (draws, len(base)))
    below = of(base[places], axis=1)
    above = of(ours[places if paired else rng.integers(0, len(ours), (draws, len(ours)))], axis=1)
    return float(of(ours) / of(base)), np.asarray(above / below)
