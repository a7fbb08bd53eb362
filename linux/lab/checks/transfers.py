# SPDX-License-Identifier: GPL-2.0-only
"""Makes transfers from c0 (10.0.0.1) to c1 (10.0.0.2), and reads what the kernel module logged about them."""

import os
import socket
import struct
import threading
import time

from guest import MODULE, enter, sh, sysctl

SERVER = "10.0.0.2"
TCP_FASTOPEN, SO_MAX_PACING_RATE = 23, 47
ACK_RECORD = 2


def path(delay_ms=15, more="", ns="c0", device="r0"):
    netem = f"netem limit 10000 delay {delay_ms}ms {more}"
    sh(f"/bin/ip netns exec {ns} tc qdisc change dev {device} root {netem}")


def load(options=""):
    sh(f"insmod {MODULE} {options}")


def use(estimator, log=1):
    sysctl("net.tcplearn.estimator", estimator)
    sysctl("net.tcplearn.log", log)


def serve(port, answer=0, fast_open=False, congestion=None):
    """Start a server in the namespace c1. It reads until the client closes, and sends `answer` bytes after
    the client's first byte."""
    if os.fork():
        time.sleep(0.05)
        return
    enter("c1")
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if congestion:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    if fast_open:
        listener.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 16)
    listener.bind(("0.0.0.0", port))
    listener.listen(1000)
    kept = []
    while True:
        s, _ = listener.accept()
        kept.append(s)
        threading.Thread(target=_take, args=(s, answer), daemon=True).start()


def _take(s, answer):
    if answer:
        s.recv(1)
        s.sendall(b"x" * answer)
    while s.recv(1 << 16):
        pass
    s.close()


def connect(port, congestion=b"tl-cubic"):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion)
    s.connect((SERVER, port))
    return s


def transfer(port, size, congestion=b"tl-cubic", pacing=0, option=None):
    s = connect(port, congestion)
    if option:
        s.setsockopt(socket.IPPROTO_TCP, *option)
    if pacing:
        s.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, pacing)
    s.sendall(b"x" * size)
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
    s.close()


def records(data, kind):
    """Return the records of type `kind` (None: all) in the module's log `data`; see log_format.h."""
    found, at = [], 0
    while at + 24 <= len(data):
        magic, size, record_type = struct.unpack_from("<4sHB", data, at)
        if magic != b"TLG1":
            raise AssertionError(f"no record at byte {at} of the log")
        if kind in (None, record_type):
            found.append(data[at : at + size])
        at += size
    return found


def acks(data):
    """Return (RTT sample, RTT sample of the congestion control, the kernel's RTO, the armed RTO), all in us,
    of each ACK in the module's log `data`."""
    out = []
    for r in records(data, ACK_RECORD):
        rtt, last, _, _, stock, rto = struct.unpack_from("<iiqqII", r, 24)
        out.append((rtt, last, stock, rto))
    return out
