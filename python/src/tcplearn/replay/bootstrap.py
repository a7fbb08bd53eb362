# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compute bootstrap intervals of ratios to a baseline estimator. All estimators share the same resamples.

The samples of a flow are correlated, so the flow is cut into B equal blocks, at most 128. Runs of
neighbouring blocks are drawn with replacement (Kuensch 1989; in a circle, Politis and Romano 1992). A run
has the cube root of B blocks. This is T^(1/3) samples of a short series of T samples, and 1/25 to 1/16 of
a long series.
"""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tcplearn import metrics

Floats = NDArray[np.float64]

#: The metrics whose ratios have intervals, in the order of the engine's sums (`Blocks::Sum`).
RATIOS = tuple(metric.ratio_key for metric in metrics.with_ratio())
MISSES = RATIOS.index("rto_miss_rate_ratio")
RTO = RATIOS.index("mean_rto_ratio")
RESAMPLES = 1000
COVERAGE = 0.95
#: The most short flows in the totals that are resampled one by one. If there are more, neighbouring flows
#: are merged.
MOST_POOLED = 128


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a random generator that depends only on `seed` and `names`. The order in which flows end has
    no influence."""
    digest = hashlib.blake2b("\0".join((str(seed), *names)).encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def of_data(seed: int, sums: Floats) -> np.random.Generator:
    """Return a random generator that depends only on `seed` and the data `sums`, not on a flow's name."""
    return generator(seed, hashlib.blake2b(np.ascontiguousarray(sums).tobytes()).hexdigest())


def run_length(blocks: int) -> int:
    return math.ceil(round(math.cbrt(blocks), 9))


def resampled(sums: Floats, rng: np.random.Generator) -> Floats:
    """Return bootstrap resamples of `sums`, indexed [resample, estimator, sum]. `sums` is indexed [block,
    estimator, sum]; the last axis has the sums from which ratios are computed, such as the summed error."""
    blocks, run = len(sums), run_length(len(sums))
    runs = -(-blocks // run)
    drawn = rng.integers(0, blocks, (RESAMPLES, runs)) + np.arange(RESAMPLES)[:, None] * blocks
    counts = np.bincount(drawn.ravel(), minlength=RESAMPLES * blocks).reshape(RESAMPLES, blocks)
    of_runs = sum(np.roll(sums, -k, axis=0) for k in range(run))
    # the drawn runs have a few more blocks than the flow; scaled so that each flow counts in totals by its
    # true size
    scale = blocks / (runs * run)
    out: Floats = (counts * scale) @ np.reshape(of_runs, (blocks, -1))
    return out.reshape(RESAMPLES, *sums.shape[1:])


def tail(independent: float) -> float:
    """Return the share of resamples to cut at each end of the distribution for `independent` runs. Plain
    percentiles of few runs give intervals that are too narrow, as a normal quantile does in place of
    Student's t. The expanded percentile (Hesterberg 2015) corrects this."""
    z = -NormalDist().inv_cdf((1 - COVERAGE) / 2)
    v = max(independent - 1, 2.0)
    # expansion of Cornish and Fisher
    t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
    return NormalDist().cdf(-t * math.sqrt((v + 1) / v))


def tail_of(blocks: int) -> float:
    return tail(blocks / run_length(blocks))


def intervals(drawn: Floats, base: int, cut: float) -> tuple[Floats, Floats]:
    """Return the low and the high end of the interval of each estimator's ratio to estimator number
    `base`. Both are indexed [estimator, sum], with a ratio for each sum. `cut` is the share of resamples
    to cut at each end. An end is not finite if the resamples `drawn` do not bound it. The same resamples
    serve for any `base`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = drawn / drawn[:, base : base + 1]
    # 0 / 0 may be any ratio, so it counts as 0 for the low end and as infinity for the high end
    last = len(ratio) - 1
    k = math.floor(cut * last)
    unknown = np.isnan(ratio)
    if unknown.any():
        low = np.partition(np.where(unknown, 0.0, ratio), k, axis=0)[k]
        high = np.partition(np.where(unknown, np.inf, ratio), last - k, axis=0)[last - k]
    else:
        ordered = np.partition(ratio, (k, last - k), axis=0)
        low, high = ordered[k], ordered[last - k]
    same = (drawn == drawn[:, base : base + 1]).all(axis=0)
    # equal only if the timers' RTO sums are equal too, not only their numbers of misses
    same[:, MISSES] &= same[:, MISSES + 1]
    # no interval for an event that never happened, because the data do not show how rare it is
    never = (drawn == 0).all(axis=0) & ~same
    return np.where(same, 1.0, np.where(never, np.nan, low)), np.where(
        same, 1.0, np.where(never, np.nan, high)
    )


def of_flow(sums: Floats, base: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return the low and the high ends of the intervals of a flow's ratios to estimator number `base`, and
    the resamples that they are computed from. `sums` is indexed [block, estimator, sum]."""
    drawn = resampled(sums, rng)
    low, high = intervals(drawn, base, tail_of(len(sums)))
    return low, high, drawn


class Total:
    """The bootstrap of all flows together. Each judged flow (one with enough samples) is resampled in
    blocks; every other flow is resampled as a whole."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._order = generator(seed, "order")
        self._judged: Floats | None = None
        self._pooled: list[Floats] = []
        self._each = 1
        self._in_last = 1
        self._independent = 0.0

    def add(self, drawn: Floats, blocks: int) -> None:
        # flows with the same data draw the same blocks; a random order makes their resamples independent
        drawn = drawn[self._order.permutation(RESAMPLES)]
        self._judged = drawn if self._judged is None else self._judged + drawn
        self._independent += blocks / run_length(blocks)

    def pool(self, sums: Floats) -> None:
        """Add the `sums` of a flow that has too few samples for a result of its own. The flow is resampled
        as a whole."""
        if self._in_last < self._each:
            self._pooled[-1] = self._pooled[-1] + sums.sum(axis=0)
            self._in_last += 1
            return
        if len(self._pooled) == MOST_POOLED:
            self._pooled = [a + b for a, b in zip(self._pooled[::2], self._pooled[1::2], strict=True)]
            self._each *= 2
        self._pooled.append(sums.sum(axis=0))
        self._in_last = 1

    def intervals(self, *bases: int) -> list[tuple[Floats, Floats]]:
        """Return the intervals for each estimator number in `bases`, from the same resamples. Return an
        empty list if there was no flow."""
        drawn, independent = self._judged, self._independent
        if self._pooled:
            pooled = np.stack(self._pooled)
            more = resampled(pooled, generator(self._seed, "total"))
            drawn = more if drawn is None else drawn + more
            independent += len(pooled) / run_length(len(pooled))
        return [] if drawn is None else [intervals(drawn, base, tail(independent)) for base in bases]
