# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is measured of causes of losses: keys and meanings, for tcplearn.metrics."""

from __future__ import annotations

#: In ns-3 and in the lab.
IN_BOTH = (
    (
        "queue_dropped_packets",
        "packets of all traffic that the bottleneck's queue dropped; in the lab the transfer's own",
    ),
    (
        "channel_dropped_packets",
        "packets of all traffic that the lossy hop dropped; in the lab the transfer's own",
    ),
    (
        "random_called_random",
        "fast retransmits whose window lost no packet to the queue, called random by the classifier",
    ),
    ("random_called_congestion", "the same, called congestion"),
    (
        "congestion_called_random",
        "fast retransmits whose window lost a packet to the queue, called random by the classifier",
    ),
    ("congestion_called_congestion", "the same, called congestion"),
    (
        "needless_recoveries",
        "fast retransmits of a segment whose last sending nobody dropped; in the lab: of a window of which "
        "nothing was dropped",
    ),
)

#: In the lab alone.
IN_THE_KERNEL = (
    ("loss_decisions", "fast recoveries whose cause the module decided on"),
    (
        "decision_differences",
        "features, probabilities and causes of these that the core, given the logged ACKs, has otherwise",
    ),
    ("instructions_per_decision", "instructions of a decision, its features included"),
)
