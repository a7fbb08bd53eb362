# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of the response times of requests."""

from tcplearn.metrics.metric import EXPLAIN, LAB, NS3, Family, Metric, described

#: Figures of a distribution of times, which a forecast reports with a 95 % interval.
_WITH_INTERVALS = (
    *(f"{name}_{of}" for of in ("response", "handshake") for name in ("median", "p99", "p999", "slowest")),
    "p99_first_answer",
)

METRICS = (
    Metric(
        "requests",
        (NS3, LAB, EXPLAIN),
        "requests (`[transfer.requests]`, `[transfer.visits]`, load `requests`) that were answered",
    ),
    Metric(
        "mean_response_ms",
        (NS3, LAB),
        "mean response time, from a request's first write to its answer at the application",
    ),
    Metric("median_response_ms", (NS3, LAB, EXPLAIN), "median response time"),
    Metric("p90_response_ms", (EXPLAIN,), "90th percentile of response times"),
    *described(
        (NS3, LAB, EXPLAIN),
        p99_response_ms="99th percentile of response times",
        p999_response_ms="99.9th percentile of response times",
        slowest_response_ms="mean of the slowest 2 % of response times",
        longest_response_ms="longest response time",
    ),
    Metric("advised", (EXPLAIN,), "in a forecast: 1 for the setting that is advised, else 0"),
    Metric(
        "needless_resends_permille",
        (NS3, LAB, EXPLAIN),
        "spurious retransmissions in 1,000 data segments, counted by duplicate SACKs; in ns-3 by segments "
        "that arrived again; in a forecast, those of the ends for which it is made",
    ),
    *described(
        (EXPLAIN,),
        median_handshake_ms="median handshake time, from the first SYN to the ACK of the SYN-ACK",
        p99_handshake_ms="99th percentile of handshake times",
        p999_handshake_ms="99.9th percentile of handshake times",
        slowest_handshake_ms="mean of the slowest 2 % of handshake times",
        p99_first_answer_ms="99th percentile of the times from a connection's first SYN to the end of its "
        "first answer",
        needless_syns_permille="in a forecast: SYNs sent again spuriously, in 1,000 handshakes",
        **{
            f"{figure}_{end}_ms": f"in a forecast: the {word} end of the 95 % interval of `{figure}_ms`"
            for figure in _WITH_INTERVALS
            for end, word in (("low", "lower"), ("high", "upper"))
        },
    ),
    Metric(
        "mean_overrun_ms",
        (NS3, LAB),
        "mean time from the end of a fade (a period of losses) to the answer to the request that was lost "
        "in it; in ns-3, to the timer's next retransmission",
    ),
)

#: Families of metrics: a prefix, followed by a cause of waiting from docs/explain.md.
FAMILIES = (
    Family(
        "slow_share_", (EXPLAIN,), "share of the time of the slowest 1 % of requests that went to this cause"
    ),
    Family("time_share_", (EXPLAIN,), "share of the time of all requests that went to this cause"),
    Family("stalls_", (EXPLAIN,), "number of stalls (waits in which no data moved) with this cause"),
)
