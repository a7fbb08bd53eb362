# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test captures made by hand with retransmitted segments: which ACK gives which RTT."""

from __future__ import annotations

import wire
from wire import Wire

from tcplearn.traces import Reason

MS = 1000


def retransmission(echo: int | None, second_value: int = 20) -> Wire:
    w = Wire()
    t = w.handshake(options=wire.timestamps(1, 0))
    options = [wire.timestamps(v, 1) if echo is not None else b"" for v in (10, second_value)]
    w.send(100 * MS, w.client, 1, 100, ack=1, options=options[0])
    w.send(400 * MS, w.client, 1, 100, ack=1, options=options[1])
    w.send(440 * MS, w.server, 1, ack=101, options=wire.timestamps(2, echo) if echo is not None else b"")
    assert t < 100 * MS
    return w


def test_karn(read):
    # RFC 6298, section 3: no sample from a segment that was sent again ...
    rows = read(retransmission(None).pcap())
    row = rows.by_sender("10.0.0.1:")[1]
    assert (row["no_sample"], row["rtt_us"], row["retransmitted"]) == (Reason.RETRANSMITTED, -1, 1)
    assert (row["head_sent_us"], row["armed_us"]) == (100 * MS, 100 * MS)
    assert rows.flows[0]["retransmitted_packets"] == 1
    # ... unless the timestamp says which copy was acknowledged.
    row = read(retransmission(20).pcap()).by_sender("10.0.0.1:")[1]
    assert (row["rtt_us"], row["sent_us"], row["retransmitted"]) == (40 * MS, 400 * MS, 1)
    row = read(retransmission(10).pcap()).by_sender("10.0.0.1:")[1]
    assert (row["rtt_us"], row["sent_us"], row["retransmitted"]) == (340 * MS, 100 * MS, 0)
    # Coarse ticks: both copies carry the same value.
    row = read(retransmission(10, second_value=10).pcap()).by_sender("10.0.0.1:")[1]
    assert (row["no_sample"], row["retransmitted"]) == (Reason.RETRANSMITTED, 1)
    row = read(retransmission(15).pcap()).by_sender("10.0.0.1:")[1]
    assert row["no_sample"] == Reason.RETRANSMITTED


def test_sack(read):
    w = Wire()
    t = w.handshake(options=wire.SACK_PERMITTED)
    for i in range(4):
        w.send(t + i * 100, w.client, 1 + i * 100, 100, ack=1)
    isn = w.client.isn
    w.send(t + 40 * MS, w.server, 1, ack=101)
    w.send(t + 40_100, w.server, 1, ack=101, options=wire.sack((isn + 201, isn + 301)))
    w.send(t + 40_200, w.server, 1, ack=101, options=wire.sack((isn + 201, isn + 401)))
    w.send(t + 41 * MS, w.client, 101, 100, ack=1)
    w.send(t + 81 * MS, w.server, 1, ack=401)
    rows = read(w.pcap()).by_sender("10.0.0.1:")[1:]
    assert [row["no_sample"] for row in rows] == [Reason.NONE, Reason.SACKED_EARLIER]
    assert (rows[1]["acked_bytes"], rows[1]["retransmitted"]) == (300, 1)
    assert rows[1]["head_sent_us"] == t + 100


def test_a_filled_hole_times_nothing(read):
    # Without SACK: what waited behind the hole is not timed by the ACK of the retransmission.
    w = Wire()
    t = w.handshake()
    w.send(t, w.client, 1, 100, ack=1)
    w.send(t + 100, w.client, 101, 100, ack=1)
    w.send(t + 200 * MS, w.client, 1, 100, ack=1)
    w.send(t + 240 * MS, w.server, 1, ack=201)
    (row,) = read(w.pcap()).by_sender("10.0.0.1:")[1:]
    assert (row["no_sample"], row["retransmitted"]) == (Reason.RETRANSMITTED, 1)


def test_new_data_after_a_repair_is_timed(read):
    w = Wire()
    t = w.handshake()
    w.send(t, w.client, 1, 100, ack=1)
    w.send(t + 200 * MS, w.client, 1, 100, ack=1)
    w.send(t + 201 * MS, w.client, 101, 100, ack=1)
    w.send(t + 241 * MS, w.server, 1, ack=201)
    (row,) = read(w.pcap()).by_sender("10.0.0.1:")[1:]
    assert (row["rtt_us"], row["retransmitted"]) == (40 * MS, 1)


def test_other_boundaries_when_sent_again(read):
    # Sent as 1-1001 and 1001-2001; again as 501-1501. Then ACKs at every boundary.
    w = Wire()
    t = w.handshake()
    w.send(t, w.client, 1, 1000, ack=1)
    w.send(t + 100, w.client, 1001, 1000, ack=1)
    w.send(t + 200 * MS, w.client, 501, 1000, ack=1)
    for i, ack in enumerate((501, 1001, 1501, 2001)):
        w.send(t + (240 + i) * MS, w.server, 1, ack=ack)
    rows = read(w.pcap()).by_sender("10.0.0.1:")[1:]
    # No captured segment ends at 501; 501-1501 was sent twice; 1501-2001 once, the end of the second record.
    assert [row["no_sample"] for row in rows] == [
        Reason.INSIDE_SEGMENT,
        Reason.RETRANSMITTED,
        Reason.RETRANSMITTED,
        Reason.NONE,
    ]
    assert [row["retransmitted"] for row in rows] == [0, 1, 1, 0]
    assert rows[3]["rtt_us"] == 243 * MS - 100


def test_a_retransmission_that_brings_new_data(read):
    w = Wire()
    t = w.handshake()
    w.send(t, w.client, 1, 100, ack=1)
    w.send(t + 200 * MS, w.client, 1, 250, ack=1)
    w.send(t + 240 * MS, w.server, 1, ack=251)
    rows = read(w.pcap())
    (row,) = rows.by_sender("10.0.0.1:")[1:]
    # Bytes 101-250 were sent once, with the retransmission: their ACK answers it.
    assert (row["rtt_us"], row["in_flight_bytes"]) == (40 * MS, 250)
    assert rows.flows[0]["retransmitted_packets"] == 1
