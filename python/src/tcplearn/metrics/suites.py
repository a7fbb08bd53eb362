# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of suites (estimators compared over many traces) and of studies of an estimator's
parameters."""

from tcplearn.metrics.metric import REPLAY, Family, Metric

METRICS = (
    Metric(
        "rto_miss_rate_mean",
        (REPLAY,),
        "in a suite: mean of `rto_miss_rate` over the series (flows)",
        in_row=False,
    ),
    Metric(
        "rto_miss_rate_before_mean",
        (REPLAY,),
        "in a suite: mean of `rto_miss_rate_before` over the series (flows)",
        in_row=False,
    ),
    Metric("note", (REPLAY,), "in a study: a remark in words on the values of N, η and α", in_row=False),
    Metric("series", (REPLAY,), "in a suite: flows with enough samples to be judged", in_row=False),
)

FAMILIES = (
    Family(
        "error_",
        (REPLAY,),
        "in a suite: prediction errors of the series divided by those of the better of `jacobson` and `last`",
    ),
    Family("at_send_", (REPLAY,), "as `error_…`, of the prediction in force when the segment was sent"),
    Family("restart_", (REPLAY,), "as `error_…`, over the first samples after a fresh start"),
    Family("miss_", (REPLAY,), "in a suite: a timer's achieved miss rate divided by the requested one"),
    Family(
        "match_",
        (REPLAY,),
        "in a suite: a timer's waits divided by those of a reference at the same miss rate",
    ),
    Family("first_half_", (REPLAY,), "in a study: prediction error on the first half of each flow"),
    Family("second_half_", (REPLAY,), "in a study: prediction error on the second half of each flow"),
)
