# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fit linear quantile regressions with weights >= 0, and correct them by their errors on held-out data."""

from typing import Any

import numpy as np

from tcplearn.errors import FailedError, need_extra
from tcplearn.learn.dataset import Floats, Ints

ROWS_MAX = 4000  # more rows take seconds and do not improve accuracy


def optimize() -> Any:
    """Return the module scipy.optimize, which is installed with scikit-learn. Raise UserError if it is
    missing."""
    need_extra("training", "training")
    from scipy import optimize

    return optimize


def linear(x: Floats, y: Floats, weight: Floats, level: float) -> Floats:
    """Return the vector w >= 0 that minimises the sum of weight * (pinball loss of y - x w at the quantile
    `level`). It is found as the dual values of the linear program that maximises y d, where x' d <= 0 and -(1
    - level) weight <= d <= level weight."""
    scale = np.maximum(np.abs(x).max(0), 1e-12)
    size = float(np.abs(y).max())
    bounds = np.stack([(level - 1) * weight, level * weight], axis=1)
    found = optimize().linprog(
        -y / size, A_ub=(x / scale).T, b_ub=np.zeros(x.shape[1]), bounds=bounds, method="highs"
    )
    if not found.success:
        raise FailedError(f"no quantile found: {found.message}")
    out: Floats = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0) * size / scale
    return out


def of_weighted(values: Floats, weight: Floats, level: float) -> float:
    """Return the smallest of `values` for which the values at or below it have at least the share `level` of
    the total weight."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    return float(values[order][min(int(np.searchsorted(share, level - 1e-12)), len(values) - 1)])


def fit(x: Floats, y: Floats, group: Ints, level: float, seed: int) -> Floats:
    """Return the weights of the linear regression of the quantile `level` of `y` on `x`. All groups
    (destinations) count equally. If the last RTT is an input, errors are relative to it."""
    return _fit(*_drawn(x, y, group, seed), level)


def fit_timer(x: Floats, y: Floats, group: Ints, fitted: float, level: float, seed: int) -> Floats:
    """Return the weights of the linear regression of the quantile `fitted`, multiplied by margin()."""
    x, y, group = _drawn(x, y, group, seed)
    return _fit(x, y, group, fitted) * margin(x, y, group, fitted, level, seed)


def _drawn(x: Floats, y: Floats, group: Ints, seed: int) -> tuple[Floats, Floats, Ints]:
    chosen = np.random.default_rng(seed).permutation(len(y))[:ROWS_MAX]
    return x[chosen], y[chosen], group[chosen]


def _fit(x: Floats, y: Floats, group: Ints, level: float) -> Floats:
    weight = 1 / np.bincount(group)[group]
    if x.shape[1] == 1:
        return np.array([of_weighted(y / x[:, 0], weight, level)])
    if x.shape[1] > 2:  # columns: constant, last RTT, high RTT
        return linear(x / x[:, 1:2], y / x[:, 1], weight, level)
    return linear(x, y, weight, level)


def margin(x: Floats, y: Floats, group: Ints, fitted: float, level: float, seed: int) -> float:
    """Return the factor by which a line fitted at the quantile `fitted` is multiplied, so that the share
    `level` of `y` in held-out groups (destinations) lies below it. Each half of the groups is held out
    once."""
    groups = np.random.default_rng(seed).permutation(np.unique(group))
    halves = np.isin(group, groups[: len(groups) // 2])
    if len(groups) < 4:
        return 1.0
    ratio = np.zeros(len(y))
    for test in (halves, ~halves):
        predicted = x[test] @ _fit(x[~test], y[~test], group[~test], fitted)
        ratio[test] = y[test] / np.maximum(predicted, 1.0)
    return of_weighted(ratio, 1 / np.bincount(group)[group], level)
