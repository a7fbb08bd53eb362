# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Probe hosts through raw sockets, which need privileges. scapy builds and parses packets, and the kernel
timestamps arrivals. Because the kernel does not know the connections of the probes, it answers each SYN-ACK
with an RST, so no connection stays half open."""

import asyncio
import contextlib
import errno
import itertools
import logging
import random
import socket
import struct
import sys
import time
from dataclasses import dataclass
from typing import Any

from tcplearn.collect.probe import NO_ROUTE, SILENT, UNREACHABLE, Answer, Destination, Pacer, Reply

#: Source ports: above those that Linux assigns to connections by default.
PORTS = range(61000, 65536)
_SO_TIMESTAMPNS = 35
_IPV6_RECVHOPLIMIT, _IPV6_HOPLIMIT = 51, 52
_BUFFER_BYTES = 1 << 21
_SYN_ACK, _RST = 0x12, 0x04
#: A probe's source port and sequence number, the answer to it, and the answer's TTL.
_Found = tuple[tuple[int, int], Answer, int | None]


def allowed() -> bool:
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP).close()
    except PermissionError:
        return False
    return True


def packets() -> Any:
    """Return scapy's modules inet and inet6, whose import takes most of a second."""
    logging.getLogger("scapy").setLevel(logging.ERROR)
    from scapy.layers import inet, inet6

    return inet, inet6


@dataclass(frozen=True, slots=True)
class _Waiting:
    future: asyncio.Future[Reply]
    to: Destination
    sent_ns: int
    sent_monotonic_ns: int
    limit_us: float


class RawProber:
    name = "raw"

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._inet, self._inet6 = packets()
        self._waiting: dict[tuple[int, int], _Waiting] = {}
        self._ports = itertools.cycle(random.sample(PORTS, len(PORTS)))
        self._sources: dict[str, str] = {}
        self._sockets: list[socket.socket] = []
        self._senders: dict[socket.AddressFamily, socket.socket] = {}
        for family, icmp in ((socket.AF_INET, socket.IPPROTO_ICMP), (socket.AF_INET6, socket.IPPROTO_ICMPV6)):
            try:
                self._open(family, icmp)
            except OSError as error:  # this machine has no IPv6
                if error.errno != errno.EAFNOSUPPORT or family == socket.AF_INET:
                    raise

    def _open(self, family: socket.AddressFamily, icmp: int) -> None:
        # packets are written with their IP header
        sender = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self._senders[family] = sender
        self._sockets.append(sender)
        for protocol in (socket.IPPROTO_TCP, icmp):
            sock = socket.socket(family, socket.SOCK_RAW | socket.SOCK_NONBLOCK, protocol)
            self._sockets.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVHOPLIMIT, 1)
            read = self._read_tcp if protocol == socket.IPPROTO_TCP else self._read_icmp
            asyncio.get_running_loop().add_reader(sock, self._read, sock, family, read)

    def close(self) -> None:
        for sock in self._sockets:
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(sock)
            sock.close()

    async def probe(self, to: Destination, hop_limit: int, timeout_s: float) -> Reply:
        port, sequence = next(self._ports), random.getrandbits(32)
        key = (port, sequence)
        try:
            packet = self._packet(to, hop_limit, port, sequence)
        except OSError:  # no local address has a route to the host
            return UNREACHABLE
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

        def send() -> None:
            self._waiting[key] = _Waiting(future, to, time.time_ns(), time.monotonic_ns(), timeout_s * 1e6)
            self._senders[to.family].sendto(packet, (to.address, 0))

        try:
            await self._pacer.send(send)
            # asyncio.wait_for() of Python 3.11 would lose a cancellation that arrives with the answer
            async with asyncio.timeout(timeout_s):
                return await future
        except TimeoutError:
            return SILENT
        except OSError as error:
            return UNREACHABLE if errno.errorcode.get(error.errno or 0) in NO_ROUTE else SILENT
        finally:
            self._waiting.pop(key, None)

    def _packet(self, to: Destination, hop_limit: int, port: int, sequence: int) -> bytes:
        if to.address not in self._sources:
            with socket.socket(to.family, socket.SOCK_DGRAM) as sock:
                sock.connect(to.sockaddr)  # sends nothing; it only finds the route
                self._sources[to.address] = sock.getsockname()[0]
        ends = {"src": self._sources[to.address], "dst": to.address}
        if to.family == socket.AF_INET:
            head = self._inet.IP(**ends, ttl=hop_limit, id=port, flags="DF")
        else:
            head = self._inet6.IPv6(**ends, hlim=hop_limit)
        options = [("MSS", 1460 if to.family == socket.AF_INET else 1440)]
        syn = self._inet.TCP(
            sport=port, dport=to.port, seq=sequence, flags="S", window=64240, options=options
        )
        return bytes(head / syn)

    def _read(self, sock: socket.socket, family: socket.AddressFamily, read: Any) -> None:
        """Read all packets that have arrived on `sock`, each by `read` (_read_tcp or _read_icmp)."""
        while True:
            try:
                data, ancillary, _, address = sock.recvmsg(2048, 256)
            except OSError:
                return
            now_ns = time.monotonic_ns()
            came_ns, ttl = time.time_ns(), None
            for _, kind, value in ancillary:
                if kind == _SO_TIMESTAMPNS:
                    seconds, nanoseconds = struct.unpack("@qq", value)
                    came_ns = seconds * 10**9 + nanoseconds
                elif kind == _IPV6_HOPLIMIT:
                    ttl = int.from_bytes(value[:4], sys.byteorder)
            with contextlib.suppress(IndexError, ValueError, struct.error):
                found = read(data, family, address[0])
                if found:
                    key, answer, own_ttl = found
                    self._answer(key, answer, ttl or own_ttl, came_ns, now_ns)

    def _answer(
        self, key: tuple[int, int], answer: Answer, ttl: int | None, came_ns: int, now_ns: int
    ) -> None:
        waiting = self._waiting.pop(key, None)
        if waiting is None or waiting.future.done():
            return
        elapsed_us = (came_ns - waiting.sent_ns) // 1000
        most_us = (now_ns - waiting.sent_monotonic_ns) // 1000
        if not 0 < elapsed_us <= most_us:  # the clock was changed meanwhile
            elapsed_us = most_us
        # the answer arrived after the time limit, although this process has not noticed yet
        late = elapsed_us > waiting.limit_us
        waiting.future.set_result(SILENT if late else Reply(answer, max(1, elapsed_us), ttl))

    def _read_tcp(self, data: bytes, family: socket.AddressFamily, sender: str) -> _Found | None:
        """Return the key of the probe that the TCP packet `data` answers, the answer and its TTL, or None if
        it answers no probe. IPv4 packets begin with the IP header, IPv6 packets with the TCP header."""
        at = (data[0] & 15) * 4 if family == socket.AF_INET else 0
        if int.from_bytes(data[at + 2 : at + 4], "big") not in PORTS:  # a packet of another connection
            return None
        tcp = self._inet.TCP(data[at:])
        key = (int(tcp.dport), (int(tcp.ack) - 1) & 0xFFFFFFFF)
        waiting = self._waiting.get(key)
        if waiting is None or (waiting.to.address, waiting.to.port) != (sender, int(tcp.sport)):
            return None
        ttl = int(self._inet.IP(data[:at]).ttl) if at else None
        if int(tcp.flags) & _RST:
            return key, Answer.closed, ttl
        return (key, Answer.open, ttl) if int(tcp.flags) & _SYN_ACK == _SYN_ACK else None

    def _read_icmp(self, data: bytes, family: socket.AddressFamily, _sender: str) -> _Found | None:
        """Return the key of the probe that the ICMP error `data` is about, the answer, and None for its TTL;
        return None for other packets. An ICMP error quotes at least 8 bytes of the TCP header (RFC 792): the
        ports and the sequence number."""
        if family == socket.AF_INET:
            at, kinds = (data[0] & 15) * 4, {11: Answer.expired, 3: Answer.unreachable}
            header, protocol = self._inet.IP, "proto"
        else:
            at, kinds = 0, {3: Answer.expired, 1: Answer.unreachable}
            header, protocol = self._inet6.IPv6, "nh"
        if data[at] not in kinds:
            return None
        quoted = header(data[at + 8 :])
        if int(getattr(quoted, protocol)) != socket.IPPROTO_TCP:
            return None
        port, _, sequence = struct.unpack_from("!HHI", bytes(quoted.payload))
        waiting = self._waiting.get((port, sequence))
        if waiting is None or waiting.to.address != str(quoted.dst):
            return None
        return (port, sequence), kinds[data[at]], None
