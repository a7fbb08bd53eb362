# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of a flow in a capture: the requested share of RTTs above a timer's RTO, flight size,
losses and the time to detect them."""

from tcplearn.metrics.metric import REPLAY, Metric

METRICS = (
    Metric(
        "rto_miss_rate_requested",
        (REPLAY,),
        "the miss rate requested of a timer (`--miss`); absent for timers without such a parameter",
    ),
    Metric(
        "mean_flight_segments", (REPLAY,), "mean number of segments in flight just before the ACK of a sample"
    ),
    Metric(
        "losses",
        (REPLAY,),
        "segments that were sent again, except those without evidence of a loss",
    ),
    Metric(
        "loss_detect_actual_ms",
        (REPLAY,),
        "mean time from a lost segment's transmission to its retransmission by the capture's sender, which "
        "does not depend on the estimator",
    ),
    Metric(
        "loss_detect_rto_ms",
        (REPLAY,),
        "mean time from a lost segment's transmission to the expiry of the timer, if only the timer detected "
        "losses",
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
)
