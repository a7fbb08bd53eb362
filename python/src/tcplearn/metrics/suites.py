# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Metrics of suites (comparisons over many traces) and of studies of parameters."""

from tcplearn.metrics.metric import REPLAY, Family, Metric

METRICS = (
    Metric(
        "rto_miss_rate_mean",
        (REPLAY,),
        "in a suite: mean over the series of their `rto_miss_rate`",
        in_row=False,
    ),
    Metric("rto_miss_rate_before_mean", (REPLAY,), "the same of `rto_miss_rate_before`", in_row=False),
    Metric("note", (REPLAY,), "in a study: a remark on a triple, in words", in_row=False),
    Metric("series", (REPLAY,), "in a suite: flows with enough samples to be judged", in_row=False),
)

FAMILIES = (
    Family(
        "error_", (REPLAY,), "a suite's error by series, over that of the better of `jacobson` and `last`"
    ),
    Family("at_send_", (REPLAY,), "the same of the prediction in force when the segment was sent"),
    Family("restart_", (REPLAY,), "the same over the first samples after a fresh start"),
    Family("miss_", (REPLAY,), "a suite's achieved miss rate over the requested one"),
    Family("match_", (REPLAY,), "a suite's timer over a reference of the same miss rate"),
    Family("first_half_", (REPLAY,), "a study's error on the first half of each flow"),
    Family("second_half_", (REPLAY,), "the same on the second half"),
)
