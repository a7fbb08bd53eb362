# SPDX-License-Identifier: GPL-2.0-only
"""Measures the initial windows that each startup policy sets after lost SYNs or SYN-ACKs, and writes JSON."""

import json
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path

from guest import MODULE, enter, in_namespace, log_bytes, sh, sysctl
from handshakes import lose
from transfers import records

SERVER, PORT, SEGMENTS = "10.0.1.2", 5301, 30
STARTUP_RECORD = 5
ETH_P_ALL = 3
TH_SYN = 0x02
FEW = os.environ.get("FEW")  # if set, only the policies in WHOLE are measured in every case
WHOLE = ("stock", "tsl/3-16", "tsl-feedback")


def info(s):
    raw = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    ssthresh, cwnd = struct.unpack_from("<II", raw, 8 + 4 * 17)
    return {"cwnd": cwnd, "ssthresh": ssthresh}


def watch(device):
    """Record the TCP segments that enter the router (namespace c1) through `device`. Return a function that
    ends the recording and returns the segments."""
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.bind((device, 0))
    s.settimeout(0.05)
    seen, going = [], threading.Event()

    def read():
        while not going.is_set():
            try:
                frame, address = s.recvfrom(2000)
            except TimeoutError:
                continue
            if address[2] == socket.PACKET_OUTGOING or frame[12:14] != b"\x08\x00" or frame[23] != 6:
                continue
            ip = 4 * (frame[14] & 15)
            tcp = 14 + ip
            payload = struct.unpack_from("!H", frame, 16)[0] - ip - 4 * (frame[tcp + 12] >> 4)
            seen.append((time.monotonic(), frame[tcp + 13], payload))
        s.close()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()

    def stop():
        time.sleep(0.1)
        going.set()
        thread.join()
        return seen

    return stop


def sends(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    s.sendall(b"x" * 1448 * SEGMENTS)
    seen = info(s)
    s.shutdown(socket.SHUT_WR)
    while s.recv(1 << 16):
        pass
    s.close()
    return seen


def takes(s):
    while s.recv(1 << 16):
        pass
    s.close()
    return {}


def listens(congestion, then):
    def run():
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion)
        listener.bind(("0.0.0.0", PORT))
        listener.listen(10)
        return then(listener.accept()[0])

    return run


def connects(congestion, then):
    def run():
        s = socket.socket()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion)
        s.connect((SERVER, PORT))
        return then(s)

    return run


def settings(policy, timestamps):
    sysctl("net.tcplearn.log", 0)
    sysctl("net.tcplearn.startup", policy)
    sysctl("net.tcplearn.log", 1)
    sysctl("net.ipv4.tcp_timestamps", int(timestamps))


def log_of(namespace):
    def read():
        found = records(log_bytes(), STARTUP_RECORD)
        if len(found) != 1:
            raise RuntimeError(f"{len(found)} startup records in the log")
        policy, *numbers = struct.unpack_from("<32sIIIIIBBBB", found[0], 24)
        names = (
            "took_us",
            "iw",
            "ssthresh",
            "whole_iw",
            "whole_ssthresh",
            "loss",
            "passive",
            "resends",
            "retransmitted",
        )
        return {"policy": policy.rstrip(b"\0").decode(), **dict(zip(names, numbers, strict=True))}

    return in_namespace(namespace, read)()


def connection(policy, side, lost="", count=1, timestamps=True, fresh=True):
    """Return the size of the first flight, the log record, TCP_INFO and more of a connection on which `side`
    ("active" or "passive") sends. The router drops `count` packets of the kind `lost` ("syn" or "syn-ack").
    With `fresh`, the kernel knows nothing of the destination."""
    sender = "c0" if side == "active" else "c2"
    if fresh:
        in_namespace(sender, lambda: settings(policy, timestamps))()
    lose("c1", lost, 1, count)
    stop = watch("l0" if side == "active" else "r1")
    ours, plain = b"tl-cubic", b"cubic"
    server = in_namespace("c2", listens(*((plain, takes) if side == "active" else (ours, sends))))
    time.sleep(0.3)
    client = in_namespace("c0", connects(*((ours, sends) if side == "active" else (plain, takes))))
    said = client(), server()
    frames = stop()
    data = [t for t, flags, payload in frames if payload > 0]
    flight = sum(t < data[0] + 0.02 for t in data)  # the first ACK arrives after 30 ms
    lose("c1")
    return {
        "case": {"policy": policy, "side": side, "lost": lost, "count": count, "timestamps": timestamps},
        "fresh": fresh,
        "at_us": round(1e6 * time.monotonic()),
        "log": log_of(sender),
        "info": said[0] if side == "active" else said[1],
        "first_flight": flight,
        "handshake_sent": sum(bool(flags & TH_SYN) for _, flags, _ in frames),
    }


def main():
    sh(f"insmod {MODULE} log_kb=1024")
    enter("c1")
    policies = Path("/proc/sys/net/tcplearn/available_startups").read_text().split()
    every = [(p, s, x) for p in policies for s in ("active", "passive") for x in ("", "syn", "syn-ack")]
    cases = [case for k, case in enumerate(every) if not FEW or case[0] in WHOLE or (k // 6 + k) % 6 == 0]
    with Path("/out/connections").open("w") as out:

        def add(*what, **more):
            print(json.dumps(connection(*what, **more)), file=out, flush=True)

        for what in cases:
            add(*what)
        for side, lost in (("active", "syn"), ("active", "syn-ack"), ("passive", "syn-ack")):
            add("tsl/3-16", side, lost, timestamps=False)
            add("tsl/3-16", side, lost, count=2)
            add("stock", side, lost, count=2)
            if not FEW:
                add("linux", side, lost, count=2)
        # a destination becomes known, loses many handshakes, is forgotten, and becomes known again
        whole, bad = [""] * 4, ["syn-ack"] * 5  # after the fifth, half of the handshakes have lost a packet
        for k, lost in enumerate([*whole, *bad, "pause", "syn-ack", "", "", "", "syn-ack"]):
            if lost == "pause":
                time.sleep(120)
            else:
                add("tsl-feedback", "passive", lost, fresh=k == 0)


if __name__ == "__main__":
    sys.exit(main())
