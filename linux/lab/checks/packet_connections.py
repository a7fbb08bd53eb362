# SPDX-License-Identifier: GPL-2.0-only
"""Defines packet scripts (single packets exchanged with the kernel) for handshakes, closes, received data,
ICMP."""

import ctypes
import errno
import socket
import struct

from guest import sysctl
from packet_host import KERNEL, script
from wire import ACK, FIN, KERNEL4, MSS, RST, SCRIPT4, SYN, Connection

TCP_FASTOPEN = 23
TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ, TCP_REPAIR_OPTIONS = 19, 20, 21, 22
RECEIVED, SENT = 1, 2  # queues of TCP_REPAIR_QUEUE
MSS_OPTION, SACK_OPTION = 2, 4


@script()
def handshake_as_client(h):
    c = h.opened()
    c.socket.connect_ex((SCRIPT4, 80))
    segment = c.expect(SYN, seq=0)
    assert (
        struct.unpack("!H", segment.options[2])[0] == 1460 and 4 in segment.options and 8 in segment.options
    )
    c.send(SYN | ACK, seq=0, mss=MSS)
    c.expect(ACK, seq=1, ack=1, size=0)
    assert c.error == 0


@script()
def handshake_as_server(h):
    c = h.server()
    assert c.cwnd == 10


@script()
def handshake_over_ipv6(h):
    c = h.client(six=True)
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    c.send(ack=501)
    c.silence(300)


@script()
def lost_syn(h):
    c = h.opened()
    c.socket.connect_ex((SCRIPT4, 80))
    c.expect(SYN, seq=0)
    c.expect(SYN, seq=0, after_ms=1000)
    c.expect(SYN, seq=0, after_ms=2000)
    c.send(SYN | ACK, seq=0, mss=MSS)
    c.expect(ACK, seq=1, ack=1)


@script()
def refused(h):
    c = h.opened()
    c.socket.connect_ex((SCRIPT4, 80))
    c.expect(SYN)
    c.send(RST | ACK, seq=0, ack=1)
    c.wait(5)
    assert c.error == errno.ECONNREFUSED


@script()
def lost_syn_ack(h):
    h.listener()
    c = Connection(h.wire, None, 80, 4000)
    c.send(SYN, seq=0, mss=MSS)
    c.expect(SYN | ACK, seq=0, ack=1)
    c.expect(SYN | ACK, seq=0, ack=1, after_ms=1000)
    c.expect(SYN | ACK, seq=0, ack=1, after_ms=2000)
    c.send(ACK)
    c.silence(100)


@script()
def listen_overflow(h):
    h.listener(backlog=1)
    for port in (4000, 4001):  # one more than the backlog
        c = Connection(h.wire, None, 80, port)
        c.send(SYN, seq=0, mss=MSS)
        c.expect(SYN | ACK, seq=0, ack=1)
        c.send(ACK)
    c = Connection(h.wire, None, 80, 4002)
    c.send(SYN, seq=0, mss=MSS)
    c.silence(900)


@script()
def abort(h):
    c = h.client()
    c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.write(500)
    c.expect(ACK, seq=1)
    c.socket.close()
    c.expect(RST | ACK, seq=501)


@script()
def reset_by_the_peer(h):
    c = h.client()
    c.send(RST)
    c.wait(5)
    assert c.error == errno.ECONNRESET


@script()
def closed_first_by_us(h):
    c = h.client()
    c.socket.close()
    c.expect(FIN | ACK, seq=1, ack=1)
    c.send(ack=2)
    c.wait(20)
    c.send(FIN | ACK, ack=2)
    c.expect(ACK, seq=2, ack=2)
    c.send(FIN | ACK, ack=2)  # a connection in TIME-WAIT acknowledges again
    c.expect(ACK, seq=2, ack=2)


@script()
def closed_first_by_the_peer(h):
    c = h.client()
    c.send(FIN | ACK)
    c.expect(ACK, seq=1, ack=2)
    assert c.socket.recv(1) == b""
    c.socket.close()
    c.expect(FIN | ACK, seq=1, ack=2)
    c.send(seq=2, ack=2)
    c.silence(100)


@script()
def out_of_order_data_is_sacked(h):
    c = h.client()
    c.send(seq=501, data=b"y" * 500)
    segment = c.expect(ACK, ack=1)
    left, right = struct.unpack("!II", segment.options[5][:8])
    assert (left - c.isn, right - c.isn) == (501, 1001)
    c.send(seq=1, data=b"y" * 500)
    c.expect(ACK, ack=1001)


@script()
def data_twice_is_dsacked(h):
    c = h.client()
    c.send(data=b"y" * 500)
    c.expect(ACK, ack=501)
    c.send(data=b"y" * 500)
    segment = c.expect(ACK, ack=501)
    left, right = struct.unpack("!II", segment.options[5][:8])
    assert (left - c.isn, right - c.isn) == (1, 501)


@script()
def small_writes_wait_for_an_ack(h):
    c = h.client()
    c.write(100)
    c.expect(ACK, seq=1, size=100)
    c.write(100)
    c.write(100)
    c.silence(20)
    c.send(ack=101)
    c.expect(ACK, seq=101, size=200)


@script()
def a_syn_in_the_window_is_challenged(h):
    c = h.client()
    c.send(SYN, seq=100, ack=0)
    c.expect(ACK, seq=1, ack=1, size=0)
    c.write(10)
    c.expect(ACK, seq=1, size=10)


@script()
def an_ack_of_nothing_sent_is_dropped(h):
    c = h.client()
    c.send(ack=5000)
    if KERNEL >= (7, 2):  # a challenge ACK (RFC 5961, 5.2)
        c.expect(ACK, seq=1, ack=1)
    c.silence(50)
    c.write(10)
    c.expect(ACK, seq=1, size=10)


@script()
def a_smaller_mtu_is_heeded(h):
    c = h.client()
    c.write(MSS)
    segment = c.expect(ACK, seq=1, size=MSS)
    h.wire.unreachable(segment, code=4, mtu=700)
    c.expect(ACK, seq=1, size=660)
    c.expect(ACK, seq=661, size=340)


@script()
def unreachable_is_no_end(h):
    c = h.client(rtt_ms=20)
    c.write(500)
    segment = c.expect(ACK, seq=1, size=500)
    h.wire.unreachable(segment, code=1)
    c.wait(20)
    c.send(ack=501)
    c.wait(5)
    assert c.error == 0
    c.write(10)
    c.expect(ACK, seq=501, size=10)


@script()
def used_again_after_a_disconnect(h):
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1)
    # connect() with AF_UNSPEC disconnects; Python does not offer it
    ctypes.CDLL(None).connect(c.socket.fileno(), struct.pack("H14x", 0), 16)
    c.expect(RST | ACK)
    assert c.rto_ms == 1000, f"RTO of {c.rto_ms} ms"
    c.socket.connect_ex((SCRIPT4, 80))
    c.kernel_port = c.socket.getsockname()[1]
    c.expect(SYN)
    c.send(SYN | ACK, seq=0, mss=MSS)
    c.expect(ACK, seq=1, ack=1)


@script(rto=True)
def restored_with_data_out(h):
    """Restore a connection with data in flight on a new socket (TCP_REPAIR), as after a checkpoint."""
    h.no_probes()
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    c.socket.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    c.socket.close()
    c.silence(100)
    c.socket = socket.socket()
    set_ = c.socket.setsockopt
    set_(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    set_(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for queue, number in ((SENT, c.kernel_isn + 1), (RECEIVED, c.isn + 1)):
        set_(socket.IPPROTO_TCP, TCP_REPAIR_QUEUE, queue)
        set_(socket.IPPROTO_TCP, TCP_QUEUE_SEQ, struct.pack("I", number & 0xFFFFFFFF))
    c.socket.bind((KERNEL4, c.kernel_port))
    c.socket.connect((SCRIPT4, 80))
    options = struct.pack("IIII", SACK_OPTION, 0, MSS_OPTION, MSS)
    set_(socket.IPPROTO_TCP, TCP_REPAIR_OPTIONS, options)
    set_(socket.IPPROTO_TCP, TCP_REPAIR_QUEUE, SENT)
    c.write(500)
    set_(socket.IPPROTO_TCP, TCP_REPAIR, 0)
    c.socket.setblocking(False)
    c.expect(ACK, seq=0, size=0)  # asks for the window
    c.send()
    c.expect(ACK, seq=1, size=500, after_ms=3000)  # no RTT sample is known (RFC 6298, 5.7)
    c.send(ack=501)
    c.wait(5)
    c.write(300)
    c.expect(ACK, seq=501, size=300)
    c.wait(20)
    c.send(ack=801)
    c.silence(100)


@script()
def fast_open_as_server(h):
    sysctl("net.ipv4.tcp_fastopen", 2 | 0x200)  # 0x200: without a cookie
    listener = socket.socket()
    listener.bind((KERNEL4, 80))
    listener.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 5)
    listener.listen(5)
    c = Connection(h.wire, None, 80, 4000)
    c.send(SYN, seq=0, mss=MSS, data=b"y" * 100)
    c.expect(SYN | ACK, seq=0, ack=101)
    c.socket, _ = listener.accept()
    c.socket.setblocking(False)
    assert len(c.socket.recv(1000)) == 100
    c.write(200)
    c.expect(ACK, seq=1, ack=101, size=200)
    c.wait(60)
    c.send(seq=101, ack=1)
    c.wait(5)
    c.send(seq=101, ack=201)
    c.silence(100)
    assert 60 <= c.info(68) / 1000 <= 70, f"SRTT of {c.info(68)} us"
