# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Metrics of the response times of requests."""

from __future__ import annotations

from tcplearn.metrics.metric import LAB, NS3, Metric

METRICS = (
    Metric(
        "requests",
        (NS3, LAB),
        "requests (`[transfer.requests]`, `[transfer.visits]`, load `requests`) that were answered",
    ),
    Metric(
        "mean_response_ms",
        (NS3, LAB),
        "mean time from a request's first write to its answer at the application",
    ),
    Metric("median_response_ms", (NS3, LAB), "median of these times"),
    Metric("p99_response_ms", (NS3, LAB), "99th percentile of these times"),
    Metric("p999_response_ms", (NS3, LAB), "99.9th percentile of these times"),
    Metric("slowest_response_ms", (NS3, LAB), "mean of the slowest 2 % of these times"),
    Metric("longest_response_ms", (NS3, LAB), "the longest of these times"),
    Metric(
        "needless_resends_permille",
        (NS3, LAB),
        "spurious retransmissions in 1,000 data segments: duplicate SACKs received, in ns-3 segments that "
        "arrived again",
    ),
    Metric(
        "mean_overrun_ms",
        (NS3, LAB),
        "mean time from a fade's end to the answer to the request that was lost in it; in ns-3 to the "
        "timer's next resend",
    ),
)
