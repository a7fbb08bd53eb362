# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Metrics of the response times of requests."""

from __future__ import annotations

from tcplearn.metrics.metric import EXPLAIN, LAB, NS3, Family, Metric

METRICS = (
    Metric(
        "requests",
        (NS3, LAB, EXPLAIN),
        "requests (`[transfer.requests]`, `[transfer.visits]`, load `requests`) that were answered",
    ),
    Metric(
        "mean_response_ms",
        (NS3, LAB),
        "mean time from a request's first write to its answer at the application",
    ),
    Metric("median_response_ms", (NS3, LAB, EXPLAIN), "median of these times"),
    Metric("p90_response_ms", (EXPLAIN,), "90th percentile of these times"),
    Metric("p99_response_ms", (NS3, LAB, EXPLAIN), "99th percentile of these times"),
    Metric("p999_response_ms", (NS3, LAB, EXPLAIN), "99.9th percentile of these times"),
    Metric("slowest_response_ms", (NS3, LAB, EXPLAIN), "mean of the slowest 2 % of these times"),
    Metric("longest_response_ms", (NS3, LAB, EXPLAIN), "the longest of these times"),
    Metric("advised", (EXPLAIN,), "of a forecast: 1 for the setting that is advised, else 0"),
    Metric(
        "needless_resends_permille",
        (NS3, LAB, EXPLAIN),
        "spurious retransmissions in 1,000 data segments: duplicate SACKs received, in ns-3 segments that "
        "arrived again, in a forecast those of one end",
    ),
    Metric(
        "median_response_low_ms",
        (EXPLAIN,),
        "of a forecast: the lower end of the 95 % interval of `median_response_ms`",
    ),
    Metric(
        "median_response_high_ms",
        (EXPLAIN,),
        "of a forecast: the upper end of the 95 % interval of `median_response_ms`",
    ),
    Metric(
        "p99_response_low_ms",
        (EXPLAIN,),
        "of a forecast: the lower end of the 95 % interval of `p99_response_ms`",
    ),
    Metric(
        "p99_response_high_ms",
        (EXPLAIN,),
        "of a forecast: the upper end of the 95 % interval of `p99_response_ms`",
    ),
    Metric(
        "p999_response_low_ms",
        (EXPLAIN,),
        "of a forecast: the lower end of the 95 % interval of `p999_response_ms`",
    ),
    Metric(
        "p999_response_high_ms",
        (EXPLAIN,),
        "of a forecast: the upper end of the 95 % interval of `p999_response_ms`",
    ),
    Metric(
        "mean_overrun_ms",
        (NS3, LAB),
        "mean time from a fade's end to the answer to the request that was lost in it; in ns-3 to the "
        "timer's next resend",
    ),
)

#: By what their keys begin with; the rest is a cause of docs/explain.md.
FAMILIES = (
    Family("slow_share_", (EXPLAIN,), "share of the time of the slowest 1 % of requests that a cause has"),
    Family("time_share_", (EXPLAIN,), "the same of the time of all requests"),
    Family("stalls_", (EXPLAIN,), "stalls with that cause"),
)
