# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes captures for the tests by hand: frames, pcap and pcapng. It shares no code with the reader."""

from __future__ import annotations

import functools
import ipaddress
import struct
from dataclasses import dataclass, field

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10

EN10MB, NULL, RAW, LOOP, SLL, SLL2, IPV4, IPV6 = 1, 0, 101, 108, 113, 276, 228, 229
IEEE802_11, RADIOTAP, PPP, HDLC, IEEE802_15_4 = 105, 127, 9, 104, 195

Frame = tuple[int, bytes, int]  # time in us, captured bytes, length on the wire


def mss(value: int) -> bytes:
    return struct.pack("!BBH", 2, 4, value)


def timestamps(value: int, echo: int) -> bytes:
    return b"\1\1" + struct.pack("!BBII", 8, 10, value % 2**32, echo % 2**32)


def sack(*blocks: tuple[int, int]) -> bytes:
    body = b"".join(struct.pack("!II", left % 2**32, right % 2**32) for left, right in blocks)
    return b"\1\1" + struct.pack("!BB", 5, 2 + len(body)) + body


SACK_PERMITTED = b"\4\2\1\1"


def tcp(
    sport: int,
    dport: int,
    seq: int,
    ack: int,
    flags: int,
    payload: int = 0,
    options: bytes = b"",
    window: int = 65535,
) -> bytes:
    options += b"\0" * (-len(options) % 4)
    words = 5 + len(options) // 4
    head = struct.pack("!HHIIBBHHH", sport, dport, seq % 2**32, ack % 2**32, words << 4, flags, window, 0, 0)
    return head + options + b"x" * payload


@functools.cache
def packed(address: str) -> bytes:
    """Returns an IP address as it stands in a header."""
    return ipaddress.ip_address(address).packed


def ipv4(
    source: str,
    to: str,
    body: bytes,
    *,
    ttl: int = 64,
    ident: int = 0,
    length: int | None = None,
    options: bytes = b"",
    fragment: int = 0,
    protocol: int = 6,
) -> bytes:
    words = 5 + len(options) // 4
    total = words * 4 + len(body) if length is None else length
    head = struct.pack("!BBHHHBBH", 0x40 | words, 0, total, ident, fragment, ttl, protocol, 0)
    return head + packed(source) + packed(to) + options + body


def ipv6(
    source: str,
    to: str,
    body: bytes,
    *,
    hops: int = 64,
    extensions: bytes = b"",
    first: int = 6,
    length: int | None = None,
) -> bytes:
    size = len(extensions) + len(body) if length is None else length
    head = struct.pack("!IHBB", 0x60000000, size, first, hops)
    return head + packed(source) + packed(to) + extensions + body


def link(kind: int, packet: bytes, tags: tuple[int, ...] = ()) -> bytes:
    """Return the IP packet `packet` with a link header of type `kind` before it. `tags` are the types of VLAN
    tags."""
    ether_type = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    if kind == EN10MB:
        types = (*tags, ether_type)
        inner = b"".join(struct.pack("!HH", 5, following) for following in types[1:])
        return b"\2" * 12 + struct.pack("!H", types[0]) + inner + packet
    if kind == SLL:
        return struct.pack("!HHH8sH", 0, 1, 6, b"\2" * 8, ether_type) + packet
    if kind == SLL2:
        return struct.pack("!HHIHBB8s", ether_type, 0, 1, 1, 0, 6, b"\2" * 8) + packet
    if kind == NULL:
        return struct.pack("<I", 30 if ether_type == 0x86DD else 2) + packet
    if kind == LOOP:
        return struct.pack("!I", 24 if ether_type == 0x86DD else 2) + packet
    return packet


def pcap(frames: list[Frame], kind: int = EN10MB, *, order: str = "<", nanoseconds: bool = False) -> bytes:
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, kind)]
    for time_us, data, wire in frames:
        fraction = time_us % 1_000_000 * (1000 if nanoseconds else 1)
        out.append(struct.pack(order + "IIII", time_us // 1_000_000, fraction, len(data), wire) + data)
    return b"".join(out)


def pcapng(frames: list[Frame], kind: int = EN10MB) -> bytes:
    def block(number: int, body: bytes) -> bytes:
        body += b"\0" * (-len(body) % 4)
        size = len(body) + 12
        return struct.pack("<II", number, size) + body + struct.pack("<I", size)

    out = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", kind, 0, 262144)),
    ]
    for time_us, data, wire in frames:
        out.append(
            block(6, struct.pack("<IIIII", 0, time_us >> 32, time_us & 0xFFFFFFFF, len(data), wire) + data)
        )
    return b"".join(out)


@dataclass
class Host:
    address: str
    port: int
    isn: int = 1000
    ttl: int = 64


@dataclass
class Wire:
    """Makes a capture, of one connection at a time. Sequence numbers are relative to the ISN."""

    client: Host = field(default_factory=lambda: Host("10.0.0.1", 40000))
    server: Host = field(default_factory=lambda: Host("10.0.0.2", 80, isn=5_000_000))
    kind: int = EN10MB
    tags: tuple[int, ...] = ()
    start_us: int = 1_600_000_000_000_000
    frames: list[Frame] = field(default_factory=list)
    ident: int = 0

    def send(
        self,
        at_us: int,
        sender: Host,
        seq: int,
        payload: int = 0,
        *,
        ack: int | None = None,
        flags: int = 0,
        options: bytes = b"",
        window: int = 65535,
        snap: int | None = None,
        ip_length: int | None = None,
        ident: int | None = None,
    ) -> None:
        other = self.server if sender is self.client else self.client
        number = 0
        if ack is not None:
            flags |= ACK
            number = other.isn + ack
        body = tcp(sender.port, other.port, sender.isn + seq, number, flags, payload, options, window)
        self.ident += 1
        if ":" in sender.address:
            packet = ipv6(sender.address, other.address, body, hops=sender.ttl, length=ip_length)
        else:
            packet = ipv4(
                sender.address,
                other.address,
                body,
                ttl=sender.ttl,
                length=ip_length,
                ident=(self.ident if ident is None else ident) % 65536,
            )
        data = link(self.kind, packet, self.tags)
        self.frames.append((self.start_us + at_us, data[:snap], len(data)))

    def handshake(
        self, at_us: int = 0, rtt_us: int = 40_000, options: bytes = b"", near: str = "client"
    ) -> int:
        """Send the three packets of a handshake, as seen at the host `near`; return the time after them."""
        first, second = (rtt_us, 100) if near == "client" else (100, rtt_us)
        self.send(at_us, self.client, 0, flags=SYN, options=mss(1460) + options)
        self.send(at_us + first, self.server, 0, ack=1, flags=SYN, options=mss(1460) + options)
        self.send(at_us + first + second, self.client, 1, ack=1)
        return at_us + first + second

    def pcap(self, *, order: str = "<", nanoseconds: bool = False) -> bytes:
        return pcap(self.frames, self.kind, order=order, nanoseconds=nanoseconds)

    def pcapng(self) -> bytes:
        return pcapng(self.frames, self.kind)
