# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Offer the RTT estimators as a scikit-learn regressor with ``partial_fit``."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from tcplearn import estimators

COLUMNS = ("time_us", "sent_us", "flight_segments", "ttl")  # columns of X, in order; times in microseconds


def _rows(x: ArrayLike) -> list[dict[str, int]]:
    table = np.asarray(x)
    if table.ndim != 2 or table.shape[1] < 2 or table.shape[1] > len(COLUMNS):
        raise ValueError(f"X has shape {table.shape}; its columns are {', '.join(COLUMNS)}, at least two")
    return [dict(zip(COLUMNS, map(int, row), strict=False)) for row in table]


class RttRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn regressor around the RTT estimator `name`, such as ``"experts:n=50"``. X has shape (n, 2
    to 4) and the integer columns time_us, sent_us and, if known, flight_segments and ttl. y has shape (n,)
    and holds RTTs in us. ``fit`` and ``partial_fit`` learn the rows in order. ``predict`` learns nothing: for
    each row it returns the prediction, in us, of the RTT that follows the fitted rows."""

    def __init__(self, name: str = "jacobson", arithmetic: str = "double") -> None:
        self.name = name
        self.arithmetic = arithmetic

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self.estimator_ = estimators.create(self.name, self.arithmetic)
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        if not hasattr(self, "estimator_"):
            self.estimator_ = estimators.create(self.name, self.arithmetic)
        for x, rtt_us in zip(_rows(X), np.asarray(y, dtype=float), strict=True):
            self.estimator_.learn_one(x, float(rtt_us))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        if not hasattr(self, "estimator_"):
            raise ValueError("not fitted yet")
        return np.array([self.estimator_.predict_one(x) for x in _rows(X)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")
