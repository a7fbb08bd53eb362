# SPDX-License-Identifier: GPL-2.0-only
"""Checks the sysctl net.tcplearn.resend, which selects a resend policy (it times retransmissions)."""

import itertools
import operator
import socket
import struct
import threading
import time

import failures
from guest import counters, enter, expect, log_bytes, nstat, sh, sysctl
from losses import states_end, takes_or_refuses
from packet_host import Host
from transfers import connect, load, path, records, serve, transfer
from wire import MSS

ACK, RESEND = 2, 10
SETTING = "net.tcplearn.resend"
SENT, TIMER, ACKED = range(3)


def check_a_setting_of_resends_is_taken_whole_or_refused():
    takes_or_refuses(
        SETTING,
        {"stock", "priced", "priced/spaced"},
        ("priced:price_us=30000", "priced/spaced:budget=10,refill=0.1"),
        ("nobody", "priced:", "priced:price_us=-1", "priced:threshold=0.1"),
    )


def requests(port, count, size=500):
    """Send `count` requests of `size` bytes, each after the ACK of the previous one, with 25 % loss after the
    handshake."""
    path(15)
    s = connect(port)
    path(15, "loss 25%")
    for _ in range(count):
        s.sendall(b"x" * size)
        time.sleep(0.2)
        while struct.unpack_from("I", s.getsockopt(6, 11, 192), 24)[0]:  # tcpi_unacked
            time.sleep(0.05)
    s.close()


def _waits(data):
    """Yield (event, wait in us, time in ms) for each record of a resend policy (rule for when TCP
    retransmits) in the log `data`. The wait is the time until the timer fires: after a retransmission the RTO
    that the module set, otherwise the time that the policy returned."""
    for r in records(data, RESEND):
        wait_us, event, rto_us = struct.unpack_from("<q8xB3xI", r, 24)
        yield event, rto_us or wait_us, struct.unpack_from("<Q", r, 8)[0] / 1000


def _resends():
    found = counters()
    return (
        (found["resend_probes"], found["resend_timeouts"]),
        (nstat("TcpExtTCPLossProbes"), nstat("TcpExtTCPTimeouts")),
    )


def _resends_since(before):
    return (tuple(map(operator.sub, now, then)) for now, then in zip(_resends(), before, strict=True))


def check_waits_of_resends_are_in_force():
    load()
    enter("c0")
    serve(5140)
    sysctl("net.tcplearn.log", 1)
    for policy in ("priced", "priced/spaced", "stock"):
        sysctl(SETTING, policy)
        before = _resends()
        requests(5140, 150)
        time.sleep(5)  # wait until the connection has ended
        ours, kernels = _resends_since(before)
        expect(ours == kernels and min(ours) > 3, f"{policy}: probes and timeouts {ours} of {kernels}")
        _in_time(policy, list(_waits(log_bytes())))


def check_a_probe_beyond_the_congestion_window_is_seen():
    load()
    enter("c0")
    serve(5144)
    path(10, "loss 0.5%")
    probes = timeouts = 0
    policies = ("priced", "priced/spaced", "stock")
    for policy in policies:
        sysctl(SETTING, policy)
        before = _resends()
        s = connect(5144)
        sending = threading.Thread(target=s.sendall, args=(b"x" * 12_000_000,))
        sending.start()
        for delay_ms in (150, 10) * 5:
            time.sleep(1)
            path(delay_ms, "loss 0.5%")
        sending.join()
        s.shutdown(socket.SHUT_WR)
        s.recv(1)  # wait until all data has arrived
        s.close()
        ours, kernels = _resends_since(before)
        expect(ours == kernels, f"{policy}: probes and timeouts {ours} of {kernels}")
        probes, timeouts = probes + kernels[0], timeouts + kernels[1]
    expect(probes > len(policies) and 2 * timeouts < probes, f"{timeouts} timeouts after {probes} probes")


def check_many_without_probes_have_the_kernels_rto():
    load()
    enter("c0")
    serve(5145)
    sysctl("net.ipv4.tcp_early_retrans", 0)
    sysctl("net.tcplearn.log", 1)
    sysctl(SETTING, "priced")
    try:
        transfer(5145, 6_000_000)
    finally:  # restore, because the next check uses the same namespace
        sysctl("net.ipv4.tcp_early_retrans", 3)
    rtos = [struct.unpack_from("<II", r, 24 + 24) for r in records(log_bytes(), ACK)]
    shorter = sum(rto_us < stock_us for stock_us, rto_us in rtos)
    expect(10 * shorter < len(rtos) > 100, f"{shorter} of {len(rtos)} RTOs are shorter than the kernel's")


def _in_time(policy, waits):
    found = 0
    for (_, wait_us, at_ms), (event, _, then_ms) in itertools.pairwise(waits):
        if event != TIMER:
            continue
        found += 1
        late_ms = then_ms - at_ms - wait_us / 1000
        expect(-4.1 < late_ms < 13 + wait_us / 8000, f"{policy}: {late_ms:.1f} ms late of {wait_us}")
    expect(found > 5, f"{policy}: {found} resends")


def check_first_waits_of_resends_are_not_beyond_stocks():
    load()
    enter("c0")
    serve(5141)
    path(15, "10ms distribution pareto loss 3%")
    sysctl("net.tcplearn.log", 1)
    sysctl(SETTING, "priced/spaced")
    transfer(5141, 1_500_000)
    beyond = []
    for r in records(log_bytes(), ACK):
        stock_us, rto_us = struct.unpack_from("<II", r, 24 + 24)
        backoff = r[84]
        if rto_us > stock_us << backoff and r[85] == 0:
            beyond.append((stock_us, rto_us, backoff))
    expect(not beyond, f"{len(beyond)} RTOs beyond stock's: {beyond[:3]}")


def _arrived(c, within_s=0.005):
    """Return the number of segments that the peer receives until none comes for `within_s` seconds."""
    count = 0
    while c.wire.packet(within_s) is not None:
        count += 1
    return count


def check_segments_sent_during_recovery_are_told_once():
    load()
    host = Host("cubic")  # with tl-cubic as default, the namespace would keep the module loaded
    sysctl(SETTING, "priced")
    sysctl("net.tcplearn.log", 1)
    congestion = (socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"tl-cubic")
    c = host.client(rtt_ms=20, window=60_000, set_=(congestion,))
    c.write(20 * MSS)
    c.expect_full(10)
    c.wait(20)
    for k in range(1, 4):
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)], window=60_000)
    _arrived(c)  # limited transmit, and the fast retransmission
    before = sum(event == SENT for event, *_ in _waits(log_bytes()))
    left = []
    for k in range(4, 10):
        c.send(ack=1, sack=[(1 + MSS, 1 + (k + 1) * MSS)], window=60_000)
        left.append(_arrived(c))
    told = sum(event == SENT for event, *_ in _waits(log_bytes())) - before
    c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.socket.close()
    once = sum(min(count, 2) for count in left)  # the policy is told of two segments at most
    expect(told == once > 2, f"told of {told} segments, when {left} were sent")


def check_a_state_of_resends_goes_with_its_connection():
    states_end(SETTING, "priced", "tcplearn_resend", 5142)


def check_resends_of_a_connection_without_memory():
    sh(f"insmod {failures.FAILING}")
    serve(5143)
    enter("c0")
    sysctl(SETTING, "priced")
    failures.fails_next(2)  # the first allocation is the connection's own state
    transfer(5143, 50_000)
    now = counters()
    expect(now["connections"] == 1 and now["fallbacks"] == 1 and not now["resend_first"], f"{now}")
