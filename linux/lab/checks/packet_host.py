# SPDX-License-Identifier: GPL-2.0-only
"""Sets up the kernel's end of a packet script, which exchanges single packets with the kernel."""

import ctypes
import os
import socket

from guest import sh, sysctl
from wire import ACK, KERNEL4, KERNEL6, MSS, SCRIPT4, SCRIPT6, SYN, Connection, Wire

CLONE_NEWNET = 0x40000000
KERNEL = tuple(int(word) for word in os.uname().release.split(".")[:2])

SCRIPTS = []  # (name, function, whether its result depends on the value of the RTO) of each packet script


def script(rto=False):
    """Return a decorator that adds a function to SCRIPTS. `rto`: its result depends on the RTO's value."""

    def add(function):
        SCRIPTS.append((function.__name__, function, rto))
        return function

    return add


class Host:
    """Represents the kernel's end of a packet script. With `early`, a segment may come sooner than the script
    expects it, but not later: a resend policy may retransmit before the kernel's RTO."""

    def __init__(self, congestion, estimator="", resend="", early=False):
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        self.congestion, self.estimator, self.resend, self.listeners = congestion, estimator, resend, []
        self.wire = Wire(early)
        for command in (
            "link set lo up",
            f"addr add {KERNEL4}/24 dev tun0",
            f"addr add {KERNEL6}/64 dev tun0 nodad",
            "link set tun0 up",
        ):
            sh(f"/bin/ip {command}")
        sysctl("net.ipv4.tcp_no_metrics_save", 1)
        if KERNEL >= (6, 5):  # the SYN timeout doubles from the first one on, as in older kernels
            sysctl("net.ipv4.tcp_syn_linear_timeouts", 0)
        if congestion in ("reno", "cubic", "tl-reno", "tl-cubic"):
            sysctl("net.ipv4.tcp_congestion_control", congestion)
        for setting, value in (("estimator", estimator), ("resend", resend)):
            if value:
                sysctl(f"net.tcplearn.{setting}", value)

    def no_probes(self):
        sysctl("net.ipv4.tcp_early_retrans", 0)

    def opened(self, six=False, port=80):
        s = socket.socket(socket.AF_INET6 if six else socket.AF_INET)
        s.setblocking(False)
        s.bind((KERNEL6 if six else KERNEL4, 0))
        c = Connection(self.wire, s, s.getsockname()[1], port, six)
        return c

    def client(self, six=False, rtt_ms=0, timestamps=False, window=10_000, set_=()):
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
        self.listeners.append(s)  # keep a reference, or Python would close it
        return s

    def server(self):
        listener = self.listener()
        c = Connection(self.wire, None, 80, 4000)
        c.send(SYN, seq=0, ack=0, mss=MSS)
        c.expect(SYN | ACK, seq=0, ack=1)
        c.send(ACK)
        c.socket, _ = listener.accept()
        c.socket.setblocking(False)
        return c
