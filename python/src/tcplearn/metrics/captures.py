# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A flow of a capture: the miss rate requested of its timer, its flight, its losses and their detection."""

from __future__ import annotations

from tcplearn.metrics.metric import REPLAY, Metric

METRICS = (
    Metric(
        "rto_miss_rate_requested",
        (REPLAY,),
        "the miss rate requested of a timer (`--miss`); absent for timers that take none",
    ),
    Metric("mean_flight_segments", (REPLAY,), "mean number of segments out just before the ACK of a sample"),
    Metric(
        "losses",
        (REPLAY,),
        "segments that were sent again, but for those that nothing shows to have been lost",
    ),
    Metric(
        "loss_detect_actual_ms",
        (REPLAY,),
        "mean time from its sending to its repair by the sender of the capture; the same for every estimator",
    ),
    Metric(
        "loss_detect_rto_ms",
        (REPLAY,),
        "mean time from a lost segment's sending to the expiry of the timer, were there nothing but "
        "the timer",
        heading="loss\nRTO",
        name="loss RTO",
        rank=52,
        rare=True,
        short="time to notice a lost segment by the RTO alone, ms",
    ),
    Metric(
        "loss_detect_rack_ms",
        (REPLAY,),
        "mean time from its sending to the moment that RACK-TLP (RFC 8985) calls it lost",
        heading="\nRACK",
        name="loss RACK",
        rank=51,
        rare=True,
        short="the same with RACK-TLP",
    ),
)
