# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds out which packets arrived, from captures at both ends of connections. This module shares no code with
`tcplearn explain`, because its results are used to score that program."""

from __future__ import annotations

import gzip
import struct
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

SYN, ACK = 2, 16
_ETHERNET, _HALF = 14, 1 << 31
#: Kinds of TCP options: window scale, SACK blocks, timestamps (RFC 7323, RFC 2018).
_SCALE, _SACK, _TIMESTAMPS = 3, 5, 8

#: Source address and port, destination address and port.
Flow = tuple[bytes, int, bytes, int]


@dataclass(slots=True)
class Packet:
    us: int
    flow: Flow
    flags: int
    seq: int  # as in the packet; after _count_bytes() relative to the first byte of data
    ack: int
    size: int
    window: int
    scale: int
    blocks: tuple[tuple[int, int], ...]
    identity: tuple[int, ...]  # fields that are the same in all captures of this packet
    arrived_us: int = -1  # when it arrived at the other end; -1: lost
    by: str = ""  # if it is a retransmission: what made the kernel send it

    @property
    def end(self) -> int:
        return self.seq + self.size


def begins_us(file: Path) -> int:
    """Returns the time of the first packet of the capture `file`, in us since 1970."""
    with (gzip.open if file.suffix == ".gz" else open)(file, "rb") as opened:
        seconds, micros = struct.unpack_from("<2I", opened.read(32), 24)
    return int(seconds * 1_000_000 + micros)


def read(file: Path) -> list[Packet]:
    """Returns the TCP packets of a pcap file in tcpdump's format, with Ethernet and IPv4 headers."""
    data, packets, at = file.read_bytes(), [], 24
    while at + 16 <= len(data):
        seconds, micros, kept, _ = struct.unpack_from("<4I", data, at)
        ip = at + 16 + _ETHERNET
        if data[ip - 2 : ip] == b"\x08\x00" and data[ip + 9] == 6:
            packets.append(_packet(data, ip, seconds * 1_000_000 + micros))
        at += 16 + kept
    return packets


def _packet(data: bytes, ip: int, us: int) -> Packet:
    total, number = struct.unpack_from(">HH", data, ip + 2)
    tcp = ip + 4 * (data[ip] & 15)
    sport, dport, seq, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", data, tcp)
    body = tcp + 4 * (offset >> 4)
    scale, stamp, blocks = -1, 0, []
    at = tcp + 20
    while at < body and data[at]:
        kind, length = data[at], 1 if data[at] == 1 else data[at + 1]
        if kind == _SCALE:
            scale = data[at + 2]
        elif kind == _TIMESTAMPS:
            stamp = int.from_bytes(data[at + 2 : at + 6], "big")
        elif kind == _SACK:
            blocks = [struct.unpack_from(">II", data, k) for k in range(at + 2, at + length, 8)]
        at += length
    flow = (data[ip + 12 : ip + 16], sport, data[ip + 16 : ip + 20], dport)
    size = total - (body - ip)
    identity = (number, seq, ack, size, flags, stamp, window)
    return Packet(us, flow, flags, seq, ack, size, window, scale, tuple(blocks), identity)


@dataclass
class Stream:
    """The packets that one end of a connection sent, in order, each with the time at which it arrived."""

    sent: list[Packet]
    first: int  # the sequence number of its first byte of data
    scale: int  # its window scale
    back: Stream = field(init=False, repr=False)  # the packets of the other end

    @cached_property
    def data(self) -> list[Packet]:
        return [p for p in self.sent if p.size]

    @cached_property
    def arrivals(self) -> list[Packet]:
        return sorted((p for p in self.sent if p.arrived_us >= 0), key=lambda p: p.arrived_us)

    @cached_property
    def transit_us(self) -> int:
        """Returns the shortest one-way delay to the other end, in us."""
        return min((p.arrived_us - p.us for p in self.arrivals), default=0)

    @cached_property
    def _acks(self) -> list[Packet]:
        """Returns the ACKs that advanced the acknowledgment number, in order of arrival."""
        acks: list[Packet] = []
        for p in self.back.arrivals:
            if p.flags & ACK and not p.flags & SYN and (not acks or p.ack > acks[-1].ack):
                acks.append(p)
        return acks

    def acked(self, us: int) -> int:
        """Returns how many bytes had been acknowledged to the sender by the time `us`, in us."""
        k = bisect_right(self._acks, us, key=lambda p: p.arrived_us)
        return self._acks[k - 1].ack if k else 0

    def told_of(self, size: int) -> Packet | None:
        """Returns the first ACK that acknowledged at least `size` bytes to the sender, or None."""
        k = bisect_left(self._acks, size, key=lambda p: p.ack)
        return self._acks[k] if k < len(self._acks) else None

    def told_us(self, start: int, end: int, since_us: int) -> int:
        """Returns the time in us at which the bytes from `start` to `end` were first acknowledged or SACKed
        after the time `since_us`. Returns -1 if they never were."""
        for p in self.back.arrivals:
            if p.arrived_us <= since_us or p.flags & SYN:
                continue
            if p.ack >= end or any(left <= start and end <= right for left, right in p.blocks):
                return p.arrived_us
        return -1


@dataclass
class Connection:
    client: Stream
    server: Stream
    syns: list[Packet]
    syn_acks: list[Packet]

    @property
    def name(self) -> str:
        """Returns the client's address and port, written as `tcplearn explain` writes them."""
        address, port, *_ = self.syns[0].flow
        return f"{'.'.join(map(str, address))}:{port}"


def connections(client_end: Iterable[Packet], server_end: Iterable[Packet]) -> Iterator[Connection]:
    """Yields the connections whose SYN is in the client's capture, from captures at both ends."""
    ends = [by_flow(client_end), by_flow(server_end)]
    for flow, sent in ends[0].items():
        back = flow[2:] + flow[:2]
        syns = [p for p in sent if p.flags & SYN and not p.flags & ACK]
        if not syns:
            continue
        answers = ends[1].get(back, [])
        _deliver(sent, ends[1].get(flow, []))
        _deliver(answers, ends[0].get(back, []))
        syn_acks = [p for p in answers if p.flags & SYN]
        answered = syn_acks[0] if syn_acks else syns[0]
        client = Stream(sent, syns[0].seq + 1, syns[0].scale)
        server = Stream(answers, answered.seq + 1, answered.scale)
        client.back, server.back = server, client
        for stream in (client, server):
            _count_bytes(stream)
        yield Connection(client, server, syns, syn_acks)


def by_flow(packets: Iterable[Packet]) -> dict[Flow, list[Packet]]:
    """Returns the packets of each flow, in order; a flow without packets has an empty list."""
    out: dict[Flow, list[Packet]] = defaultdict(list)
    for p in packets:
        out[p.flow].append(p)
    return out


def _deliver(sent: list[Packet], came: Iterable[Packet]) -> None:
    """Sets the arrival times of the packets `sent` by one end, from the packets `came` captured at the other
    end. Of equal packets, the last one sent before an arrival counts as the one that arrived."""
    waiting: dict[tuple[int, ...], list[Packet]] = defaultdict(list)
    for p in sent:
        waiting[p.identity].append(p)
    for p in came:
        gone = [q for q in waiting[p.identity] if q.us <= p.us and q.arrived_us < 0]
        if gone:
            gone[-1].arrived_us = p.us


def _count_bytes(stream: Stream) -> None:
    """Changes the sequence numbers, ACK numbers and SACK blocks of `stream` to numbers that count from the
    first byte of data of the end to which they refer."""
    for p in stream.sent:
        p.seq = _unwrapped(p.seq - stream.first)
        p.ack = _unwrapped(p.ack - stream.back.first)
        p.blocks = tuple(
            (_unwrapped(a - stream.back.first), _unwrapped(b - stream.back.first)) for a, b in p.blocks
        )


def _unwrapped(difference: int) -> int:
    """Returns a difference of two sequence numbers, given modulo 2^32, as a signed number; it must be less
    than 2 GB."""
    return (difference + _HALF) % (1 << 32) - _HALF
