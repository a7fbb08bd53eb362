# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of causes of losses: drops by the queue and by the lossy hop, and a loss classifier's
decisions."""

from tcplearn.metrics.metric import LAB, NS3, Metric

METRICS = (
    Metric(
        "queue_dropped_packets",
        (NS3, LAB),
        "packets that the bottleneck's queue dropped: of all traffic, in the lab of the measured transfer",
    ),
    Metric(
        "channel_dropped_packets",
        (NS3, LAB),
        "packets that the lossy hop dropped: of all traffic, in the lab of the measured transfer",
    ),
    Metric(
        "random_called_random",
        (NS3, LAB),
        "fast retransmits whose window lost no packet to the queue, called random by the classifier",
    ),
    Metric(
        "random_called_congestion",
        (NS3, LAB),
        "fast retransmits whose window lost no packet to the queue, called congestion by the classifier",
    ),
    Metric(
        "congestion_called_random",
        (NS3, LAB),
        "fast retransmits whose window lost a packet to the queue, called random by the classifier",
    ),
    Metric(
        "congestion_called_congestion",
        (NS3, LAB),
        "fast retransmits whose window lost a packet to the queue, called congestion by the classifier",
    ),
    Metric(
        "needless_recoveries",
        (NS3, LAB),
        "fast retransmits of a segment whose last transmission was not dropped; in the lab, of a window of "
        "which no packet was dropped",
    ),
)
