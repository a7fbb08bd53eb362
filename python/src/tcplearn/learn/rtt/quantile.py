# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fit linear quantile regressions with non-negative weights by linear programming, and raise them to reach
a given miss rate on held-out data."""

from typing import Any

import numpy as np

from tcplearn.errors import FailedError, UserError
from tcplearn.learn.dataset import Floats, Ints

#: The most rows that are used. More rows take seconds and do not improve accuracy.
ROWS_MAX = 4000


def optimize() -> Any:
    """Return the module scipy.optimize, which is installed with scikit-learn. Raise UserError if it is
    missing."""
    try:
        from scipy import optimize
    except ImportError as error:
        raise UserError("training needs scikit-learn; run: pip install 'tcplearn[sklearn]'") from error
    return optimize


def linear(x: Floats, y: Floats, weight: Floats, level: float) -> Floats:
    """Return the w >= 0 that minimises the sum of weight * (pinball loss of y - x w) at the quantile
    `level`.

    The dual is solved, because it has only one row for each column of x: max y d subject to x' d <= 0 and
    -(1 - level) weight <= d <= level weight. The dual values of its solution are w.
    """
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
    """Return the weighted quantile of `values`: the least value that has at least the share `level` of the
    weight at or below it."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    return float(values[order][min(int(np.searchsorted(share, level - 1e-12)), len(values) - 1)])


def fit(x: Floats, y: Floats, group: Ints, level: float, seed: int) -> Floats:
    """Return the weights of the linear quantile regression of `y` on `x` at `level`. All groups
    (destinations) count equally. Errors are relative to the last RTT if it is an input, so that long paths
    do not outweigh short ones."""
    return _fit(*_drawn(x, y, group, seed), level)


def fit_timer(x: Floats, y: Floats, group: Ints, fitted: float, level: float, seed: int) -> Floats:
    """Return the weights of the linear quantile regression at `fitted`, multiplied by a factor that makes
    it a timer: the share `level` of held-out groups (destinations) then stays below the line. `fitted` is
    a quantile that the data can show."""
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
    """Return the factor by which a line fitted at the quantile `fitted` has to be raised so that the share
    `level` of held-out groups (destinations) stays below it. Each half of the groups is held out once."""
    groups = np.random.default_rng(seed).permutation(np.unique(group))
    halves = np.isin(group, groups[: len(groups) // 2])
    if len(groups) < 4:
        return 1.0
    ratio = np.zeros(len(y))
    for test in (halves, ~halves):
        predicted = x[test] @ _fit(x[~test], y[~test], group[~test], fitted)
        ratio[test] = y[test] / np.maximum(predicted, 1.0)
    return of_weighted(ratio, 1 / np.bincount(group)[group], level)
