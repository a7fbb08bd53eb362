# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes confidence intervals of a mean by Student's t distribution, without SciPy."""

import math
import statistics
from collections.abc import Sequence
from functools import cache


@cache
def t_quantile(p: float, freedom: int) -> float:
    """Return the quantile for `p` > 1/2 of Student's t with `freedom` degrees, by bisection."""
    low, high = 0.0, 1.0
    while _t_below(high, freedom) < p:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_below(middle, freedom) < p else (low, middle)
    return (low + high) / 2


def _t_below(t: float, freedom: int) -> float:
    """Return P(T < t) for Student's t with `freedom` degrees of freedom. `area` is P(|T| < t), computed by
    Abramowitz and Stegun 26.7.3 and 26.7.4."""
    theta = math.atan(t / math.sqrt(freedom))
    cos2 = math.cos(theta) ** 2
    term = total = 1.0
    for k in range(2 if freedom % 2 else 1, freedom - 2, 2):
        term *= cos2 * k / (k + 1)
        total += term
    if freedom % 2:
        tail = math.sin(theta) * math.cos(theta) * total if freedom > 1 else 0.0
        area = 2 / math.pi * (theta + tail)
    else:
        area = math.sin(theta) * total
    return (1 + area) / 2


def mean_interval(values: Sequence[float], confidence: float) -> tuple[float, float | None]:
    """Return the mean of `values`, and half the width of its interval with the confidence level `confidence`
    (None for a single value)."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    quantile = t_quantile((1 + confidence) / 2, len(values) - 1)
    return mean, quantile * statistics.stdev(values) / math.sqrt(len(values))


def ratio_interval(
    above: Sequence[float], below: Sequence[float], confidence: float
) -> tuple[float, float, float] | None:
    """Return the geometric mean of the ratios `above` / `below` and the two ends of its confidence interval.
    Return None if a value is zero, because leaving out its pair would favour one algorithm."""
    if not above or min(*above, *below) <= 0:
        return None
    logs = [math.log(a / b) for a, b in zip(above, below, strict=True)]
    mean, half = mean_interval(logs, confidence)
    return math.exp(mean), math.exp(mean - (half or 0.0)), math.exp(mean + (half or 0.0))
