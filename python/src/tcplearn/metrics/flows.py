# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of flows: how long bursts took, timeouts, queue lengths, and how many flows finished or
gave up."""

from tcplearn.metrics.metric import LAB, NS3, REPLAY, Metric

METRICS = (
    Metric(
        "burst_mean_ms",
        (LAB,),
        "mean time of a burst (`[transfer.repeat]`), from its first write until all of it is acknowledged; "
        "bursts after a longer pause are left out",
    ),
    Metric("burst_max_ms", (LAB,), "longest time of a burst, without those after a longer pause"),
    Metric(
        "burst_after_pause_ms", (LAB,), "mean time of the bursts (`[transfer.repeat]`) after a longer pause"
    ),
    Metric(
        "cwnd_after_pause_segments",
        (LAB,),
        "mean congestion window at the first write after a longer pause",
    ),
    Metric("duration_s", (LAB,), "time from the connection's beginning to its last byte"),
    Metric("timeouts", (NS3,), "retransmission timeouts with data in flight"),
    Metric(
        "needless_timeouts",
        (NS3,),
        "timeouts after which an earlier copy of the segment arrived, such as that of a fast retransmission",
    ),
    Metric("syn_retransmissions", (NS3,), "SYNs sent again"),
    Metric(
        "mean_queue_bytes",
        (NS3,),
        "mean queue length of the bottleneck, or over all radios, measured each second",
    ),
    Metric("flows", (REPLAY, NS3), "flows that started; in a study the flows that were judged", in_row=False),
    Metric("flows_finished", (NS3,), "flows that delivered all their data"),
    Metric("flows_running", (NS3,), "flows still sending at the end"),
    Metric("flows_connecting", (NS3,), "flows still without an answer to their SYN at the end"),
    Metric("flows_died", (NS3,), "flows that gave up (there should be none)"),
)
