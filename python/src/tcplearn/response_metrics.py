# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is measured of requests and answers: keys and meanings, for tcplearn.metrics."""

from __future__ import annotations

#: In the lab and in ns-3.
RESPONSES = (
    ("requests", "requests (`[transfer.requests]`, `[transfer.visits]`, load `requests`) that were answered"),
    ("mean_response_ms", "mean time from a request's first write to its answer at the application"),
    ("median_response_ms", "median of these times"),
    ("p99_response_ms", "99th percentile of these times"),
    ("p999_response_ms", "99.9th percentile of these times"),
    ("slowest_response_ms", "mean of the slowest 2 % of these times"),
    ("longest_response_ms", "the longest of these times"),
    (
        "needless_resends_permille",
        "duplicate SACKs received in 1,000 data segments, in ns-3 segments that arrived again: what had "
        "arrived already was sent again",
    ),
    (
        "mean_overrun_ms",
        "mean time from a fade's end to the answer to the request that was lost in it; in ns-3 to the "
        "timer's next resend",
    ),
)
IN_THE_LAB = (
    ("fades", "fades (`[fades]`) that a request was lost in"),
    ("median_overrun_ms", "median of the times from a fade's end to the answer to the request lost in it"),
    ("resend_events", "sendings, timeouts, probes and ACKs that a resend policy answered with a wait"),
    ("resend_differences", "of these, answers that the core, given the logged events, has otherwise"),
    ("instructions_per_sending", "instructions of a resend policy at a sending, a probe or a timeout"),
)
IN_NS3 = (
    ("probes", "tail loss probes, of a resend policy"),
    ("overruns", "fades that lost a segment's last sending, so that the timer sent it again after their end"),
)
