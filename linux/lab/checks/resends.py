# SPDX-License-Identifier: GPL-2.0-only
"""In the guest: waits of a resend policy are in force, the first never beyond stock's; its state."""

import itertools
import operator
import socket
import struct
import threading
import time

import failures
from guest import counters, enter, expect, log_bytes, nstat, sh, sysctl, unprivileged
from losses import states
from transfers import connect, load, path, records, serve, transfer

ACK, RESEND = 2, 10
SETTING = "net.tcplearn.resend"
SENT, TIMER, ACKED = range(3)
SLAB = "tcplearn_resend"


def check_a_setting_of_resends_is_taken_whole_or_refused():
    load()
    expect(sysctl(SETTING) == "none", f"at first {sysctl(SETTING)!r}")
    names = sysctl("net.tcplearn.available_resends").split()
    expect(names[0] == "none" and {"stock", "priced", "priced/spaced"} < set(names), f"there are {names}")
    for good in (*names[1:], "priced:price_us=30000", "priced/spaced:budget=10,refill=0.1"):
        sysctl(SETTING, good)
        expect(sysctl(SETTING) == good, f"{good} is shown as {sysctl(SETTING)!r}")
    for bad in ("nobody", "priced:", "priced:price_us=-1", "priced:threshold=0.1"):
        try:
            sysctl(SETTING, bad)
        except OSError:
            pass
        else:
            expect(False, f"{bad!r} was taken")
        expect(sysctl(SETTING).startswith("priced/spaced:"), f"after {bad!r}: {sysctl(SETTING)!r}")
    sysctl(SETTING, "none")
    file = "/proc/sys/net/tcplearn/resend"
    said = unprivileged(f"echo priced 2>/dev/null >{file}; cat {file}")
    expect(said == "none", f"after an unprivileged write {said!r}")


def requests(port, count, size=500):
    """One at a time, each acknowledged before the next. The handshake's timeouts would be the kernel's."""
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
    """Of each record: event, wait_us, probe, milliseconds of its time."""
    for r in records(data, RESEND):
        wait_us, _, _, event, _, probe = struct.unpack_from("<qiIBBB", r, 24)
        yield event, wait_us, probe, struct.unpack_from("<Q", r, 8)[0] / 1000


def _resends():
    """Probes and timeouts: after which a wait was written, and the kernel's own counts."""
    found = counters()
    return (
        (found["resend_probes"], found["resend_timeouts"]),
        (nstat("TcpExtTCPLossProbes"), nstat("TcpExtTCPTimeouts")),
    )


def _resends_since(before):
    return (tuple(map(operator.sub, now, then)) for now, then in zip(_resends(), before, strict=True))


def check_waits_of_resends_are_in_force():
    """Each resend by the timer comes when the wait before it has passed, to the timer wheel's eighth."""
    load()
    enter("c0")
    serve(5140)
    sysctl("net.tcplearn.log", 1)
    for policy in ("priced", "priced/spaced", "stock"):
        sysctl(SETTING, policy)
        before = _resends()
        requests(5140, 150)
        time.sleep(5)  # its end too
        ours, kernels = _resends_since(before)
        expect(ours == kernels and min(ours) > 3, f"{policy}: probes and timeouts {ours} of {kernels}")
        _in_time(policy, list(_waits(log_bytes())))


def check_a_probe_beyond_the_congestion_window_is_seen():
    """A probe sends a new segment whatever the window says: while the RTT rises under a bulk transfer."""
    load()
    enter("c0")
    serve(5144)
    path(10, "loss 0.5%")
    probes = timeouts = 0
    for policy in ("priced", "priced/spaced", "stock"):
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
        s.recv(1)  # all of it is there
        s.close()
        ours, kernels = _resends_since(before)
        expect(ours == kernels, f"{policy}: probes and timeouts {ours} of {kernels}")
        probes, timeouts = probes + kernels[0], timeouts + kernels[1]
    expect(probes >= 4 and 2 * timeouts < probes, f"{timeouts} timeouts after {probes} probes")


def check_many_without_probes_have_the_kernels_rto():
    load()
    enter("c0")
    serve(5145)
    sysctl("net.ipv4.tcp_early_retrans", 0)
    sysctl("net.tcplearn.log", 1)
    sysctl(SETTING, "priced")
    try:
        transfer(5145, 1_500_000)
    finally:  # the next check's namespace is this one
        sysctl("net.ipv4.tcp_early_retrans", 3)
    rtos = [struct.unpack_from("<II", r, 24 + 24) for r in records(log_bytes(), ACK)]
    shorter = sum(rto_us < stock_us for stock_us, rto_us in rtos)
    expect(10 * shorter < len(rtos) > 100, f"{shorter} of {len(rtos)} RTOs are shorter than the kernel's")


def _in_time(policy, waits):
    found = 0
    for (_, wait_us, _, at_ms), (event, _, _, then_ms) in itertools.pairwise(waits):
        if event != TIMER:
            continue
        found += 1
        late_ms = then_ms - at_ms - wait_us / 1000
        # half of a wait is written at a timeout, in whole jiffies
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


def check_a_state_of_resends_goes_with_its_connection():
    load()
    enter("c0")
    serve(5142)
    sysctl(SETTING, "priced")
    before = states(SLAB)
    if before is None:
        return
    kept = [connect(5142) for _ in range(100)]
    for s in kept:
        s.sendall(b"x" * 100)
    expect(states(SLAB) - before >= 100, f"{states(SLAB) - before} states of 100 connections")
    for i, s in enumerate(kept):
        if i % 2:
            s.close()
        else:
            s.setsockopt(6, 13, b"cubic")
    sh(f"sleep 1; for f in /sys/kernel/slab/{SLAB}/shrink; do [ ! -e $f ] || echo 1 >$f; done", check=False)
    expect(states(SLAB) - before < 50, f"{states(SLAB) - before} states stay")


def check_resends_of_a_connection_without_memory():
    sh(f"insmod {failures.FAILING}")
    serve(5143)
    enter("c0")
    sysctl(SETTING, "priced")
    failures.fails_next(2)  # the first is the connection's own
    transfer(5143, 50_000)
    now = counters()
    expect(now["connections"] == 1 and now["fallbacks"] == 1 and not now["resend_first"], f"{now}")
