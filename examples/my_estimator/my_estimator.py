# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements an estimator that predicts the median of the last few RTTs, as an example of a user's
estimator."""

from collections import deque
from collections.abc import Mapping
from statistics import median


class RunningMedian:
    """Predicts that the next RTT is the median of the last `window` RTTs."""

    def __init__(self, window: float = 5) -> None:
        self.recent: deque[float] = deque(maxlen=int(window))

    def learn_one(self, x: Mapping[str, int], y: float) -> None:
        self.recent.append(y)

    def predict_one(self, x: Mapping[str, int]) -> float:
        return median(self.recent) if self.recent else 0.0
