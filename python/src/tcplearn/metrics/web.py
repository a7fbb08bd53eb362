# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the metrics of web connections in ns-3, and of web pages and downloads in `tcplearn lab` (Linux in
a VM)."""

from tcplearn.metrics.metric import LAB, NS3, described

_GROUPS = {
    "syn_ack_lost": "connections that lost a SYN-ACK",
    "studied": "connections under the startup policy that is studied",
    "standard": "connections under the standard startup policy, in a mix of policies",
}

METRICS = (
    *described(
        (NS3,),
        connections="web connections that began after the warm-up",
        connections_a_second="new web connections per second that give the offered load",
        connections_died="web connections that gave up (there should be none)",
        connections_unfinished="connections without their first object when the run ended",
        connections_forced="connections whose first SYN-ACK DelayBox dropped",
        **{f"connections_{group}": f"{of}, if they got their first object" for group, of in _GROUPS.items()},
        response_rtts="time of a web connection's first object in round trips of the path without queues: "
        "the handshake counts as one, even after a loss in it, and the server's own time does not count; "
        "the least is 2",
        response_whole_ms="time from the first SYN to the last byte of the first object, including all waits",
        response_bytes="size of the first object",
        path_rtt_ms="RTT of a connection's path without queues",
        handshake_ms="time from the first SYN to the SYN-ACK's arrival",
        syn_ack_retransmissions="SYN-ACKs sent again by the server's timer",
        **{f"mean_response_{group}_rtts": f"mean `response_rtts` of {of}" for group, of in _GROUPS.items()},
        **{
            f"mean_response_whole_{group}_ms": f"mean `response_whole_ms` of {of}"
            for group, of in _GROUPS.items()
        },
        data_segments="data segments of all web responses, with retransmissions and the warm-up",
        link_loss_share="packets that the bottleneck dropped, divided by the packets that reached it",
        link_loss_share_max="largest `link_loss_share` of any second",
        link_throughput_mbps="throughput of the bottleneck towards the clients, headers included",
        link_utilisation="`link_throughput_mbps` divided by the bottleneck's rate",
    ),
    *described(
        (LAB,),
        # pages of one size that curl fetches (`[transfer.pages]`), each on its own connection
        pages="fetched pages of the row's size",
        pages_lost="pages of the row's size whose handshake lost a packet on purpose",
        page_mean_ms="mean time of a page, from the first SYN to its last byte",
        page_median_ms="median time of a page, from the first SYN to its last byte",
        page_p99_ms="99th percentile of the time of a page",
        page_after_handshake_mean_ms="mean time of a page from the end of the handshake at the client",
        initial_window_mean_segments="mean initial window of the sender's connections",
        handshake_packets_resent="SYN-ACKs that the sender sent again: by its timer, and for a second SYN",
        # downloads captured at both ends (`[transfer] captured`), and SYN pings (`[transfer.places]`)
        resent_at_sender_packets="retransmissions that tshark finds in a capture at the sender",
        resent_at_receiver_packets="retransmissions that tshark finds in a capture at the receiver, which "
        "sees no copy that was lost",
        pings_answered="SYN pings of a site that were answered",
        ping_min_ms="least RTT of the SYN pings of a site",
        ping_mean_ms="mean RTT of the SYN pings of a site",
        ping_max_ms="largest RTT of the SYN pings of a site",
    ),
)
