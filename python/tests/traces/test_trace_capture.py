# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test captures made by hand, in which every row is known."""

from __future__ import annotations

import gzip
import struct

import pytest
import wire
from wire import FIN, RST, SYN, Host, Wire

from tcplearn.traces import Reason

MS = 1000


def exchange(w: Wire) -> None:
    """Write a handshake, two segments of the client, one of the server, and a close. The server is 40 ms
    away."""
    t = w.handshake()
    assert t == 40_100
    w.send(50 * MS, w.client, 1, 100, ack=1)
    w.send(51 * MS, w.client, 101, 200, ack=1)
    w.send(90 * MS, w.server, 1, ack=101)
    w.send(92 * MS, w.server, 1, 50, ack=301)
    w.send(93 * MS, w.client, 301, ack=51)
    w.send(100 * MS, w.client, 301, ack=51, flags=FIN)
    w.send(140 * MS, w.server, 51, ack=302, flags=FIN)
    w.send(140_100, w.client, 302, ack=52)


CLIENT_ROWS = [  # time, rtt, acked, in flight, armed, head sent
    (40_000, 40_000, 1, 1, 0, 0),
    (90_000, 40_000, 100, 300, 50_000, 50_000),
    (92_000, 41_000, 200, 200, 90_000, 51_000),
    (140_000, 40_000, 1, 1, 100_000, 100_000),
]
SERVER_ROWS = [
    (40_100, 100, 1, 1, 40_000, 40_000),
    (93_000, 1_000, 50, 50, 92_000, 92_000),
    (140_100, 100, 1, 1, 140_000, 140_000),
]


def brief(rows):
    names = ("time_us", "rtt_us", "acked_bytes", "in_flight_bytes", "armed_us", "head_sent_us")
    return [tuple(row[name] for name in names) for row in rows]


def check_exchange(rows, client="10.0.0.1:", server="10.0.0.2:"):
    assert brief(rows.by_sender(client)) == CLIENT_ROWS
    assert brief(rows.by_sender(server)) == SERVER_ROWS


@pytest.mark.parametrize("v6", [False, True])
@pytest.mark.parametrize(
    "kind", [wire.EN10MB, wire.SLL, wire.SLL2, wire.RAW, wire.IPV4, wire.IPV6, wire.NULL, wire.LOOP]
)
def test_link_types(read, kind, v6):
    if kind == (wire.IPV4 if v6 else wire.IPV6):
        pytest.skip("the other address family")
    w = Wire(kind=kind)
    if v6:
        w.client.address, w.server.address = "2001:db8::1", "2001:db8::2"
    exchange(w)
    check_exchange(read(w.pcap()), *(("[2001:db8::1]:", "[2001:db8::2]:") if v6 else ()))


@pytest.mark.parametrize("tags", [(0x8100,), (0x88A8, 0x8100), (0x9100, 0x8100, 0x8100)])
def test_vlan_stacks(read, tags):
    w = Wire(tags=tags)
    exchange(w)
    check_exchange(read(w.pcap()))


def test_file_formats(read):
    w = Wire()
    exchange(w)
    files = [w.pcap(), w.pcap(order=">"), w.pcap(nanoseconds=True), w.pcapng()]
    half = len(files[0]) // 2
    packed = [*map(gzip.compress, files), gzip.compress(files[0][:half]) + gzip.compress(files[0][half:])]
    for data in files + packed:
        rows = read(data)
        check_exchange(rows)
        assert rows.warnings == []
        assert rows.kind == "capture"


def test_nanoseconds_are_rounded(read):
    w = Wire()
    exchange(w)
    data = bytearray(w.pcap(nanoseconds=True))
    fraction = 24 + 4  # of the first packet
    (ns,) = struct.unpack_from("<I", data, fraction)
    struct.pack_into("<I", data, fraction, ns + 499)
    check_exchange(read(bytes(data)))
    struct.pack_into("<I", data, fraction, ns + 501)
    assert read(bytes(data)).by_sender("10.0.0.1:")[0]["rtt_us"] == 39_999


def test_small_batches_are_the_same(read):
    w = Wire()
    exchange(w)
    check_exchange(read(w.pcap(), max_rows=1))


def test_sequence_numbers_wrap(read):
    w = Wire(client=Host("10.0.0.1", 40000, isn=2**32 - 150), server=Host("10.0.0.2", 80, isn=2**32 - 1))
    exchange(w)
    check_exchange(read(w.pcap()))


def test_flow_info(read):
    w = Wire()
    exchange(w)
    rows = read(w.pcap())
    client, server = rows.flows[0], rows.flows[1]
    assert client["name"] == "10.0.0.1:40000 > 10.0.0.2:80"
    assert (client["peer"], server["peer"]) == (1, 0)
    assert (client["data_packets"], client["data_bytes"], client["retransmitted_packets"]) == (2, 300, 0)
    assert (client["acks"], client["samples"], client["mss_bytes"]) == (4, 4, 1460)
    assert (client["near_sender"], server["near_sender"], client["near_reason"]) == (True, False, "handshake")
    assert (client["chosen"], server["chosen"]) == (True, False)


def test_mss_leaves_room_for_timestamps(read):
    w = Wire()
    t = w.handshake(options=wire.timestamps(1, 0))
    w.send(t, w.client, 1, 2 * 1448 + 1, ack=1, options=wire.timestamps(2, 1))
    w.send(t + 40 * MS, w.server, 1, ack=2898, options=wire.timestamps(3, 2))
    rows = read(w.pcap())
    assert rows.flows[0]["mss_bytes"] == 1448
    assert rows.by_sender("10.0.0.1:")[1]["flight_segments"] == 3


def test_ack_inside_a_record(read):
    # Segmentation offload: one record of three segments, each acknowledged by itself.
    w = Wire()
    t = w.handshake()
    w.send(t, w.client, 1, 3000, ack=1)
    for i, time in enumerate((40, 41, 42), 1):
        w.send(t + time * MS, w.server, 1, ack=1 + 1000 * i)
    rows = read(w.pcap()).by_sender("10.0.0.1:")[1:]
    assert [row["no_sample"] for row in rows] == [Reason.INSIDE_SEGMENT, Reason.INSIDE_SEGMENT, Reason.NONE]
    assert rows[2]["rtt_us"] == 42 * MS
    assert [row["head_sent_us"] for row in rows] == [t, t, t]
    assert [row["armed_us"] for row in rows] == [t, t + 40 * MS, t + 41 * MS]
    every = read(w.pcap(), every_ack=True).by_sender("10.0.0.1:")[1:]
    assert [row["rtt_us"] for row in every] == [40 * MS, 41 * MS, 42 * MS]


def test_ip_length_of_zero_means_the_wire_length(read):
    for kind in (wire.EN10MB, wire.RAW):
        w = Wire(kind=kind)
        t = w.handshake()
        w.send(t, w.client, 1, 70_000, ack=1, ip_length=0, snap=80)
        w.send(t + 40 * MS, w.server, 1, ack=70_001)
        assert read(w.pcap()).by_sender("10.0.0.1:")[1]["acked_bytes"] == 70_000


def test_snapped_packets(read):
    # The payload, then the options too: lengths come from the IP header.
    for snap in (96, 54, 56, 60):
        w = Wire()
        t = w.handshake()
        w.send(t, w.client, 1, 1000, ack=1, options=wire.timestamps(1, 2), snap=snap)
        w.send(t + 40 * MS, w.server, 1, ack=1001, snap=snap)
        batch = read(w.pcap())
        rows = batch.by_sender("10.0.0.1:")
        assert (rows[1]["rtt_us"], rows[1]["acked_bytes"]) == (40 * MS, 1000)
        cut = [line for line in batch.warnings if "cut within the TCP options" in line]
        assert len(cut) == (snap < 14 + 20 + 32)
    w = Wire()
    exchange(w)
    w.send(150 * MS, w.client, 302, 0, ack=52, snap=45)
    rows = read(w.pcap())
    check_exchange(rows)
    assert "1 packet cut" in rows.warnings[0]


def test_keep_alives_and_pure_acks_give_nothing(read):
    w = Wire()
    exchange_end = w.handshake()
    w.send(50 * MS, w.client, 1, 100, ack=1)
    w.send(90 * MS, w.server, 1, ack=101)
    for second in range(1, 5):
        w.send(second * 1000 * MS, w.client, 100, second % 2, ack=1)  # the last byte again, or none
        w.send(second * 1000 * MS + 40 * MS, w.server, 1, ack=101)
    rows = read(w.pcap())
    assert exchange_end < 50 * MS
    assert len(rows.by_sender("10.0.0.1:")) == 2
    assert rows.flows[0]["retransmitted_packets"] == 0


def test_zero_window_probes(read):
    w = Wire()
    t = w.handshake()
    w.send(t, w.client, 1, 100, ack=1)
    w.send(t + 40 * MS, w.server, 1, ack=101, window=0)
    w.send(t + 300 * MS, w.client, 101, 1, ack=1)  # refused
    w.send(t + 340 * MS, w.server, 1, ack=101, window=0)
    w.send(t + 400 * MS, w.server, 1, ack=101)  # open again
    w.send(t + 401 * MS, w.client, 101, 1000, ack=1)
    w.send(t + 441 * MS, w.server, 1, ack=1101)
    rows = read(w.pcap())
    row = rows.by_sender("10.0.0.1:")[2]
    assert (row["rtt_us"], row["retransmitted"], row["armed_us"]) == (40 * MS, 0, t + 401 * MS)
    assert rows.flows[0]["retransmitted_packets"] == 0


def test_reset_ends_and_a_new_syn_begins(read):
    w = Wire()
    w.send(0, w.client, 0, flags=SYN)
    w.send(30 * MS, w.server, 0, ack=1, flags=RST)
    w.client.isn += 77_777
    t = w.handshake(at_us=100 * MS)
    w.send(t, w.client, 1, 10, ack=1)
    w.send(t + 40 * MS, w.server, 1, ack=11)
    w.send(t + 41 * MS, w.server, 1, flags=RST)
    w.send(t + 42 * MS, w.client, 11, 10, ack=1)  # straggles in
    rows = read(w.pcap())
    assert sorted(rows.flows) == [0, 1, 2, 3]
    assert brief(rows.of(0)) == [(30_000, 30_000, 1, 1, 0, 0)]
    assert [row["rtt_us"] for row in rows.of(2)] == [40 * MS, 40 * MS]
    assert rows.flows[2]["data_packets"] == 1


def test_a_syn_sent_again_is_no_new_connection(read):
    w = Wire()
    w.send(0, w.client, 0, flags=SYN)
    w.send(1000 * MS, w.client, 0, flags=SYN)
    w.send(1040 * MS, w.server, 0, ack=1, flags=SYN)
    w.send(1041 * MS, w.client, 1, ack=1)
    rows = read(w.pcap())
    assert sorted(rows.flows) == [0, 1]
    (row,) = rows.of(0)
    assert (row["no_sample"], row["retransmitted"], row["head_sent_us"]) == (Reason.RETRANSMITTED, 1, 0)
    assert [row["rtt_us"] for row in rows.of(1)] == [1 * MS]


def test_capture_that_begins_midway(read):
    w = Wire()
    w.send(0, w.server, 1, ack=5000)
    w.send(1 * MS, w.client, 5000, 100, ack=1)
    w.send(41 * MS, w.server, 1, ack=5100)
    w.send(42 * MS, w.server, 1, ack=5600)  # its data was missed
    w.send(43 * MS, w.client, 5600, 100, ack=1)
    w.send(83 * MS, w.server, 1, ack=5700)
    rows = read(w.pcap()).by_sender("10.0.0.1:")
    assert [row["rtt_us"] for row in rows] == [40 * MS, -1, 40 * MS]
    assert rows[1]["no_sample"] == Reason.NOT_CAPTURED
    assert rows[1]["armed_us"] == rows[1]["time_us"]


def test_idle_connections_end(read):
    w = Wire()
    exchange(w)
    first = w.frames[:-3]  # without the close
    w2 = Wire(client=Host("10.0.0.3", 1234), start_us=w.start_us + 400_000_000)
    exchange(w2)
    rows = read(wire.pcap(first + w2.frames))
    assert list(rows.flows) == [0, 1, 2, 3]
    w.send(500_000_000, w.client, 302, 5, ack=52)
    w.send(500_040_000, w.server, 52, ack=307)
    rows = read(wire.pcap(first + w2.frames + w.frames[-2:]))
    assert sorted(rows.flows) == [0, 1, 2, 3, 4, 5]
    assert [row["rtt_us"] for row in rows.of(4)] == [40 * MS]


def test_fragments(read):
    w = Wire()
    t = w.handshake()
    body = wire.tcp(40000, 80, w.client.isn + 1, w.server.isn + 1, wire.ACK, 180)
    for offset, part in ((0x2000, body[:104]), (13, body[104:])):
        packet = wire.ipv4("10.0.0.1", "10.0.0.2", part, ident=9, fragment=offset)
        data = wire.link(wire.EN10MB, packet)
        w.frames.append((w.start_us + t, data, len(data)))
    w.send(t + 40 * MS, w.server, 1, ack=181)
    rows = read(w.pcap())
    assert rows.by_sender("10.0.0.1:")[1]["no_sample"] == Reason.NOT_CAPTURED
    assert "1 IP fragment" in rows.warnings[0]


def test_header_options_and_extensions(read):
    w = Wire()
    exchange(w)
    frames = []
    for time, data, _ in w.frames:
        data = wire.link(wire.EN10MB, wire.ipv4(*_ends(data), data[34:], options=b"\1" * 8))
        frames.append((time, data, len(data)))
    check_exchange(read(wire.pcap(frames)))
    w = Wire()
    w.client.address, w.server.address = "2001:db8::1", "2001:db8::2"
    exchange(w)
    frames = []
    hop_by_hop = struct.pack("!BB6x", 60, 0)
    destination = struct.pack("!BB14x", 44, 1)
    atomic_fragment = struct.pack("!BBHI", 6, 0, 0, 7)
    for time, data, _ in w.frames:
        body = data[14 + 40 :]
        sender = "2001:db8::1" if data[14 + 8 + 15] == 1 else "2001:db8::2"
        to = "2001:db8::2" if sender.endswith("1") else "2001:db8::1"
        packet = wire.ipv6(sender, to, body, extensions=hop_by_hop + destination + atomic_fragment, first=0)
        frames.append((time, wire.link(wire.EN10MB, packet), 14 + len(packet)))
    check_exchange(read(wire.pcap(frames)), "[2001:db8::1]:", "[2001:db8::2]:")


def _ends(data: bytes) -> tuple[str, str]:
    return ".".join(map(str, data[26:30])), ".".join(map(str, data[30:34]))


def test_copies_of_a_packet_on_two_interfaces(read):
    w = Wire()
    exchange(w)
    w.frames = [f for frame in w.frames for f in (frame, (frame[0] + 5, *frame[1:]))]
    rows = read(w.pcap())
    check_exchange(rows)
    assert rows.flows[0]["retransmitted_packets"] == 0


def test_small_steps_back_in_time(read):
    w = Wire()
    exchange(w)
    w.frames[4] = (w.frames[3][0] - 900, *w.frames[4][1:])
    rows = read(w.pcap())
    assert len(rows.warnings) == 1
    assert "packet 5" in rows.warnings[0]
    assert rows.by_sender("10.0.0.1:")[2]["rtt_us"] == 42_900  # by its own time


def test_several_flows_at_once(read):
    frames = []
    for i in range(20):
        w = Wire(client=Host("10.0.0.1", 40000 + i), start_us=1_600_000_000_000_000 + i)
        exchange(w)
        frames += w.frames
    rows = read(wire.pcap(sorted(frames)))
    assert len(rows.flows) == 40
    for flow in rows.flows.values():
        shift = flow["id"] // 2
        shifted = CLIENT_ROWS if flow["id"] % 2 == 0 else SERVER_ROWS
        want = [(t + shift, rtt, acked, out, a + shift, h + shift) for t, rtt, acked, out, a, h in shifted]
        assert brief(rows.of(flow["id"])) == want
