# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is measured of web connections in ns-3 and of pages and downloads in the lab: keys and meanings."""

from __future__ import annotations

_GROUPS = (
    ("syn_ack_lost", "connections that lost a SYN-ACK"),
    ("studied", "connections under the startup policy studied"),
    ("standard", "connections under the standard, in a mix"),
)

WEB = (
    ("connections", "web connections that began after the warm-up"),
    ("connections_a_second", "new web connections a second that offer the level"),
    ("connections_died", "web connections that gave up: none should"),
    ("connections_unfinished", "without their first object when the run ended"),
    ("connections_forced", "whose first SYN-ACK DelayBox dropped"),
    *((f"connections_{group}", f"{of}, with their first object") for group, of in _GROUPS),
    (
        "response_rtts",
        "time of a web connection's first object in round trips of the path without queues: the handshake "
        "counts as one, whatever was lost in it, and the server's own time not at all; the least is 2",
    ),
    (
        "response_whole_ms",
        "time from the first SYN to the last byte of the first object, with all the waiting",
    ),
    ("response_bytes", "size of the first object"),
    ("path_rtt_ms", "RTT of a connection's path without queues"),
    ("handshake_ms", "from the first SYN to the SYN-ACK's arrival"),
    ("syn_ack_retransmissions", "SYN-ACKs sent again by the server's timer"),
    *((f"mean_response_{group}_rtts", f"mean `response_rtts` of {of}") for group, of in _GROUPS),
    *((f"mean_response_whole_{group}_ms", f"mean `response_whole_ms` of {of}") for group, of in _GROUPS),
    ("data_segments", "of all web responses, repeats included, the warm-up's too"),
    ("link_loss_share", "packets that the bottleneck dropped, over those that came to it"),
    ("link_loss_share_max", "the largest such share of a second"),
    ("link_throughput_mbps", "of the bottleneck towards the clients, headers included"),
    ("link_utilisation", "`link_throughput_mbps` over its rate"),
)

#: Of pages of one size that curl fetches in the lab (`[transfer.pages]`), a connection each.
PAGES = (
    ("pages", "pages of this size"),
    ("pages_lost", "of them, those whose handshake lost a packet on purpose"),
    ("page_mean_ms", "mean time of a page, from the first SYN to its last byte"),
    ("page_median_ms", "median of these times"),
    ("page_p99_ms", "99th percentile of these times"),
    ("page_after_handshake_mean_ms", "mean time of a page from the end of the handshake at the client"),
    ("initial_window_mean_segments", "mean window that the sender's connections began with"),
    ("handshake_packets_resent", "SYN-ACKs that the sender sent again: by its timer, and for a second SYN"),
)

#: Of downloads captured at both ends (`[transfer] captured`), and of SYN pings (`[transfer.places]`).
DOWNLOADS = (
    ("resent_at_sender_packets", "what tshark takes for retransmissions in a capture at the sender"),
    ("resent_at_receiver_packets", "the same in a capture at the receiver, which sees no copy that was lost"),
    ("pings_answered", "SYN pings of a site that were answered"),
    ("ping_min_ms", "least RTT of these pings"),
    ("ping_mean_ms", "mean RTT of these pings"),
    ("ping_max_ms", "largest RTT of these pings"),
)
