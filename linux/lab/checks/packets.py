# SPDX-License-Identifier: GPL-2.0-only
"""In the guest: packet scripts, each run over stock and over ours in a network namespace of its own.

Under `linux` every script must pass as under stock. Under a learned estimator those must that do not turn on
the RTO's own value; how the others differ is left in /out/differences.
"""

import ctypes
import errno
import os
import socket
import struct
import sys
from pathlib import Path

from guest import in_child, sh, sysctl
from wire import (
    ACK,
    FIN,
    KERNEL4,
    KERNEL6,
    LATE,
    MSS,
    RST,
    SCRIPT4,
    SCRIPT6,
    SYN,
    Connection,
    Unexpected,
    Wire,
)

CLONE_NEWNET = 0x40000000
TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_USER_TIMEOUT, TCP_THIN_LINEAR_TIMEOUTS = 4, 5, 18, 16
TCP_FASTOPEN, MSG_FASTOPEN = 23, 0x20000000
STOCK = (("reno", ""), ("cubic", ""))
AS_STOCK = (("tl-reno", "linux"), ("tl-cubic", "linux"))
LEARNED = (("tl-cubic", "tracking"), ("tl-cubic", "conformal"), ("tl-cubic", "eifel"))
SCRIPTS = []


def script(rto=False):
    """rto: the RTO's own value decides what is expected."""

    def add(function):
        SCRIPTS.append((function.__name__, function, rto))
        return function

    return add


class Host:
    """The kernel in its namespace, and the ways to a connection."""

    def __init__(self, congestion, estimator):
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        self.congestion, self.estimator, self.listeners = congestion, estimator, []
        self.wire = Wire()
        for command in (
            "link set lo up",
            f"addr add {KERNEL4}/24 dev tun0",
            f"addr add {KERNEL6}/64 dev tun0 nodad",
            "link set tun0 up",
        ):
            sh(f"/bin/ip {command}")
        sysctl("net.ipv4.tcp_no_metrics_save", 1)
        if congestion in ("reno", "cubic", "tl-reno", "tl-cubic"):
            sysctl("net.ipv4.tcp_congestion_control", congestion)
        if estimator:
            sysctl("net.tcplearn.estimator", estimator)

    def no_probes(self):
        """Without tail loss probes."""
        sysctl("net.ipv4.tcp_early_retrans", 0)

    def opened(self, six=False, port=80):
        """A socket that has begun to connect, and the script's end of it."""
        s = socket.socket(socket.AF_INET6 if six else socket.AF_INET)
        s.setblocking(False)
        s.bind((KERNEL6 if six else KERNEL4, 0))
        c = Connection(self.wire, s, s.getsockname()[1], port, six)
        return c

    def client(self, six=False, rtt_ms=0, timestamps=False, window=10_000, set_=()):
        """An established connection that the kernel opened."""
        c = self.opened(six)
        for level, option, value in set_:
            c.socket.setsockopt(level, option, value)
        c.socket.connect_ex((SCRIPT6 if six else SCRIPT4, 80))
        c.expect(SYN, seq=0)
        c.wait(rtt_ms)
        c.timestamps = timestamps
        c.send(SYN | ACK, seq=0, ack=1, mss=MSS, window=window)
        c.expect(ACK, seq=1, ack=1)
        return c

    def listener(self, port=80, backlog=5):
        s = socket.socket()
        s.bind((KERNEL4, port))
        s.listen(backlog)
        self.listeners.append(s)  # it closes when nobody has it
        return s

    def server(self):
        """An established connection that the kernel accepted."""
        listener = self.listener()
        c = Connection(self.wire, None, 80, 4000)
        c.send(SYN, seq=0, ack=0, mss=MSS)
        c.expect(SYN | ACK, seq=0, ack=1)
        c.send(ACK)
        c.socket, _ = listener.accept()
        c.socket.setblocking(False)
        return c


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
def initial_window(h):
    h.no_probes()
    c = h.client(window=60_000)
    c.write(20 * MSS)
    for k in range(10):
        c.expect(ACK, seq=1 + k * MSS, size=MSS)
    c.silence(20)
    c.send(ack=1 + 2 * MSS, window=60_000)
    for k in range(4):
        c.expect(ACK, seq=1 + (10 + k) * MSS, size=MSS)


@script()
def peers_window_is_obeyed(h):
    h.no_probes()
    c = h.client(window=2500)
    c.write(5000)
    c.expect(ACK, seq=1, size=MSS)
    c.expect(ACK, seq=1 + MSS, size=MSS)
    c.silence(20)


@script(rto=True)
def timeout_and_backoff(h):
    h.no_probes()
    c = h.client()
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    for after_ms in (200, 400, 800, 1600):
        c.expect(ACK, seq=1, size=500, after_ms=after_ms)
    c.send(ack=501)


@script(rto=True)
def timeout_on_a_long_path(h):
    h.no_probes()
    c = h.client(rtt_ms=100)
    assert abs(c.rto_ms - 304) <= 8, f"RTO of {c.rto_ms} ms"  # 100 + max(4 · 50, 200)
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    c.expect(ACK, seq=1, size=500, after_ms=300)


@script(rto=True)
def backed_off_until_a_sample(h):
    h.no_probes()
    c = h.client()
    c.write(500)
    c.expect(ACK, seq=1)
    c.expect(ACK, seq=1, after_ms=200)
    c.send(ack=501)  # of the first or of the second: no sample
    c.wait(5)
    c.write(500)
    c.expect(ACK, seq=501, size=500)
    c.expect(ACK, seq=501, size=500, after_ms=400)


@script(rto=True)
def a_timestamp_ends_the_backoff(h):
    h.no_probes()
    c = h.client(timestamps=True)
    c.write(500)
    c.expect(ACK, seq=1)
    c.expect(ACK, seq=1, after_ms=200)
    c.send(ack=501)
    c.wait(5)
    c.write(500)
    c.expect(ACK, seq=501, size=500)
    c.expect(ACK, seq=501, size=500, after_ms=200)


@script(rto=True)
def tail_loss_probe_with_several_out(h):
    c = h.client(rtt_ms=60)
    c.write(3 * MSS)
    for k in range(3):
        c.expect(ACK, seq=1 + k * MSS, size=MSS)
    c.expect(ACK, seq=1 + 2 * MSS, size=MSS, after_ms=120)  # the last one, after two round trips
    c.expect(ACK, seq=1, size=MSS)  # the timer, from the probe


@script(rto=True)
def tail_loss_probe_with_one_out(h):
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    c.expect(ACK, seq=1, size=500, after_ms=220)  # the RTO, sooner than 40 + 200
    c.expect(ACK, seq=1, size=500, after_ms=220)


@script()
def fast_retransmit(h):
    c = h.client(rtt_ms=20)
    c.write(6 * MSS)
    for k in range(6):
        c.expect(ACK, seq=1 + k * MSS)
    c.wait(20)
    for k in range(1, 4):
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)])
    c.expect(ACK, seq=1, size=MSS, after_ms=0)
    c.send(ack=1 + 6 * MSS)
    c.silence(100)


@script()
def reordering_is_no_loss(h):
    c = h.client(rtt_ms=40)
    c.write(4 * MSS)
    for k in range(4):
        c.expect(ACK, seq=1 + k * MSS)
    c.wait(40)
    c.send(ack=1, sack=[(1 + MSS, 1 + 2 * MSS)])
    c.wait(4)
    c.send(ack=1 + 4 * MSS)
    c.silence(100)


@script(rto=True)
def spurious_timeout_is_undone(h):
    h.no_probes()
    c = h.client(timestamps=True)
    size = MSS - 12  # of the option
    c.write(4 * size)
    first = [c.expect(ACK, seq=1 + k * size) for k in range(4)]
    early = struct.unpack("!II", first[0].options[8])[0]
    c.expect(ACK, seq=1, size=size, after_ms=200)
    c.send(ack=1 + size, ts_ecr=early)  # the first copy's
    c.wait(5)
    c.send(ack=1 + 4 * size, ts_ecr=early)
    c.wait(5)
    assert c.cwnd >= 10, f"cwnd {c.cwnd} after a timeout that was undone"


@script()
def zero_window_probes(h):
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1)
    c.wait(20)
    c.send(ack=501, window=0)
    c.wait(5)
    c.write(500)
    for after_ms in (220, 440, 880):
        c.expect(ACK, seq=500, size=0, after_ms=after_ms)
    c.send(ack=501, window=10_000)
    c.expect(ACK, seq=501, size=500)


@script()
def keepalive(h):
    tcp = socket.IPPROTO_TCP
    c = h.client(
        set_=((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (tcp, TCP_KEEPIDLE, 2), (tcp, TCP_KEEPINTVL, 1))
    )
    c.expect(ACK, seq=0, size=0, after_ms=2000)
    c.expect(ACK, seq=0, size=0, after_ms=1000)
    c.send()
    c.expect(ACK, seq=0, size=0, after_ms=2000)


@script()
def user_timeout(h):
    h.no_probes()
    c = h.client(set_=((socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 1000),))
    c.write(500)
    c.expect(ACK, seq=1)
    c.wait(1300)
    assert c.error == errno.ETIMEDOUT, f"error {c.error}"


@script()
def the_window_restarts_after_silence(h):
    c = h.client(rtt_ms=30, window=60_000)
    sent = 1
    for _ in range(2):
        c.write(10 * MSS)
        for k in range(10):
            c.expect(ACK, seq=sent + k * MSS)
        c.wait(30)
        sent += 10 * MSS
        for k in range(9, -1, -1):
            c.send(ack=sent - k * MSS, window=60_000)
        c.wait(2)
    grown = c.cwnd
    assert grown > 18, f"cwnd {grown}"
    c.wait(150)  # less than stock's RTO
    c.write(100)
    c.expect(ACK, seq=sent, size=100)
    assert c.cwnd == grown, f"cwnd {c.cwnd} of {grown} after 150 ms"
    c.wait(30)
    c.send(ack=sent + 100, window=60_000)
    c.wait(1500)
    c.write(100)
    assert c.cwnd == 10, f"cwnd {c.cwnd} after 1.5 s"


@script()
def rto_min_of_the_route(h):
    h.no_probes()
    sh(f"/bin/ip route change 192.0.2.0/24 dev tun0 src {KERNEL4} rto_min 1s")
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    c.wait(20)
    c.send(ack=501)
    c.wait(5)
    c.write(500)
    c.expect(ACK, seq=501, size=500)
    c.expect(ACK, seq=501, size=500, after_ms=1020)


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
    c.send(FIN | ACK, ack=2)  # TIME-WAIT answers again
    c.expect(ACK, seq=2, ack=2)


@script(rto=True)
def lost_fin(h):
    h.no_probes()
    c = h.client()
    c.socket.close()
    c.expect(FIN | ACK, seq=1)
    c.expect(FIN | ACK, seq=1, after_ms=200)
    c.expect(FIN | ACK, seq=1, after_ms=400)


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


@script(rto=True)
def thin_linear_timeouts(h):
    h.no_probes()
    c = h.client(set_=((socket.IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1),))
    c.write(500)
    c.expect(ACK, seq=1)
    for _ in range(3):
        c.expect(ACK, seq=1, after_ms=200)


@script()
def the_algorithm_changes_with_data_out(h):
    h.no_probes()
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1)
    c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    assert abs(c.rto_ms - 220) <= 8, f"RTO of {c.rto_ms} ms"
    c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, h.congestion.encode())
    c.wait(20)
    c.send(ack=501)
    c.wait(5)
    c.write(10)
    c.expect(ACK, seq=501, size=10)
    c.send(ack=511)
    c.silence(100)


@script()
def used_again_after_a_disconnect(h):
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1)
    # AF_UNSPEC: Python has no connect() of it
    ctypes.CDLL(None).connect(c.socket.fileno(), struct.pack("H14x", 0), 16)
    c.expect(RST | ACK)
    assert c.rto_ms == 1000, f"RTO of {c.rto_ms} ms"
    c.socket.connect_ex((SCRIPT4, 80))
    c.kernel_port = c.socket.getsockname()[1]
    c.expect(SYN)
    c.send(SYN | ACK, seq=0, mss=MSS)
    c.expect(ACK, seq=1, ack=1)


@script()
def nothing_out_and_the_rto_is_stocks(h):
    c = h.client(rtt_ms=20)
    for k in range(4):
        c.write(100)
        c.expect(ACK, seq=1 + 100 * k)
        c.wait(20)
        c.send(ack=101 + 100 * k)
        c.wait(5)
        assert 216 <= c.rto_ms <= 232, f"RTO of {c.rto_ms} ms with nothing out"


@script()
def fast_open_as_server(h):
    sysctl("net.ipv4.tcp_fastopen", 2 | 0x200)  # and without a cookie
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


@script()
def timeout_in_recovery_doubles_the_whole_rto(h):
    """Eifel's timer counts from the oldest segment's last sending; what is doubled is the whole RTO."""
    h.no_probes()
    c = h.client(rtt_ms=40)
    c.write(8 * MSS)
    for k in range(8):
        c.expect(ACK, seq=1 + k * MSS)
    c.wait(40)
    for k in range(1, 4):
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)])
    resent = c.expect(ACK, seq=1, size=MSS)  # fast retransmit, and it is lost too
    for k in range(4, 7):  # samples while the oldest segment grows older
        c.wait(16)
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)])
    first = c.expect(ACK, size=MSS, within_s=4)
    whole_ms = c.rto_ms / 2  # the kernel has doubled it
    if h.estimator == "eifel":
        since_ms = 1000 * (first.at - resent.at)
        assert whole_ms >= since_ms / LATE - 8, f"{whole_ms} ms were doubled, after {since_ms:.0f} ms"
    second = c.expect(ACK, seq=1, size=MSS, within_s=4)
    waited_ms = 1000 * (second.at - first.at)
    assert waited_ms >= 2 * whole_ms - 5, f"{waited_ms} ms after a timeout with an RTO of {whole_ms}"


@script()
def limited_transmit(h):
    c = h.client(rtt_ms=20, window=60_000)
    h.no_probes()
    c.write(14 * MSS)
    for k in range(10):
        c.expect(ACK, seq=1 + k * MSS)
    c.wait(20)
    c.send(ack=1, sack=[(1 + MSS, 1 + 2 * MSS)], window=60_000)
    c.expect(ACK, seq=1 + 10 * MSS, size=MSS)


@script()
def a_window_update_releases_data(h):
    h.no_probes()
    c = h.client(rtt_ms=20, window=2 * MSS)
    c.write(4 * MSS)
    for k in range(2):
        c.expect(ACK, seq=1 + k * MSS, size=MSS)
    c.wait(20)
    c.send(ack=1 + 2 * MSS, window=0)
    c.silence(50)
    c.send(ack=1 + 2 * MSS, window=5000)
    for k in range(2, 4):
        c.expect(ACK, seq=1 + k * MSS, size=MSS)


def main():
    learned = []
    with Path("/out/results").open("w") as results:
        for name, function, rto in SCRIPTS:
            for congestion, estimator in (*STOCK, *AS_STOCK, *LEARNED):
                label = f"{name}/{congestion}" + (f"+{estimator}" if estimator else "")
                said = " ".join(in_child(lambda f=function, a=(congestion, estimator): _run(f, a)).split())
                if said and rto and (congestion, estimator) in LEARNED:
                    learned.append(f"{label}: {said}")
                    continue
                print(label, said or "ok", file=results, flush=True)
    Path("/out/differences").write_text("".join(f"{line}\n" for line in learned))


def _run(function, arm):
    try:
        function(Host(*arm))
    except Unexpected as error:
        line = error.__traceback__.tb_next.tb_lineno
        raise AssertionError(f"line {line}: {error}") from None
    except AssertionError as error:
        raise AssertionError(f"line {error.__traceback__.tb_next.tb_lineno}: {error}") from None
    except OSError as error:
        raise AssertionError(f"line {error.__traceback__.tb_next.tb_lineno}: {error}") from None


if __name__ == "__main__":
    if os.environ.get("ONLY"):
        SCRIPTS[:] = [s for s in SCRIPTS if os.environ["ONLY"] in s[0]]
    main()
    sys.exit(0)
