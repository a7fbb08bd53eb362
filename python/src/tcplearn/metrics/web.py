# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of web connections in ns-3, and of web pages and downloads in `tcplearn lab` (Linux in
a VM)."""

from tcplearn.metrics.metric import LAB, NS3, Metric

_GROUPS = (
    ("syn_ack_lost", "connections that lost a SYN-ACK"),
    ("studied", "connections under the startup policy that is studied"),
    ("standard", "connections under the standard startup policy, in a mix of policies"),
)

METRICS = (
    Metric("connections", (NS3,), "web connections that began after the warm-up"),
    Metric("connections_a_second", (NS3,), "new web connections per second that give the offered load"),
    Metric("connections_died", (NS3,), "web connections that gave up (there should be none)"),
    Metric("connections_unfinished", (NS3,), "connections without their first object when the run ended"),
    Metric("connections_forced", (NS3,), "connections whose first SYN-ACK DelayBox dropped"),
    *(
        Metric(f"connections_{group}", (NS3,), f"{of}, if they got their first object")
        for group, of in _GROUPS
    ),
    Metric(
        "response_rtts",
        (NS3,),
        "time of a web connection's first object in round trips of the path without queues: the handshake "
        "counts as one, even after a loss in it, and the server's own time does not count; the least is 2",
    ),
    Metric(
        "response_whole_ms",
        (NS3,),
        "time from the first SYN to the last byte of the first object, including all waits",
    ),
    Metric("response_bytes", (NS3,), "size of the first object"),
    Metric("path_rtt_ms", (NS3,), "RTT of a connection's path without queues"),
    Metric("handshake_ms", (NS3,), "time from the first SYN to the SYN-ACK's arrival"),
    Metric("syn_ack_retransmissions", (NS3,), "SYN-ACKs sent again by the server's timer"),
    *(
        Metric(f"mean_response_{group}_rtts", (NS3,), f"mean `response_rtts` of {of}")
        for group, of in _GROUPS
    ),
    *(
        Metric(f"mean_response_whole_{group}_ms", (NS3,), f"mean `response_whole_ms` of {of}")
        for group, of in _GROUPS
    ),
    Metric(
        "data_segments", (NS3,), "data segments of all web responses, with retransmissions and the warm-up"
    ),
    Metric(
        "link_loss_share",
        (NS3,),
        "packets that the bottleneck dropped, divided by the packets that reached it",
    ),
    Metric("link_loss_share_max", (NS3,), "largest `link_loss_share` of any second"),
    Metric(
        "link_throughput_mbps", (NS3,), "throughput of the bottleneck towards the clients, headers included"
    ),
    Metric("link_utilisation", (NS3,), "`link_throughput_mbps` divided by the bottleneck's rate"),
    # pages of one size that curl fetches (`[transfer.pages]`), each on its own connection
    Metric("pages", (LAB,), "fetched pages of the row's size"),
    Metric("pages_lost", (LAB,), "pages of the row's size whose handshake lost a packet on purpose"),
    Metric("page_mean_ms", (LAB,), "mean time of a page, from the first SYN to its last byte"),
    Metric("page_median_ms", (LAB,), "median time of a page, from the first SYN to its last byte"),
    Metric("page_p99_ms", (LAB,), "99th percentile of the time of a page"),
    Metric(
        "page_after_handshake_mean_ms",
        (LAB,),
        "mean time of a page from the end of the handshake at the client",
    ),
    Metric("initial_window_mean_segments", (LAB,), "mean initial window of the sender's connections"),
    Metric(
        "handshake_packets_resent",
        (LAB,),
        "SYN-ACKs that the sender sent again: by its timer, and for a second SYN",
    ),
    # downloads captured at both ends (`[transfer] captured`), and SYN pings (`[transfer.places]`)
    Metric(
        "resent_at_sender_packets", (LAB,), "retransmissions that tshark finds in a capture at the sender"
    ),
    Metric(
        "resent_at_receiver_packets",
        (LAB,),
        "retransmissions that tshark finds in a capture at the receiver, which sees no copy that was lost",
    ),
    Metric("pings_answered", (LAB,), "SYN pings of a site that were answered"),
    Metric("ping_min_ms", (LAB,), "least RTT of the SYN pings of a site"),
    Metric("ping_mean_ms", (LAB,), "mean RTT of the SYN pings of a site"),
    Metric("ping_max_ms", (LAB,), "largest RTT of the SYN pings of a site"),
)
