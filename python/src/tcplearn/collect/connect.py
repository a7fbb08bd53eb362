# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Probe a host without privilege, by connect() with a limited TTL. The kernel gives an answer's RTT
(TCP_INFO), but not its TTL. A probe ends just before the kernel retransmits its SYN after one second."""

import asyncio
import contextlib
import errno
import socket
import struct
import sys
import time

from tcplearn.collect.probe import NO_ROUTE, SILENT, UNREACHABLE, Answer, Destination, Pacer, Reply

TIMEOUT_MAX_S = 0.9
_TCP_SYNCNT = 7
_RECVERR = {socket.AF_INET: (socket.IPPROTO_IP, 11), socket.AF_INET6: (socket.IPPROTO_IPV6, 25)}
_HOP_LIMIT = {
    socket.AF_INET: (socket.IPPROTO_IP, socket.IP_TTL),
    socket.AF_INET6: (socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS),
}
#: The ICMP type (RFC 792) and the ICMPv6 type (RFC 4443, section 3.3) of an expired TTL.
_EXPIRED = {socket.AF_INET: 11, socket.AF_INET6: 3}
_MSG_ERRQUEUE = 0x2000
#: The bytes of tcpi_rtt, in microseconds, in struct tcp_info.
_RTT_AT, _RTT_END = 68, 72


class ConnectProber:
    name = "connect"

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer

    async def probe(self, to: Destination, hop_limit: int, timeout_s: float) -> Reply:
        with socket.socket(to.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, _TCP_SYNCNT, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close with an RST
            sock.setsockopt(*_RECVERR[to.family], 1)
            sock.setsockopt(*_HOP_LIMIT[to.family], hop_limit)
            return await self._connect(sock, to, min(timeout_s, TIMEOUT_MAX_S))

    async def _connect(self, sock: socket.socket, to: Destination, timeout_s: float) -> Reply:
        def send() -> tuple[int, int]:
            return time.monotonic_ns(), sock.connect_ex(to.sockaddr)

        sent_ns, code = await self._pacer.send(send)
        if code == errno.EINPROGRESS:
            ready = await _writable(sock, timeout_s)
            if ready is None:
                return SILENT
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            return _reply(sock, to.family, code, (ready - sent_ns) // 1000)
        return _reply(sock, to.family, code, (time.monotonic_ns() - sent_ns) // 1000)

    def close(self) -> None:
        """Do nothing, because no socket stays open between probes."""


async def _writable(sock: socket.socket, timeout_s: float) -> int | None:
    """Wait until the connection of `sock` is established or fails. Return the time of this event (monotonic
    clock, in ns), or None after `timeout_s` seconds."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[int] = loop.create_future()

    def ready() -> None:
        loop.remove_writer(sock)
        if not done.done():
            done.set_result(time.monotonic_ns())

    loop.add_writer(sock, ready)
    try:
        # asyncio.wait_for() of Python 3.11 would lose a cancellation that arrives with the answer
        async with asyncio.timeout(timeout_s):
            return await done
    except TimeoutError:
        return None
    finally:
        loop.remove_writer(sock)


def _reply(sock: socket.socket, family: socket.AddressFamily, code: int, elapsed_us: int) -> Reply:
    if code == 0:
        return Reply(Answer.open, _rtt_us(sock) or elapsed_us)
    if code == errno.ECONNREFUSED:
        return Reply(Answer.closed, elapsed_us)
    if _icmp_type(sock) == _EXPIRED[family]:
        return Reply(Answer.expired, elapsed_us)
    return UNREACHABLE if errno.errorcode.get(code) in NO_ROUTE else SILENT


def _rtt_us(sock: socket.socket) -> int:
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return int.from_bytes(info[_RTT_AT:_RTT_END], sys.byteorder)


def _icmp_type(sock: socket.socket) -> int | None:
    """Return the type of the ICMP message in the error queue of `sock` (sock_extended_err), or None."""
    with contextlib.suppress(OSError):
        for _, _, data in sock.recvmsg(0, 512, _MSG_ERRQUEUE)[1]:
            origin, kind = data[4], data[5]
            if origin in (2, 3):  # SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6
                return kind
    return None
