# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes bootstrap intervals and Student's intervals, and says whether a criterion is met."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from experiments.lib.runs import Floats
from tcplearn.output.numbers import ratio
from tcplearn.simulate.interval import mean_interval, ratio_interval

#: A statistic of the data, and an array with the same statistic of each bootstrap sample.
Drawn = tuple[float, Floats]


def geometric(values: Sequence[float] | Floats) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(values, float)))))


def geometric_drawn(found: Sequence[Drawn]) -> Drawn:
    """Returns the geometric mean of several ratios, and their geometric mean in each bootstrap sample.
    `found` has each ratio with its values in the bootstrap samples."""
    drawn = np.exp(np.mean([np.log(drawn) for _, drawn in found], axis=0))
    return geometric([value for value, _ in found]), drawn


def interval(drawn: Floats) -> tuple[float, float]:
    """Returns the 2.5th and 97.5th percentiles of the bootstrap samples `drawn`: a 95 % interval."""
    low, high = np.percentile(drawn, (2.5, 97.5)).tolist()
    return low, high


class Ratio(NamedTuple):
    """A ratio and both ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return "{} ({}-{})".format(*map(ratio, self))


def spread(of: Drawn) -> str:
    """Returns, as text, a ratio with its 95 % bootstrap interval."""
    return str(Ratio(of[0], *interval(of[1])))


def how(limit: float, drawn: Floats) -> str:
    """Returns "met" if the whole 95 % interval of the bootstrap samples `drawn` is at most `limit`,
    "missed" if the whole interval is above `limit`, and otherwise "undecided"."""
    low, high = interval(drawn)
    return "met" if high <= limit else "missed" if low > limit else "undecided"


def verdict(of: Drawn, limit: float, *, least: bool = False) -> str:
    """Returns, as text, the ratio `of`, its 95 % bootstrap interval, and whether the whole interval meets the
    criterion ("met"), misses it ("missed") or neither ("undecided"). The criterion is a ratio of at most
    `limit` or, if `least` is true, of at least `limit`."""
    return f"{spread(of)}: {how(-limit, -of[1]) if least else how(limit, of[1])}"


def means_drawn(values: Sequence[float] | Floats, seed: int, draws: int) -> Floats:
    """Returns the mean of each of `draws` bootstrap samples of the `values`."""
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
    """Returns the ratio of a statistic of `ours` to the same statistic of `base`, and this ratio in each of
    `draws` bootstrap samples. `of` computes the statistic. If `paired` is true, a bootstrap sample takes the
    same indices from both arrays."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, len(base), (draws, len(base)))
    below = of(base[places], axis=1)
    above = of(ours[places if paired else rng.integers(0, len(ours), (draws, len(ours)))], axis=1)
    return float(of(ours) / of(base)), np.asarray(above / below)


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its confidence interval. The ends are nan if they are unknown. If there are no
    runs, the value is nan too."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan

    def __bool__(self) -> bool:
        return not math.isnan(self.value)

    def shown(self, digits: int = 2) -> str:
        """Returns, as text, the value with `digits` decimals and its interval, or a dash if it is nan."""
        if not self:
            return "–"
        value, low, high = (f"{one:,.{digits}f}" for one in (self.value, self.low, self.high))
        return value if math.isnan(self.low) else f"{value} ({low} to {high})"

    __str__ = shown


def student_mean(values: Sequence[float], confidence: float) -> Estimate:
    """Returns the mean of the values with Student's confidence interval."""
    if not values:
        return Estimate()
    mean, half = mean_interval(values, confidence)
    return Estimate(mean) if half is None else Estimate(mean, mean - half, mean + half)


def student_ratio(
    above: Mapping[Hashable, float], below: Mapping[Hashable, float], confidence: float
) -> Estimate:
    """Returns the geometric mean, over the keys that both mappings have, of the value in `above` divided by
    the value in `below`, with Student's interval. If a value is zero, or if the mappings share only one key,
    it returns the ratio of the sums without an interval."""
    both = [key for key in above if key in below]
    tops, bottoms = ([side[key] for key in both] for side in (above, below))
    paired = ratio_interval(tops, bottoms, confidence)
    if paired and len(both) > 1:
        return Estimate(*paired)
    return Estimate(sum(tops) / sum(bottoms)) if sum(bottoms) > 0 else Estimate()
