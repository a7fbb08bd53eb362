# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compute bootstrap intervals of the ratios of each RTT estimator's sums to those of a baseline estimator.
The sums are of prediction errors, of misses (samples above the RTO), of RTOs and of excess waits (RTO -
sample). All estimators have the same resamples. A flow's samples are correlated, so the flow is cut into B <=
128 equal blocks, and runs of cbrt(B) neighbouring blocks are drawn with replacement (Kuensch 1989; circular:
Politis and Romano 1992)."""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tcplearn import metrics

Floats = NDArray[np.float64]

RATIOS = tuple(metric.ratio_key for metric in metrics.with_ratio())  # in the order of `Blocks::Sum`
MISSES = RATIOS.index("rto_miss_rate_ratio")
RTO = RATIOS.index("mean_rto_ratio")
RESAMPLES = 1000
COVERAGE = 0.95
MOST_POOLED = 128  # with more short flows, neighbours are merged before they are resampled


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a random generator that depends only on `seed` and `names`, not on the order of calls."""
    digest = hashlib.blake2b("\0".join((str(seed), *names)).encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def of_data(seed: int, sums: Floats) -> np.random.Generator:
    """Return a random generator that depends only on `seed` and the data `sums`, not on a flow's name."""
    return generator(seed, hashlib.blake2b(np.ascontiguousarray(sums).tobytes()).hexdigest())


def run_length(blocks: int) -> int:
    return math.ceil(round(math.cbrt(blocks), 9))


def resampled(sums: Floats, rng: np.random.Generator) -> Floats:
    """Return `RESAMPLES` bootstrap resamples of each estimator's `sums` over the blocks of a flow, which are
    indexed [block, estimator, sum]. The result is indexed [resample, estimator, sum]."""
    blocks, run = len(sums), run_length(len(sums))
    runs = -(-blocks // run)
    drawn = rng.integers(0, blocks, (RESAMPLES, runs)) + np.arange(RESAMPLES)[:, None] * blocks
    counts = np.bincount(drawn.ravel(), minlength=RESAMPLES * blocks).reshape(RESAMPLES, blocks)
    of_runs = sum(np.roll(sums, -k, axis=0) for k in range(run))
    # the drawn runs may have more blocks than the flow, so their sums are scaled to the flow's size
    scale = blocks / (runs * run)
    out: Floats = (counts * scale) @ np.reshape(of_runs, (blocks, -1))
    return out.reshape(RESAMPLES, *sums.shape[1:])


def tail(independent: float) -> float:
    """Return the share of resamples to cut off at each end for a 95 % interval: below 2.5 % with few
    `independent` runs of blocks (expanded percentile, Hesterberg 2015)."""
    z = -NormalDist().inv_cdf((1 - COVERAGE) / 2)
    v = max(independent - 1, 2.0)
    t = z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)  # Cornish-Fisher expansion
    return NormalDist().cdf(-t * math.sqrt((v + 1) / v))


def tail_of(blocks: int) -> float:
    return tail(blocks / run_length(blocks))


def intervals(drawn: Floats, base: int, cut: float) -> tuple[Floats, Floats]:
    """Return the low and high ends of the intervals of each estimator's sums divided by those of estimator
    number `base`, indexed [estimator, sum]. `drawn` has the resamples, of which the share `cut` is cut off at
    each end. An end is not finite if the resamples do not bound it."""
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
    same[:, MISSES] &= same[:, MISSES + 1]  # equal only if the next sums, of RTOs, are equal too
    never = (drawn == 0).all(axis=0) & ~same  # the data do not show how rare such an event is
    return np.where(same, 1.0, np.where(never, np.nan, low)), np.where(
        same, 1.0, np.where(never, np.nan, high)
    )


def of_flow(sums: Floats, base: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return the low and high ends of the bootstrap intervals of each estimator's sums over a flow divided by
    those of estimator number `base`, and the resamples. `sums` is indexed [block, estimator, sum]."""
    drawn = resampled(sums, rng)
    low, high = intervals(drawn, base, tail_of(len(sums)))
    return low, high, drawn


class Total:
    """The bootstrap of all flows together. A flow with enough samples to be judged alone is resampled in
    blocks, any other flow as a whole."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._order = generator(seed, "order")
        self._judged: Floats | None = None
        self._pooled: list[Floats] = []
        self._each = 1
        self._in_last = 1
        self._independent = 0.0

    def add(self, drawn: Floats, blocks: int) -> None:
        drawn = drawn[self._order.permutation(RESAMPLES)]  # else equal flows would be resampled alike
        self._judged = drawn if self._judged is None else self._judged + drawn
        self._independent += blocks / run_length(blocks)

    def pool(self, sums: Floats) -> None:
        """Add a flow that has too few samples to be judged alone: it is resampled as a whole."""
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
        """Return the ends of intervals() over all flows for each estimator number in `bases`, or an empty
        list if no flow was added."""
        drawn, independent = self._judged, self._independent
        if self._pooled:
            pooled = np.stack(self._pooled)
            more = resampled(pooled, generator(self._seed, "total"))
            drawn = more if drawn is None else drawn + more
            independent += len(pooled) / run_length(len(pooled))
        return [] if drawn is None else [intervals(drawn, base, tail(independent)) for base in bases]
