#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes captures of every common kind: python3 make_captures.py DIRECTORY.

Most are the shipped capture (real Linux TCP over a bottleneck) with other link types, tunnels or file
formats, or with parts missing. The others are made by hand."""

from __future__ import annotations

import gzip
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import wire
from wire import ACK, FIN, RST, SYN, Frame, Host, Wire

SHIPPED = Path(__file__).resolve().parents[3] / "examples" / "captures" / "access-link.pcap.gz"
#: Of the shipped capture.
PACKETS = 3000

#: The shipped capture in other clothes, by name; those that can give no sample are in `REFUSED`.
GIVEN: dict[str, Callable[[], bytes]] = {}
REFUSED: dict[str, Callable[[], bytes]] = {}


def shipped() -> list[Frame]:
    """Return the IP packets of the shipped capture, which are cut to 96 bytes there."""
    data = gzip.decompress(SHIPPED.read_bytes())
    out: list[Frame] = []
    at = 24
    while len(out) < PACKETS:
        s, us, captured, length = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16 + 14 : at + 16 + captured]
        out.append((s * 1_000_000 + us, packet, length - 14))
        at += 16 + captured
    return out


IP = shipped()


def each(wrap: Callable[[bytes], bytes], frames: Iterable[Frame] = IP) -> list[Frame]:
    """Return every packet as converted by `wrap`. Its length on the wire changes by the same number of
    bytes."""
    wrapped = ((t, wrap(data), len(data), length) for t, data, length in frames)
    return [(t, data, length + len(data) - before) for t, data, before, length in wrapped]


def put(prefix: bytes) -> Callable[[bytes], bytes]:
    return lambda packet: prefix + packet


def ether(type_: int, between: bytes = b"") -> Callable[[bytes], bytes]:
    return put(b"\2" * 12 + struct.pack("!H", type_) + between)


def outer(protocol: int, between: bytes = b"") -> Callable[[bytes], bytes]:
    """Return a function that puts a packet into a tunnel: an outer IPv4 header, and `between` after it."""
    return lambda packet: ether(0x0800)(
        wire.ipv4("192.0.2.1", "192.0.2.2", between + packet, protocol=protocol)
    )


def udp(port: int, head: bytes) -> bytes:
    return struct.pack("!HHHH", 40_000, port, 0, 0) + head


def outer6(first: int, between: bytes) -> Callable[[bytes], bytes]:
    return lambda packet: ether(0x86DD)(
        wire.ipv6("2001:db8::1", "2001:db8::2", between + packet, first=first)
    )


def as_ipv6(extensions: bytes = b"", first: int = 6) -> list[Frame]:
    """Return a function that converts a packet to the same TCP over IPv6."""

    def convert(packet: bytes) -> bytes:
        ends = [f"2001:db8::{'.'.join(map(str, packet[i : i + 4]))}" for i in (12, 16)]
        (total,) = struct.unpack_from("!H", packet, 2)
        length = total - 20 + len(extensions)
        return wire.ipv6(
            *ends, packet[20:], hops=packet[8], extensions=extensions, first=first, length=length
        )

    return each(lambda packet: ether(0x86DD)(convert(packet)))


def with_options(packet: bytes, options: bytes) -> bytes:
    """Return the IPv4 packet `packet` with `options` in its header."""
    (total,) = struct.unpack_from("!H", packet, 2)
    words = 5 + len(options) // 4
    return (
        bytes((0x40 | words,))
        + packet[1:2]
        + struct.pack("!H", total + len(options))
        + packet[4:20]
        + options
        + packet[20:]
    )


def snapped(bytes_: int, frames: Iterable[Frame]) -> list[Frame]:
    return [(t, data[:bytes_], length) for t, data, length in frames]


def of_link(kind: int, wrap: Callable[[bytes], bytes]) -> Callable[[], bytes]:
    return lambda: wire.pcap(each(wrap), kind)


ETHERNET = each(ether(0x0800))
_LLC = bytes.fromhex("aaaa030000000800")
_WIFI = bytes.fromhex("08010000") + b"\2" * 18 + b"\0\0"
_QOS = bytes.fromhex("88010000") + b"\2" * 18 + b"\0\0" + b"\0\0"
_RADIOTAP = bytes.fromhex("0000080000000000")


def section(order: str, interfaces: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the beginning of a pcapng section: the link type and options of each interface."""
    out = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    return out + b"".join(
        block(order, 1, struct.pack(order + "HHI", kind, 0, 0) + options) for kind, options in interfaces
    )


def block(order: str, number: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    size = len(body) + 12
    return struct.pack(order + "II", number, size) + body + struct.pack(order + "I", size)


def enhanced(order: str, interface: int, ticks: int, data: bytes, length: int) -> bytes:
    head = struct.pack(order + "IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length)
    return block(order, 6, head + data)


def pcapng(order: str = "<", options: bytes = b"", ticks_a_us: int = 1) -> bytes:
    blocks = (enhanced(order, 0, t * ticks_a_us, data, length) for t, data, length in ETHERNET)
    return section(order, [(wire.EN10MB, options)]) + b"".join(blocks)


def two_interfaces() -> bytes:
    """Return a pcapng with Ethernet in one direction and raw IP in the other, as from two interfaces of a
    router."""
    out = section("<", [(wire.EN10MB, b""), (wire.RAW, b"")])
    for t, packet, length in IP:
        there = packet[12:16] == IP[0][1][12:16]
        data = ether(0x0800)(packet) if there else packet
        out += enhanced("<", 0 if there else 1, t, data, length + len(data) - len(packet))
    return out


def without_times() -> bytes:
    """Return a pcapng of simple packet blocks, which have no times."""
    frames = (block("<", 3, struct.pack("<I", length) + data) for _, data, length in ETHERNET)
    return section("<", [(wire.EN10MB, b"")]) + b"".join(frames)


def modified() -> bytes:
    """Return a capture in Kuznetzov's modified pcap format, which has eight more bytes per packet."""
    out = [struct.pack("<IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 262144, wire.EN10MB)]
    for t, data, length in ETHERNET:
        out.append(
            struct.pack("<IIIIIHBB", t // 1_000_000, t % 1_000_000, len(data), length, 0, 0, 0, 0) + data
        )
    return b"".join(out)


#: Link types and tunnels: what stands before each packet.
WRAPPED: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "sll": (wire.SLL, lambda packet: wire.link(wire.SLL, packet)),
    "sll2": (wire.SLL2, lambda packet: wire.link(wire.SLL2, packet)),
    "raw": (wire.RAW, lambda packet: packet),
    "ipv4": (wire.IPV4, lambda packet: packet),
    "null": (wire.NULL, put(struct.pack("<I", 2))),
    "null-big-endian": (wire.NULL, put(struct.pack(">I", 2))),
    "loop": (wire.LOOP, put(struct.pack(">I", 2))),
    "ppp": (wire.PPP, put(b"\0\x21")),
    "ppp-hdlc": (50, put(b"\xff\3\0\x21")),
    "hdlc": (wire.HDLC, put(b"\x0f\0\x08\0")),
    "wifi": (wire.IEEE802_11, put(_WIFI + _LLC)),
    "wifi-qos": (wire.IEEE802_11, put(_QOS + _LLC)),
    "radiotap": (wire.RADIOTAP, put(_RADIOTAP + _WIFI + _LLC)),
    "snap": (wire.EN10MB, put(b"\2" * 12 + b"\0\x60" + _LLC)),
    "vlan": (wire.EN10MB, ether(0x8100, b"\0\5\x08\0")),
    "qinq": (wire.EN10MB, ether(0x88A8, b"\0\5\x81\0\0\6\x08\0")),
    "mpls": (wire.EN10MB, ether(0x8847, b"\0\1\x01\x40")),
    "mpls-three": (wire.EN10MB, ether(0x8847, b"\0\1\0\x40\0\2\0\x40\0\3\x01\x40")),
    "pppoe": (wire.EN10MB, ether(0x8864, b"\x11\0\0\1\0\0\0\x21")),
    "ipip": (wire.EN10MB, outer(4)),
    "gre": (wire.EN10MB, outer(47, b"\0\0\x08\0")),
    "gre-key": (wire.EN10MB, outer(47, b"\x20\0\x08\0\0\0\0\7")),
    "gre-ethernet": (wire.EN10MB, outer(47, b"\0\0\x65\x58" + b"\2" * 12 + b"\x08\0")),
    "vxlan": (wire.EN10MB, outer(17, udp(4789, b"\x08\0\0\0\0\0\7\0" + b"\2" * 12 + b"\x08\0"))),
    "geneve": (wire.EN10MB, outer(17, udp(6081, b"\0\0\x65\x58\0\0\7\0" + b"\2" * 12 + b"\x08\0"))),
    "gtp": (wire.EN10MB, outer(17, udp(2152, b"\x30\xff\0\0\0\0\0\7"))),
    "4in6": (wire.EN10MB, outer6(4, b"")),
    "ip-options": (wire.EN10MB, lambda p: ether(0x0800)(with_options(p, b"\x94\4\0\0"))),
    "offloaded-length-0": (wire.EN10MB, lambda p: ether(0x0800)(p[:2] + b"\0\0" + p[4:])),
}

GIVEN |= {f"{name}.pcap": of_link(*wrap) for name, wrap in WRAPPED.items()}
GIVEN |= {
    "ethernet.pcap": lambda: wire.pcap(ETHERNET),
    "ethernet.pcap.gz": lambda: gzip.compress(wire.pcap(ETHERNET)),
    "big-endian.pcap": lambda: wire.pcap(ETHERNET, order=">"),
    "nanoseconds.pcap": lambda: wire.pcap(ETHERNET, nanoseconds=True),
    "nanoseconds-big-endian.pcap": lambda: wire.pcap(ETHERNET, order=">", nanoseconds=True),
    "kuznetzov.pcap": modified,
    "pcapng": pcapng,
    "pcapng-big-endian": lambda: pcapng(">"),
    "pcapng-nanoseconds": lambda: pcapng(options=struct.pack("<HHB3xHH", 9, 1, 9, 0, 0), ticks_a_us=1000),
    "pcapng-two-sections": lambda: pcapng() + pcapng(">"),
    "6in4.pcap": lambda: wire.pcap([(t, outer(41)(data[14:]), length + 20) for t, data, length in as_ipv6()]),
    "ipv6.pcap": lambda: wire.pcap(as_ipv6()),
    "ipv6-hop-by-hop.pcap": lambda: wire.pcap(as_ipv6(b"\6\0" + b"\1\4" + b"\0" * 4, 0)),
    "ipv6-three-headers.pcap": lambda: wire.pcap(
        as_ipv6(b"\x3c\0\1\4\0\0\0\0" + b"\x2b\0\1\4\0\0\0\0" + b"\6\0\0\0\0\0\0\0", 0)
    ),
    "ipv6-atomic-fragments.pcap": lambda: wire.pcap(as_ipv6(b"\6\0\0\0\0\0\0\1", 44)),
    "snap-64.pcap": lambda: wire.pcap(snapped(64, ETHERNET)),
    "snap-96.pcap": lambda: wire.pcap(snapped(96, ETHERNET)),
    "snap-54.pcap": lambda: wire.pcap(snapped(54, ETHERNET)),
    "padded.pcap": lambda: wire.pcap([(t, data.ljust(60, b"\0"), max(60, n)) for t, data, n in ETHERNET]),
    "cut.pcap": lambda: wire.pcap(ETHERNET)[:-50],
    "cut.pcap.gz": lambda: gzip.compress(wire.pcap(ETHERNET))[:-1500],
    "bytes-after.pcap.gz": lambda: gzip.compress(wire.pcap(ETHERNET)) + b"not gzip",
    "seen-twice.pcap": lambda: wire.pcap([f for frame in ETHERNET for f in (frame, frame)]),
    "no-handshake.pcap": lambda: wire.pcap(ETHERNET[300:]),
    "with-udp-and-arp.pcap": lambda: wire.pcap(sorted([*ETHERNET, *others()])),
    "year-2030.pcap": lambda: wire.pcap([(t + 4 * 31_557_600_000_000, d, n) for t, d, n in ETHERNET]),
    "from-time-0.pcap": lambda: wire.pcap([(t - ETHERNET[0][0], d, n) for t, d, n in ETHERNET]),
}


def others() -> Iterator[Frame]:
    """Yield packets that are not TCP."""
    for i in range(200):
        t = ETHERNET[0][0] + i * 10_000
        packet = wire.ipv4(
            "10.0.0.3", "10.0.0.4", struct.pack("!HHHH", 53, 4000, 20, 0) + b"x" * 12, protocol=17
        )
        yield t, ether(0x0800)(packet), 14 + len(packet)
        yield t + 1, (b"\xff" * 6 + b"\2" * 6 + b"\x08\x06" + b"\0" * 28), 42


def one_way() -> list[Frame]:
    return [frame for frame in ETHERNET if frame[1][26:30] == ETHERNET[0][1][26:30]]


def handshakes(flags: int, count: int = 50) -> list[Frame]:
    w = Wire()
    for i in range(count):
        w.client = Host("10.0.0.1", 40_000 + i)
        w.send(i * 1000, w.client, 0, flags=SYN)
        if flags:
            w.send(i * 1000 + 300, w.server, 0, ack=1, flags=flags)
    return w.frames


def fragments() -> list[Frame]:
    """Return packets whose datagrams are cut in two fragments. Only the first fragment has the ports."""
    out = []
    for t, data, length in ETHERNET:
        packet = data[14:]
        more = packet[:6] + b"\x20\0" + packet[8:]
        out.append((t, ether(0x0800)(more), length))
        out.append((t, ether(0x0800)(packet[:6] + b"\0\x64" + packet[8:]), length))
    return out


def backwards() -> list[Frame]:
    return [(ETHERNET[0][0] + 10_000_000_000 - i * 10_000, d, n) for i, (_, d, n) in enumerate(ETHERNET)]


REFUSED |= {
    "nothing": lambda: b"",
    "empty.pcap": lambda: wire.pcap([]),
    "empty.pcapng": lambda: section("<", [(wire.EN10MB, b"")]),
    "head-only.pcap": lambda: wire.pcap([])[:10],
    "udp-and-arp.pcap": lambda: wire.pcap(list(others())),
    "syn-only.pcap": lambda: wire.pcap(handshakes(0)),
    "one-direction.pcap": lambda: wire.pcap(one_way()),
    "snap-20.pcap": lambda: wire.pcap(snapped(20, ETHERNET)),
    "zigbee.pcap": lambda: wire.pcap(IP, wire.IEEE802_15_4),
    "wifi-encrypted.pcap": of_link(wire.IEEE802_11, put(b"\x08\x41" + _WIFI[2:] + _LLC)),
    "later-fragments.pcap": lambda: wire.pcap([f for f in fragments() if f[1][20:22] == b"\0\x64"]),
    "backwards.pcap": lambda: wire.pcap(backwards()),
    "no-times.pcapng": without_times,
    "two-link-types.pcapng": two_interfaces,
    "snoop.cap": lambda: b"snoop\0\0\0" + struct.pack("!II", 2, 4) + b"\0" * 400,
    "netmon.cap": lambda: b"GMBU" + b"\0" * 400,
    "xz.pcap.xz": lambda: b"\xfd7zXZ\0" + b"\0" * 100,
    "zip.pcap.zip": lambda: b"PK\3\4" + b"\0" * 100,
    "text.pcap": lambda: (
        b"12:00:00.000000 IP 10.0.0.1.80 > 10.0.0.2.4242: Flags [S], seq 1, win 65535, length 0\n"
    ),
}


def few_samples() -> bytes:
    """Return a capture of a handshake and a close, which has only enough packets for one round trip."""
    w = Wire()
    now = w.handshake()
    w.send(now + 100, w.client, 1, ack=1, flags=FIN)
    w.send(now + 40_200, w.server, 1, ack=2, flags=FIN)
    w.send(now + 40_300, w.client, 2, ack=2)
    return w.pcap()


GIVEN["fragments.pcap"] = lambda: wire.pcap(fragments())
GIVEN["year-2100.pcap"] = lambda: wire.pcap([(t + 74 * 31_557_600_000_000, d, n) for t, d, n in ETHERNET])

#: Those with other samples than the shipped capture in whatever clothes.
OTHERS: dict[str, Callable[[], bytes]] = {
    "handshake-and-close.pcap": few_samples,
    "handshakes.pcap": lambda: wire.pcap(handshakes(SYN)),
    "refused.pcap": lambda: wire.pcap(handshakes(RST | ACK)),
    "cut.pcap": GIVEN.pop("cut.pcap"),
    "cut.pcap.gz": GIVEN.pop("cut.pcap.gz"),
    "no-handshake.pcap": GIVEN.pop("no-handshake.pcap"),
}


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, make in (GIVEN | OTHERS | REFUSED).items():
        (directory / name).write_bytes(make())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
