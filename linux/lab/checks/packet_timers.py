# SPDX-License-Identifier: GPL-2.0-only
"""Defines packet scripts (single packets exchanged with the kernel) for timers, loss recovery and cwnd."""

import errno
import socket
import struct

from guest import sh
from packet_host import script
from wire import ACK, FIN, KERNEL4, LATE, MSS

TCP_KEEPIDLE = 4
TCP_KEEPINTVL = 5
TCP_USER_TIMEOUT = 18
TCP_THIN_LINEAR_TIMEOUTS = 16


@script()
def initial_window(h):
    h.no_probes()
    c = h.client(window=60_000)
    c.write(20 * MSS)
    c.expect_full(10)
    c.silence(20)
    c.send(ack=1 + 2 * MSS, window=60_000)
    c.expect_full(4, first=10)


@script()
def peers_window_is_obeyed(h):
    h.no_probes()
    c = h.client(window=2500)
    c.write(5000)
    c.expect_full(2)
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
    c.send(ack=501)  # may acknowledge either transmission, so it gives no RTT sample
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
    c.expect_full(3)
    c.expect(ACK, seq=1 + 2 * MSS, size=MSS, after_ms=120)  # the probe: the last segment, after two RTTs
    c.expect(ACK, seq=1, size=MSS)  # the RTO, restarted by the probe


@script(rto=True)
def tail_loss_probe_with_one_out(h):
    c = h.client(rtt_ms=20)
    c.write(500)
    c.expect(ACK, seq=1, size=500)
    c.expect(ACK, seq=1, size=500, after_ms=220)  # the RTO, which comes before a probe at 40 + 200 ms
    c.expect(ACK, seq=1, size=500, after_ms=220)


@script()
def fast_retransmit(h):
    c = h.client(rtt_ms=20)
    c.write(6 * MSS)
    c.expect_full(6)
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
    c.expect_full(4)
    c.wait(40)
    c.send(ack=1, sack=[(1 + MSS, 1 + 2 * MSS)])
    c.wait(4)
    c.send(ack=1 + 4 * MSS)
    c.silence(100)


@script(rto=True)
def spurious_timeout_is_undone(h):
    h.no_probes()
    c = h.client(timestamps=True)
    size = MSS - 12  # less the timestamp option
    c.write(4 * size)
    first = [c.expect(ACK, seq=1 + k * size) for k in range(4)]
    early = struct.unpack("!II", first[0].options[8])[0]
    c.expect(ACK, seq=1, size=size, after_ms=200)
    c.send(ack=1 + size, ts_ecr=early)  # the echo of the first transmission
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
    c.wait(150)  # less than the kernel's own RTO
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


@script(rto=True)
def lost_fin(h):
    h.no_probes()
    c = h.client()
    c.socket.close()
    c.expect(FIN | ACK, seq=1)
    c.expect(FIN | ACK, seq=1, after_ms=200)
    c.expect(FIN | ACK, seq=1, after_ms=400)


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
def timeout_in_recovery_doubles_the_whole_rto(h):
    h.no_probes()
    c = h.client(rtt_ms=40)
    c.write(8 * MSS)
    c.expect_full(8)
    c.wait(40)
    for k in range(1, 4):
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)])
    resent = c.expect(ACK, seq=1, size=MSS)  # the fast retransmission, which is lost too
    for k in range(4, 7):  # RTT samples while the oldest segment stays unacknowledged
        c.wait(16)
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)])
    first = c.expect(ACK, size=MSS, within_s=4)
    whole_ms = c.rto_ms / 2  # the kernel has already doubled the RTO
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
    c.expect_full(10)
    c.wait(20)
    c.send(ack=1, sack=[(1 + MSS, 1 + 2 * MSS)], window=60_000)
    c.expect(ACK, seq=1 + 10 * MSS, size=MSS)


@script()
def a_window_update_releases_data(h):
    h.no_probes()
    c = h.client(rtt_ms=20, window=2 * MSS)
    c.write(4 * MSS)
    c.expect_full(2)
    c.wait(20)
    c.send(ack=1 + 2 * MSS, window=0)
    c.silence(50)
    c.send(ack=1 + 2 * MSS, window=5000)
    c.expect_full(2, first=2)
