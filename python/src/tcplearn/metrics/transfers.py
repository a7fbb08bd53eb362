# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of transfers in ns-3 and in `tcplearn lab` (Linux in a VM): RTT, congestion window,
packets, goodput, fairness, drops, and a loss classifier's decisions on their causes."""

from tcplearn.metrics.metric import LAB, NS3, Metric, described

METRICS = (
    Metric("mean_rtt_ms", (NS3, LAB), "mean RTT over the samples, before any rounding to a clock"),
    *described(
        (NS3,),
        rtt_variance_ticks2="variance of the samples, in squared ticks",
        mean_cwnd_bytes="mean congestion window over the samples",
    ),
    Metric("mean_cwnd_segments", (LAB,), "mean congestion window over the ACKs"),
    *described(
        (NS3,),
        sent_packets="data packets sent, including retransmissions",
        delivered_packets="data delivered in order to the application, in segments",
    ),
    *described(
        (NS3, LAB),
        retransmitted_packets="data packets sent more than once",
        retransmitted_share="`retransmitted_packets` divided by the number of data packets sent",
    ),
    *described(
        (NS3,),
        delivery_ratio="data packets that reached the receiver, divided by those sent",
        goodput_pps="data delivered in order to the application, per second",
    ),
    *described(
        (NS3, LAB),
        goodput_mbps="data delivered to the application, per second; in ns-3 only if the scenario has a "
        "`path`",
        beside_goodput_mbps="mean goodput of the other transfers, which run beside the measured ones",
        jain_index="Jain's index of the goodput of all transfers: 1 if each gets the same",
        queue_dropped_packets="packets that the bottleneck's queue dropped: of all traffic, in the lab of "
        "the measured transfer",
        channel_dropped_packets="packets that the lossy hop dropped: of all traffic, in the lab of the "
        "measured transfer",
        random_called_random="fast retransmits whose window lost no packet to the queue, called random by "
        "the classifier",
        random_called_congestion="fast retransmits whose window lost no packet to the queue, called "
        "congestion by the classifier",
        congestion_called_random="fast retransmits whose window lost a packet to the queue, called random "
        "by the classifier",
        congestion_called_congestion="fast retransmits whose window lost a packet to the queue, called "
        "congestion by the classifier",
        needless_recoveries="fast retransmits of a segment whose last transmission was not dropped; in the "
        "lab, of a window of which no packet was dropped",
    ),
)
