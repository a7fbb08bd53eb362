# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Estimate how much waiting learned minimum RTOs (floors) saved, by comparing the connections that have them
with a control group under the kernel's own timer. A lossy round is a round trip in which a loss needed a
retransmission by timer. The confidence intervals hold at any time, however often they are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

from .arms import UNIT_US
from .sequential import clustered_rate_limits

RISK = 0.05
LEAST_ROUNDS = 10  # rounds with a loss that each group must have for an interval
_TUNED = 50  # boundary() is tuned for the narrowest interval at this number of rounds with a loss


@dataclass(frozen=True)
class Mean:
    """The mean time in ms of the lossy rounds (round trips in which a loss needed a retransmission by timer)
    of a group of connections, and the variance of this mean. Rounds of the same connection are correlated, so
    the variance is that of a ratio of sums over connections."""

    ms: float
    variance: float
    rounds: int


@dataclass(frozen=True)
class Estimate:
    """An estimated value with the limits of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Effect:
    """The mean times of lossy rounds (round trips in which a loss needed a retransmission by timer) in the
    control group and with learned minimum RTOs (floors), and their difference."""

    control: Mean
    ours: Mean
    less_ms: Estimate  # how much shorter a lossy round was in `ours` than in `control`

    @property
    def is_sure(self) -> bool:
        """Return whether the interval excludes that lossy rounds (round trips in which a loss needed a
        retransmission by timer) are as long with learned minimum RTOs (floors) as without."""
        return self.less_ms.low > 0 or self.less_ms.high < 0

    def saved_s(self) -> Estimate:
        """Return an estimate, in seconds, of the waiting that learned minimum RTOs (floors) saved in all
        lossy rounds (round trips in which a loss needed a retransmission by timer)."""
        by = self.ours.rounds / 1000
        return Estimate(by * self.less_ms.value, by * self.less_ms.low, by * self.less_ms.high)


def boundary(count: int, risk: float = RISK) -> float:
    """Return half the width, in standard errors, of a confidence interval of the mean of `count` values. With
    probability 1 - `risk` the interval holds at all times while values are added. It is an asymptotic
    confidence sequence: Waudby-Smith et al., "Time-uniform central limit theory and asymptotic confidence
    sequences" (Annals of Statistics 52, 2024), theorem 2.2, with the rho of its equation 10."""
    tuned = -2 * log(risk)
    scaled = count * (tuned + log(tuned + 1)) / _TUNED
    return sqrt(2 * (scaled + 1) / scaled * log(sqrt(scaled + 1) / risk))


def mean_of(arm: Mapping[str, int]) -> Mean:
    """Return the mean time of the lossy rounds (round trips in which a loss needed a retransmission by timer)
    in `arm`, the counts of a group of connections. Raise ZeroDivisionError if no round was lossy."""
    needed, unit_ms = arm["needed"], UNIT_US / 1000
    ratio = arm["wait"] / needed
    squares = arm["wait_square"] - 2 * ratio * arm["wait_needed"] + ratio**2 * arm["needed_square"]
    return Mean(unit_ms * ratio, unit_ms**2 * max(0.0, squares) / needed**2, needed)


def effect_of(strata: Iterable[Mapping[str, Any]]) -> Effect | None:
    """Return how much shorter lossy rounds (round trips in which a loss needed a retransmission by timer)
    were with learned minimum RTOs (floors) than in the control group, or None if there were too few. Each of
    `strata` has the counts of both groups ("ours" and "control") of one host while one share of its new
    connections got floors. The groups are compared within a stratum, because at another time other paths may
    have lost more."""
    pairs = [(one["control"], one["ours"]) for one in strata]
    return effect_between([(mean_of(a), mean_of(b)) for a, b in pairs if a["needed"] and b["needed"]])


def effect_between(means: Sequence[tuple[Mean, Mean]]) -> Effect | None:
    """Return what effect_of() returns. `means` has for each stratum (connections that can be compared) the
    mean times of lossy rounds (round trips in which a loss needed a retransmission by timer): in the control
    group, and with learned minimum RTOs (floors)."""
    if not means:
        return None
    control, ours = (_together([pair[arm] for pair in means], [b for _, b in means]) for arm in (0, 1))
    least = min(control.rounds, ours.rounds)
    if least < LEAST_ROUNDS:
        return None
    wide = boundary(least) * sqrt(control.variance + ours.variance)
    less = control.ms - ours.ms
    return Effect(control, ours, Estimate(less, less - wide, less + wide))


def _together(means: Sequence[Mean], weights: Sequence[Mean]) -> Mean:
    """Return the weighted mean of `means`, which has for each stratum (connections that can be compared) a
    mean time of lossy rounds (round trips in which a loss needed a retransmission by timer). The weight of a
    stratum is the number of lossy rounds in `weights`, which has only the connections with learned minimum
    RTOs (floors), because only these saved time."""
    whole = sum(one.rounds for one in weights)
    parts = [one.rounds / whole for one in weights]
    return Mean(
        sum(part * mean.ms for part, mean in zip(parts, means, strict=True)),
        sum(part**2 * mean.variance for part, mean in zip(parts, means, strict=True)),
        sum(mean.rounds for mean in means),
    )


def spurious_of(arms: Iterable[Mapping[str, int]]) -> Estimate | None:
    """Return the number of rounds (round trips) with a spurious retransmission in 1,000 rounds, with its 95 %
    interval, or None if there were no rounds. The counts `arms` of groups of connections are added up."""
    found = [*arms]
    return spurious_in(*(sum(arm[n] for arm in found) for n in ("rounds", "spurious", "spurious_square")))


def spurious_in(rounds: int, events: int, squares: int) -> Estimate | None:
    """Return what spurious_of() returns, from the numbers of all rounds and of those with a spurious
    retransmission (`events`). `squares` is the sum of the squares of the `events` of each connection."""
    if not rounds:
        return None
    low, high = clustered_rate_limits(events, rounds, squares, RISK)
    return Estimate(1000 * events / rounds, 1000 * low, 1000 * high)
