# SPDX-License-Identifier: GPL-2.0-only
"""Checks tcplearn's kernel module in a virtual machine. The namespace c0 sends to c1 over an RTT of 30 ms."""

import os
import socket
import struct
import sys
import time
from pathlib import Path

import bases
import failures
import losses
import memory
import resend_places
import resends
from guest import (
    DEBUG,
    counters,
    enter,
    expect,
    in_namespace,
    log_bytes,
    log_folder,
    nstat,
    run_all,
    sh,
    sysctl,
    unprivileged,
)
from transfers import SERVER, acks, connect, load, path, records, serve, transfer, use

MSG_FASTOPEN, TCP_RTO_MIN_US = 0x20000000, 45
OPEN_RECORD = 1


def check_rto_min_of_a_route():
    load()
    enter("c0")
    serve(5101)
    sh("/bin/ip -n c0 route add 10.0.0.2/32 dev r0 rto_min 1s")
    try:
        for estimator in ("tracking", "last", "jacobson", "eifel"):
            use(estimator)
            transfer(5101, 100_000)
            # eifel subtracts the oldest segment's age, here less than 100 ms, from its RTO
            least = min(rto for *_, rto in acks(log_bytes()))
            expect(
                least >= (900_000 if estimator == "eifel" else 1_030_000), f"{estimator}: RTO of {least} us"
            )
    finally:
        sh("/bin/ip -n c0 route del 10.0.0.2/32")
    use("tracking")
    transfer(5101, 100_000)
    least = min(rto for *_, rto in acks(log_bytes()))
    expect(least < 200_000, f"without rto_min the default holds tracking back: {least} us")


def _least_rto_us(estimator, **options):
    use(estimator)
    transfer(5110, 60_000, **options)
    return min(rto for *_, rto in acks(log_bytes()))


def check_rto_min_and_max_of_sysctl_and_socket():
    """Check that RTOs respect tcp_rto_min_us (Linux 6.11), tcp_rto_max_ms and TCP_RTO_MIN_US (6.15), where
    these exist."""
    load()
    enter("c0")
    serve(5110)
    if Path("/proc/sys/net/ipv4/tcp_rto_min_us").exists():
        sysctl("net.ipv4.tcp_rto_min_us", 1_000_000)
        for estimator in ("tracking", "last", "linux"):
            least = _least_rto_us(estimator)
            expect(least >= 1_030_000, f"sysctl, {estimator}: RTO of {least} us")
        sysctl("net.ipv4.tcp_rto_min_us", 200_000)
        least = _least_rto_us("tracking")
        expect(least < 200_000, f"the default holds tracking back: {least} us")
    if Path("/proc/sys/net/ipv4/tcp_rto_max_ms").exists():
        least = _least_rto_us("tracking", option=(TCP_RTO_MIN_US, 100_000))  # at most 200 ms
        expect(least >= 130_000, f"socket: RTO of {least} us")
        sysctl("net.ipv4.tcp_rto_max_ms", 1000)
        path(1200)
        use("jacobson")
        try:
            transfer(5110, 20_000)
        finally:
            sysctl("net.ipv4.tcp_rto_max_ms", 120_000)
        most = max(rto for rtt, _, _, rto in acks(log_bytes()) if rtt >= 0)
        expect(most == 1_000_000, f"with tcp_rto_max_ms of 1000 an RTO of {most} us")


def _window(s):
    return struct.unpack_from("<II", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192), 8 + 4 * 17)


def check_a_change_to_us_midway_leaves_the_windows():
    load()
    enter("c0")
    serve(5130)
    use("linux")
    sysctl("net.tcplearn.startup", "linux")  # always 10 segments
    s = connect(5130, b"cubic")
    s.sendall(b"x" * 100_000)
    time.sleep(1)
    before = _window(s)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"tl-cubic")
    expect(before[1] > 10 and _window(s) == before, f"windows {before} became {_window(s)}")
    expect(counters()["startups"] == 0, "a startup was decided")
    s.close()


def check_an_unprivileged_namespace_sets_nothing_of_ours():
    load()
    for name, value in (
        ("estimator", "last"),
        ("startup", "standard"),
        ("log", "1"),
        ("set_srtt", "1"),
        ("measure", "1"),
    ):
        file = f"/proc/sys/net/tcplearn/{name}"
        said = unprivileged(f"echo {value} 2>/dev/null >{file}; cat {file}")
        expect(said and said != value, f"{name} is {said!r} after an unprivileged write of {value}")
    expect(not list(DEBUG.glob("net-*")), "a log was made")


def check_an_unprivileged_user_reads_no_counters_and_no_log():
    load()
    enter("c0")
    use("linux")
    DEBUG.parent.chmod(0o755)  # as if the administrator had made debugfs accessible
    try:
        for file in ("counters", f"{log_folder().name}/log0"):
            said = unprivileged(f"cat {DEBUG}/{file} 2>&1")
            expect("Permission denied" in said, f"{file}: {said[:60]}")
        said = unprivileged("mkdir /tmp/d; mount -t debugfs none /tmp/d 2>&1 && ls /tmp/d")
        expect("denied" in said or "not permitted" in said, f"mounts debugfs: {said[:60]}")
    finally:
        DEBUG.parent.chmod(0o700)


def check_an_unprivileged_namespace_that_chooses_us_has_the_base():
    load()
    before = counters()
    said = unprivileged(
        "/bin/ip link set lo up; echo tl-cubic >/proc/sys/net/ipv4/tcp_congestion_control; "
        "/scenario/transfer sink 5001 >/dev/null 2>&1 & sleep 0.2; "
        "/scenario/transfer send 127.0.0.1 5001 30000 tl-cubic; kill $!"
    )
    expect("bytes_acked 3000" in said, f"nothing was sent: {said[-200:]}")
    expect(counters() == before, "it had a state, or was counted")
    time.sleep(3)  # a refused choice would keep a reference to the module forever and prevent unloading
    sh("rmmod tcplearn")
    load()


def _references(module):
    lines = Path("/proc/modules").read_text().splitlines()
    return next(int(line.split()[2]) for line in lines if line.startswith(module + " "))


def check_zz_a_refused_vegas_keeps_a_reference_with_or_without_us():
    """Check that the kernel leaks as many module references when it refuses tl-vegas as an unprivileged
    user's default as when it refuses vegas."""
    lost = []
    for module, name in (("tcp_vegas", "vegas"), ("tcplearn", "tl-vegas")):
        if module == "tcplearn":
            load()
        before = _references(module)
        unprivileged(f"echo {name} >/proc/sys/net/ipv4/tcp_congestion_control")
        lost.append(_references(module) - before)
    expect(lost[0] == lost[1], f"references lost: {lost[0]} of vegas, {lost[1]} of tl-vegas")


def check_the_log_says_its_namespace_and_is_its_own():
    load()
    serve(5102)
    in_namespace("c1", lambda: use("linux"))()
    enter("c0")
    use("linux")
    transfer(5102, 20_000)
    inode = Path("/proc/self/ns/net").stat().st_ino
    opened = records(log_bytes(), OPEN_RECORD)
    expect(len(opened) == 1, f"{len(opened)} open records")
    expect(struct.unpack_from("<I", opened[0], 24 + 104)[0] == inode, "another namespace in the record")
    expect(len(list(DEBUG.glob("net-*"))) == 2, "not a folder for each namespace")


def check_timeouts_are_counted_each_time():
    load()
    enter("c0")
    serve(5103)
    use("jacobson", log=0)
    sysctl("net.ipv4.tcp_early_retrans", 0)
    before, fired = nstat("TcpExtTCPTimeouts"), counters()["timeouts"]
    s = connect(5103)
    s.setblocking(False)
    s.send(b"x" * 4_000_000)  # fills the socket buffer, which the path transfers in half a second
    path(more="loss 100%")
    time.sleep(4)
    path()
    time.sleep(8)
    s.close()
    kernel, ours = nstat("TcpExtTCPTimeouts") - before, counters()["timeouts"] - fired
    expect(kernel >= 3, f"only {kernel} timeouts")
    expect(kernel == ours, f"the kernel counts {kernel} timeouts, the module {ours}")


def check_first_sample_of_a_fast_open_server():
    load()
    path(150)
    path(150, ns="c1", device="l0")
    in_namespace("c1", lambda: sysctl("net.ipv4.tcp_fastopen", 3))()
    in_namespace("c1", lambda: use("linux"))()
    serve(5104, answer=4000, fast_open=True, congestion="tl-cubic")
    enter("c0")
    sysctl("net.ipv4.tcp_fastopen", 3)
    for _ in range(2):  # the first connection gets the cookie
        s = socket.socket()
        s.sendto(b"x", MSG_FASTOPEN, (SERVER, 5104))
        got = 0
        while got < 4000:
            got += len(s.recv(4000))
        s.shutdown(socket.SHUT_WR)
        s.recv(1)
        s.close()
        time.sleep(1)
    expect(nstat("TcpExtTCPFastOpenActive") == 1, "no data was accepted in the SYN")
    enter("c1")
    seen = acks(log_bytes())
    expect(len(seen) > 2, f"{len(seen)} records")
    for rtt, *_ in seen:
        expect(rtt < 0 or 299_000 < rtt < 330_000, f"a sample of {rtt} us on a path of 300 ms")


def check_linux_is_as_stock_from_the_handshake_on():
    load()
    path(150)
    serve(5105)
    enter("c0")
    use("linux")
    transfer(5105, 60_000)
    seen = [a for a in acks(log_bytes()) if a[0] >= 0]
    expect(len(seen) > 5, f"{len(seen)} samples")
    for rtt, _, stock, rto in seen:
        expect(abs(stock - rto) <= 4000, f"after {rtt} us stock's RTO is {stock} us, that of linux {rto}")


def check_pacing_is_no_other_timer():
    load()
    serve(5107)
    enter("c0")
    sysctl("net.ipv4.tcp_early_retrans", 0)
    use("linux", log=0)
    before = counters()
    transfer(5107, 300_000, pacing=250_000)
    now = counters()
    armed = now["armed"] - before["armed"] - (now["armed_late"] - before["armed_late"])
    ours = now["armed_ours"] - before["armed_ours"] - (now["armed_late_ours"] - before["armed_late_ours"])
    expect(armed > 30, f"armed {armed} times")
    expect(ours >= 0.99 * armed, f"{ours} of {armed} timers were ours")


def check_nothing_is_left():
    load()
    serve(5108)
    enter("c0")
    use("tracking")
    transfer(5108, 50_000)
    s = connect(5108)
    s.sendall(b"x" * 50_000)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")  # with data in flight
    s.close()
    time.sleep(3)
    sh("rmmod tcplearn")
    expect(not DEBUG.exists(), "the folder in debugfs remains")
    expect(not Path("/proc/sys/net/tcplearn").exists(), "the settings remain")
    caches = [line for line in Path("/proc/slabinfo").read_text().splitlines() if line.startswith("tcplearn")]
    expect(not caches, f"caches remain: {caches}")
    load()


CHECKS = sorted(
    (name.removeprefix("check_"), value)
    for part in (sys.modules[__name__], bases, failures, losses, memory, resends, resend_places)
    for name, value in vars(part).items()
    if name.startswith("check_")
)


SHIPPED = {"tcp_early_retrans": 3, "tcp_fastopen": 1}  # the kernel's defaults of settings that checks change


def as_shipped(ns):
    settings = " ".join(f"net.ipv4.{name}={value}" for name, value in SHIPPED.items())
    sh(f"/bin/ip netns exec {ns} sysctl -qw {settings}")


def fresh(function):
    """Return a function that runs the check `function` with paths and settings as at first, and then ends the
    check's processes and unloads the module."""

    def run():
        os.setpgrp()
        path()
        path(ns="c1", device="l0")
        as_shipped("c0")
        as_shipped("c1")
        try:
            function()
        finally:
            signal_rest()
            sh("rmmod tcplearn", check=False)

    return run


def signal_rest():
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    for _ in range(60):  # wait for connections to end; one in TIME_WAIT holds no reference to the module
        if "tcplearn " not in Path("/proc/modules").read_text() or _references("tcplearn") == 0:
            return
        time.sleep(0.5)


def debugfs_off():
    """Check that without debugfs the module works, and refuses to switch its log on."""
    load()
    serve(5109)
    enter("c0")
    sysctl("net.tcplearn.estimator", "tracking")
    transfer(5109, 50_000)
    memory.write_sizes("/out/memory")
    try:
        sysctl("net.tcplearn.log", 1)
    except OSError:
        return
    raise AssertionError("the log is on without debugfs")


if __name__ == "__main__":
    chosen = CHECKS
    if "debugfs=off" in Path("/proc/cmdline").read_text():
        chosen = [("loads_without_debugfs", debugfs_off)]
    elif only := os.environ.get("ONLY"):
        chosen = [c for c in CHECKS if any(part in c[0] for part in only.split(","))]
    run_all([(name, fresh(function)) for name, function in chosen], "/out/results")
    sys.exit(0)
