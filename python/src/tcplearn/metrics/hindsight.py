# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of regret: an RTT estimator's mean error divided by that of the best predictor in
hindsight."""

from tcplearn.metrics.metric import REPLAY, Metric

METRICS = (
    Metric(
        "regret_best_constant_ratio",
        (REPLAY,),
        "mean absolute error divided by that of the best constant prediction in hindsight",
    ),
    Metric(
        "regret_best_ewma_ratio",
        (REPLAY,),
        "mean absolute error divided by that of the best of eight moving averages in hindsight",
    ),
    Metric(
        "regret_best_switching_ratio",
        (REPLAY,),
        "mean absolute error divided by that of the best sequence in hindsight, which takes each prediction "
        "from one of the listed estimators and switches at most once in a hundred samples",
        heading="× best\nswitching",
        name="regret",
        rank=10,
        rare=True,
        short="error over that of the best sequence in hindsight among those listed, one switch in 100 "
        "samples",
    ),
)
