# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Intervals of ratios to a baseline: a block bootstrap, all estimators resampled together.

Samples of a flow are correlated, so runs of neighbouring blocks are drawn with replacement (Kuensch 1989;
in a circle, Politis and Romano 1992). A series of T samples has at most 128 blocks, B of them, and a run
spans the cube root of B: T^(1/3) samples of a short series, 1/25 to 1/16 of a long one.
"""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tcplearn import metrics

Floats = NDArray[np.float64]

#: The ratios that have intervals, in the order of the engine's sums (`Blocks::Sum`).
RATIOS = tuple(metric.ratio_key for metric in metrics.with_ratio())
MISSES = RATIOS.index("rto_miss_rate_ratio")
RTO = RATIOS.index("mean_rto_ratio")
RESAMPLES = 1000
COVERAGE = 0.95
#: Short flows of the totals are resampled whole; beyond this many, neighbours are merged.
MOST_POOLED = 128


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a generator that depends only on `seed` and `names`, not on the order in which flows end."""
    digest = hashlib.blake2b("\0".join((str(seed), *names)).encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def of_data(seed: int, sums: Floats) -> np.random.Generator:
    """Return a generator that depends only on `seed` and the data `sums`, not on a name."""
    return generator(seed, hashlib.blake2b(np.ascontiguousarray(sums).tobytes()).hexdigest())


def run_length(blocks: int) -> int:
    return math.ceil(round(math.cbrt(blocks), 9))


def resampled(sums: Floats, rng: np.random.Generator) -> Floats:
    """Return the sums of the resamples, [resample, estimator, sum], from `sums` of the blocks."""
    blocks, run = len(sums), run_length(len(sums))
    runs = -(-blocks // run)
    drawn = rng.integers(0, blocks, (RESAMPLES, runs)) + np.arange(RESAMPLES)[:, None] * blocks
    counts = np.bincount(drawn.ravel(), minlength=RESAMPLES * blocks).reshape(RESAMPLES, blocks)
    of_runs = sum(np.roll(sums, -k, axis=0) for k in range(run))
    # the runs drawn have a few blocks more than the flow: flows are added up by their true sizes
    scale = blocks / (runs * run)
    out: Floats = (counts * scale) @ np.reshape(of_runs, (blocks, -1))
    return out.reshape(RESAMPLES, *sums.shape[1:])


def tail(independent: float) -> float:
    """Return the share to cut at each end for `independent` runs. With few of them the plain percentile is
    too narrow, as a normal quantile is in place of Student's; the expanded percentile (Hesterberg 2015)
    corrects this."""
    z = -NormalDist().inv_cdf((1 - COVERAGE) / 2)
    v = max(independent - 1, 2.0)
    t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)  # Cornish and Fisher
    return NormalDist().cdf(-t * math.sqrt((v + 1) / v))


def tail_of(blocks: int) -> float:
    return tail(blocks / run_length(blocks))


def intervals(drawn: Floats, base: int, cut: float) -> tuple[Floats, Floats]:
    """Return low and high of each ratio to `base`, [estimator, sum]; not finite if the resamples `drawn` do
    not bound it. The same resamples serve any base."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = drawn / drawn[:, base : base + 1]
    # 0 / 0 may be any ratio, so it counts at both ends
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
    same[:, MISSES] &= same[:, MISSES + 1]  # the same timer, and not only the same number of misses
    # an event that never happened does not show how rare it is
    never = (drawn == 0).all(axis=0) & ~same
    return np.where(same, 1.0, np.where(never, np.nan, low)), np.where(
        same, 1.0, np.where(never, np.nan, high)
    )


def of_flow(sums: Floats, base: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return low and high of a flow's ratios to `base`, and the resamples of these intervals."""
    drawn = resampled(sums, rng)
    low, high = intervals(drawn, base, tail_of(len(sums)))
    return low, high, drawn


class Total:
    """All flows together: each judged flow is resampled by itself, every other flow as a whole."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._order = generator(seed, "order")
        self._judged: Floats | None = None
        self._pooled: list[Floats] = []
        self._each = 1
        self._in_last = 1
        self._independent = 0.0

    def add(self, drawn: Floats, blocks: int) -> None:
        # flows with the same data draw the same blocks; a random order makes them independent
        drawn = drawn[self._order.permutation(RESAMPLES)]
        self._judged = drawn if self._judged is None else self._judged + drawn
        self._independent += blocks / run_length(blocks)

    def pool(self, sums: Floats) -> None:
        """Add the `sums` of a flow that is too short to be judged."""
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
        """Return the intervals for each base, from the same resamples; nothing if there was no flow."""
        drawn, independent = self._judged, self._independent
        if self._pooled:
            pooled = np.stack(self._pooled)
            more = resampled(pooled, generator(self._seed, "total"))
            drawn = more if drawn is None else drawn + more
            independent += len(pooled) / run_length(len(pooled))
        return [] if drawn is None else [intervals(drawn, base, tail(independent)) for base in bases]
