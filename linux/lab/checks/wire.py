# SPDX-License-Identifier: GPL-2.0-only
"""Implements one end of TCP connections (192.0.2.2, fd00::2) on a TUN device; the kernel is the other end
(192.0.2.1, fd00::1). Sequence numbers are relative: the first byte of data has number 1."""

import fcntl
import os
import select
import socket
import struct
import time

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
KERNEL4, SCRIPT4, KERNEL6, SCRIPT6 = "192.0.2.1", "192.0.2.2", "fd00::1", "fd00::2"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
MSS = 1000
LATE = 1.13  # how late a timer may be: it counts jiffies (4 ms); the timer wheel may add an eighth
NAMES = {FIN: "FIN", SYN: "SYN", RST: "RST", PSH: "PSH", ACK: "ACK"}


class Unexpected(AssertionError):
    pass


class Segment:
    def __init__(self, packet, at):
        self.at, self.six = at, packet[0] >> 4 == 6
        start = 40 if self.six else (packet[0] & 15) * 4
        tcp = packet[start:]
        (self.source, self.destination, self.seq, self.ack, offset, flags, self.window) = struct.unpack_from(
            "!HHIIBBH", tcp
        )
        self.flags = flags & 31
        length = (offset >> 4) * 4
        self.options, self.data = dict(_options(tcp[20:length])), tcp[length:]

    def __str__(self):
        flags = "|".join(name for bit, name in NAMES.items() if self.flags & bit)
        return f"{flags} seq {self.seq} ack {self.ack} with {len(self.data)} B"


def _options(raw):
    at = 0
    while at < len(raw) and raw[at]:
        if raw[at] == 1:
            at += 1
            continue
        yield raw[at], raw[at + 2 : at + raw[at + 1]]
        at += raw[at + 1]


def _sum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Wire:
    def __init__(self, early=False):
        self.early = early
        self._file = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self._file, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))

    def packet(self, timeout_s):
        end = time.monotonic() + timeout_s
        while select.select([self._file], [], [], max(0, end - time.monotonic()))[0]:
            raw = os.read(self._file, 4096)
            at = time.monotonic()
            if (raw[9] if raw[0] >> 4 == 4 else raw[6]) == socket.IPPROTO_TCP:
                return Segment(raw, at)
        return None

    def put(self, tcp, six=False):
        """Send the TCP segment `tcp` to the kernel. Its checksum field must be 0 and is filled in."""
        if six:
            ends = socket.inet_pton(socket.AF_INET6, SCRIPT6) + socket.inet_pton(socket.AF_INET6, KERNEL6)
            head = struct.pack("!IHBB", 6 << 28, len(tcp), socket.IPPROTO_TCP, 64) + ends
            pseudo = ends + struct.pack("!II", len(tcp), socket.IPPROTO_TCP)
        else:
            ends = socket.inet_aton(SCRIPT4) + socket.inet_aton(KERNEL4)
            head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, socket.IPPROTO_TCP, 0) + ends
            head = head[:10] + struct.pack("!H", _sum(head)) + head[12:]
            pseudo = ends + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp))
        tcp = tcp[:16] + struct.pack("!H", _sum(pseudo + tcp)) + tcp[18:]
        os.write(self._file, head + tcp)

    def unreachable(self, segment, code, mtu=0):
        quoted = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, socket.IPPROTO_TCP, 0)
        quoted += socket.inet_aton(KERNEL4) + socket.inet_aton(SCRIPT4)
        quoted += struct.pack("!HHI", segment.source, segment.destination, segment.raw_seq)
        icmp = struct.pack("!BBHHH", 3, code, 0, 0, mtu) + quoted
        icmp = icmp[:2] + struct.pack("!H", _sum(icmp)) + icmp[4:]
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(icmp), 0, 0, 64, socket.IPPROTO_ICMP, 0)
        head += socket.inet_aton(SCRIPT4) + socket.inet_aton(KERNEL4)
        os.write(self._file, head[:10] + struct.pack("!H", _sum(head)) + head[12:] + icmp)


class Connection:
    def __init__(self, wire, kernel_socket, kernel_port, port, six=False):
        self.wire, self.socket, self.kernel_port, self.port, self.six = (
            wire,
            kernel_socket,
            kernel_port,
            port,
            six,
        )
        self.isn, self.kernel_isn = 1_000_000, None
        self.timestamps, self.ts_recent = False, 0
        self.last = time.monotonic()

    def send(
        self, flags=ACK, seq=1, ack=1, data=b"", window=10_000, sack=(), mss=0, options=b"", ts_ecr=None
    ):
        if mss:
            options += struct.pack("!BBH", 2, 4, mss) + b"\x04\x02\x01\x01"  # MSS, and SACK permitted
        if self.timestamps:
            ecr = self.ts_recent if ts_ecr is None else ts_ecr
            options += struct.pack("!BBBBII", 1, 1, 8, 10, int(time.monotonic() * 1000) & 0xFFFFFFFF, ecr)
        if sack:
            ends = [(self.kernel_isn + end) & 0xFFFFFFFF for block in sack for end in block]
            options += struct.pack(f"!BBBB{len(ends)}I", 1, 1, 5, 2 + 4 * len(ends), *ends)
        options += b"\0" * (-len(options) % 4)
        number = (self.kernel_isn + ack) & 0xFFFFFFFF if flags & ACK else 0
        head = struct.pack(
            "!HHIIBBHHH",
            self.port,
            self.kernel_port,
            (self.isn + seq) & 0xFFFFFFFF,
            number,
            (5 + len(options) // 4) << 4,
            flags,
            window,
            0,
            0,
        )
        self.last = time.monotonic()
        self.wire.put(head + options + data, self.six)

    def expect(self, flags=None, seq=None, ack=None, size=None, after_ms=None, within_s=10.0):
        """Return the kernel's next segment. Raise Unexpected if none comes within `within_s` seconds, if its
        flags, numbers or size are not those given, or if it does not come about `after_ms` ms after the
        previous segment."""
        while True:
            segment = self.wire.packet(within_s)
            if segment is None:
                raise Unexpected(f"nothing came within {within_s} s")
            if (segment.source, segment.destination) == (self.kernel_port, self.port):
                break
        if segment.flags & SYN:
            self.kernel_isn = segment.seq
        segment.raw_seq = segment.seq
        segment.seq = (segment.seq - (self.kernel_isn or 0)) & 0xFFFFFFFF
        segment.ack = (segment.ack - self.isn) & 0xFFFFFFFF if segment.flags & ACK else 0
        if 8 in segment.options:
            self.ts_recent = struct.unpack("!II", segment.options[8])[0]
        waited_ms = 1000 * (segment.at - self.last)
        for name, wanted, found in (
            ("flags", flags, segment.flags & ~PSH),
            ("seq", seq, segment.seq),
            ("ack", ack, segment.ack),
            ("size", size, len(segment.data)),
        ):
            if wanted is not None and wanted != found:
                raise Unexpected(f"{segment} after {waited_ms:.0f} ms: {name} should be {wanted}")
        least_ms = 0 if after_ms is None or self.wire.early else after_ms - 5
        if after_ms is not None and not least_ms <= waited_ms <= after_ms * LATE + 13:
            raise Unexpected(f"{segment} after {waited_ms:.0f} ms, not {after_ms}")
        self.last = segment.at
        return segment

    def expect_full(self, count, first=0):
        for k in range(first, first + count):
            self.expect(ACK, seq=1 + k * MSS, size=MSS)

    def last_within(self, ms):
        """Return the last segment that comes within `ms` milliseconds."""
        end, last = time.monotonic() + ms / 1000, None
        while (segment := self.wire.packet(max(0, end - time.monotonic()))) is not None:
            if 8 in segment.options:
                self.ts_recent = struct.unpack("!II", segment.options[8])[0]
            segment.raw_seq, last = segment.seq, segment
        return last

    def silence(self, ms):
        end = time.monotonic() + ms / 1000
        while (segment := self.wire.packet(max(0, end - time.monotonic()))) is not None:
            if (segment.source, segment.destination) == (self.kernel_port, self.port):
                waited_ms = 1000 * (segment.at - self.last)
                raise Unexpected(f"{segment} after {waited_ms:.0f} ms, when nothing was expected")

    def wait(self, ms):
        time.sleep(ms / 1000)

    def write(self, size):
        self.last = time.monotonic()
        self.socket.send(b"x" * size)

    def info(self, offset, kind="I"):
        raw = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return struct.unpack_from(kind, raw, offset)[0]

    @property
    def rto_ms(self):
        return self.info(8) / 1000

    @property
    def cwnd(self):
        return self.info(80)

    @property
    def error(self):
        return self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
