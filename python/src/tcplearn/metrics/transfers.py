# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of transfers in ns-3 and in `tcplearn lab` (Linux in a VM): RTT, congestion window,
packets, goodput, fairness."""

from tcplearn.metrics.metric import LAB, NS3, Metric

METRICS = (
    Metric("mean_rtt_ms", (NS3, LAB), "mean RTT over the samples, before any rounding to a clock"),
    Metric("rtt_variance_ticks2", (NS3,), "variance of the samples, in squared ticks"),
    Metric("mean_cwnd_bytes", (NS3,), "mean congestion window over the samples"),
    Metric("mean_cwnd_segments", (LAB,), "mean congestion window over the ACKs"),
    Metric("sent_packets", (NS3,), "data packets sent, including retransmissions"),
    Metric("delivered_packets", (NS3,), "data delivered in order to the application, in segments"),
    Metric("retransmitted_packets", (NS3, LAB), "data packets sent more than once"),
    Metric(
        "retransmitted_share",
        (NS3, LAB),
        "`retransmitted_packets` divided by the number of data packets sent",
    ),
    Metric("delivery_ratio", (NS3,), "data packets that reached the receiver, divided by those sent"),
    Metric("goodput_pps", (NS3,), "data delivered in order to the application, per second"),
    Metric(
        "goodput_mbps",
        (NS3, LAB),
        "data delivered to the application, per second; in ns-3 only if the scenario has a `path`",
    ),
    Metric(
        "beside_goodput_mbps",
        (NS3, LAB),
        "mean goodput of the other transfers, which run beside the measured ones",
    ),
    Metric("jain_index", (NS3, LAB), "Jain's index of the goodput of all transfers: 1 if each gets the same"),
)
