# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Score a loss classifier. `congested` (the cause) and `called` (the decision) are 1 for a loss by
congestion and 0 for a random loss. A larger score or probability makes congestion more likely."""

import numpy as np

from tcplearn.learn.dataset import Floats, Ints

RESAMPLES, INTERVAL = 1000, 95
BINS = 10


def balanced_accuracy(congested: Ints, called: Ints) -> float:
    """Return the mean of the recalls of both causes, or nan if one of these does not occur."""
    return float(np.mean([recall(congested, called, cause) for cause in (0, 1)]))


def recall(congested: Ints, called: Ints, cause: int) -> float:
    of_cause = congested == cause
    return float((called[of_cause] == cause).mean()) if of_cause.any() else np.nan


def auc(congested: Ints, score: Floats) -> float:
    """Return the probability that a congestion loss has a larger score than a random loss; ties count 1/2."""
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[place]
    ones = int(congested.sum())
    pairs = ones * (len(congested) - ones)
    return float((rank[congested == 1].sum() - ones * (ones + 1) / 2) / pairs) if pairs else np.nan


def bins(congested: Ints, probability: Floats) -> list[tuple[float, float, int]]:
    """Divide the losses by `probability` of congestion into ten ranges of equal width. Return, for each range
    with losses, the mean probability, the share of losses by congestion, and the number of losses."""
    place = np.minimum((probability * BINS).astype(int), BINS - 1)
    return [
        (float(probability[at].mean()), float(congested[at].mean()), int(at.sum()))
        for at in (place == k for k in range(BINS))
        if at.any()
    ]


def calibration_error(congested: Ints, probability: Floats) -> float:
    """Return the expected calibration error of `probability`, the predicted probability of congestion: the
    mean over bins of losses of |mean probability - share of congestion|."""
    return sum(abs(p - share) * rows for p, share, rows in bins(congested, probability)) / len(congested)


def best_threshold(congested: Ints, score: Floats) -> float:
    """Return the threshold with the best balanced accuracy. A score at or above it counts as congestion."""
    order = np.argsort(score, kind="stable")
    sorted_score, is_one = score[order], congested[order] == 1
    below = np.concatenate(([0], np.cumsum(~is_one))) / max(1, int((~is_one).sum()))
    above = 1 - np.concatenate(([0], np.cumsum(is_one))) / max(1, int(is_one.sum()))
    value = below + above
    value[1:-1][sorted_score[1:] == sorted_score[:-1]] = -1  # a threshold cannot separate equal scores
    k = int(np.argmax(value))
    if k == 0 or k == len(order):
        return float(sorted_score[0]) if k == 0 else float(np.nextafter(sorted_score[-1], np.inf))
    return float(sorted_score[k - 1] + (sorted_score[k] - sorted_score[k - 1]) / 2)


def interval(congested: Ints, called: Ints, group: Ints, seed: int = 1) -> tuple[float, float]:
    """Return the bootstrap interval of the balanced accuracy. Whole scenarios (`group`) are resampled."""
    of_cause = [congested == c for c in (0, 1)]
    sums = np.array([np.where(of, called == k, 0.0) for k, of in enumerate(of_cause)])
    return bootstrap(group, sums, np.array(of_cause, np.float64), seed)


def bootstrap(group: Ints, values: Floats, rows: Floats, seed: int = 1) -> tuple[float, float]:
    """Return the bootstrap interval of the mean of ratios. Ratio k is the sum of `values[k]` divided by the
    sum of `rows[k]`. Whole groups (such as scenarios) are resampled."""
    groups, place = np.unique(group, return_inverse=True)
    above, below = (np.array([np.bincount(place, line) for line in of]) for of in (values, rows))
    drawn = np.random.default_rng(seed).integers(0, len(groups), (RESAMPLES, len(groups)))
    with np.errstate(invalid="ignore"):
        ratios = above[:, drawn].sum(2) / below[:, drawn].sum(2)
    tail = (100 - INTERVAL) / 2
    low, high = np.nanpercentile(ratios.mean(0), [tail, 100 - tail])
    return float(low), float(high)
