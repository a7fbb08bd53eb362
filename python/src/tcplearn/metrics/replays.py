# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics that only replays, suites and studies give: regret (an RTT estimator's mean error
divided by that of the best predictor in hindsight), losses in captures, and summaries over flows."""

from tcplearn.metrics.metric import REPLAY, Family, Metric, described

METRICS = (
    *described(
        (REPLAY,),
        regret_best_constant_ratio="mean absolute error divided by that of the best constant prediction in "
        "hindsight",
        regret_best_ewma_ratio="mean absolute error divided by that of the best of eight moving averages "
        "in hindsight",
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
    *described(
        (REPLAY,),
        rto_miss_rate_requested="the miss rate requested of a timer (`--miss`); absent for timers without "
        "such a parameter",
        mean_flight_segments="mean number of segments in flight just before the ACK of a sample",
        losses="segments that were sent again, except those without evidence of a loss",
        loss_detect_actual_ms="mean time from a lost segment's transmission to its retransmission by the "
        "capture's sender, which does not depend on the estimator",
    ),
    Metric(
        "loss_detect_rto_ms",
        (REPLAY,),
        "mean time from a lost segment's transmission to the expiry of the timer, if only the timer "
        "detected losses",
        heading="loss\nRTO",
        name="loss RTO",
        rank=52,
        rare=True,
        short="time to notice a lost segment by the RTO alone, ms",
    ),
    Metric(
        "loss_detect_rack_ms",
        (REPLAY,),
        "mean time from a lost segment's transmission to its detection by RACK-TLP (RFC 8985)",
        heading="\nRACK",
        name="loss RACK",
        rank=51,
        rare=True,
        short="the same with RACK-TLP",
    ),
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
