# SPDX-License-Identifier: GPL-2.0-only
"""Checks that a resend policy, which times retransmissions, starts with the knowledge of earlier connections
to the same peer."""

import os
import socket
import struct
import threading
import time

from guest import counters, enter, expect, log_bytes, sysctl, unprivileged
from resends import RESEND, SENT, SETTING, TIMER, requests
from transfers import connect, load, path, records, serve

PLACES = "net.tcplearn.resend_places"


def _until_resend_ms(port):
    s = connect(port)
    path(15, "loss 100%")
    s.sendall(b"x" * 500)
    time.sleep(1)
    path(15)
    time.sleep(5)
    s.close()
    time.sleep(1)
    found = records(log_bytes(), RESEND)
    last = struct.unpack_from("<I", found[-1], 16)
    first = {}
    for r in found:
        if struct.unpack_from("<I", r, 16) == last:
            first.setdefault(r[24 + 16], struct.unpack_from("<Q", r, 8)[0] / 1000)
    return first[TIMER] - first[SENT]


def _learn(port):
    """Send requests to `port` without losing any, so that the rule for when TCP retransmits (resend policy)
    learns the RTT. After many losses it would start the next connection with the kernel's own wait before a
    retransmission."""
    s = connect(port)
    for _ in range(100):
        s.sendall(b"x" * 500)
        time.sleep(0.1)
    s.close()
    time.sleep(1)  # wait until the connection has ended


def check_the_next_connection_to_a_peer_waits_by_what_was_learned():
    load()
    enter("c0")
    serve(5144)
    expect(sysctl(PLACES) == "0", f"at first {sysctl(PLACES)!r}")
    file = "/proc/sys/net/tcplearn/resend_places"
    said = unprivileged(f"echo 1 2>/dev/null >{file}; cat {file}")
    expect(said == "0", f"after an unprivileged write {said!r}")
    sysctl("net.tcplearn.log", 1)
    sysctl(SETTING, "priced")
    path(15)
    _learn(5144)
    apart_ms = _until_resend_ms(5144)
    expect(counters()["resend_inherited"] == 0, "inherited while it was off")
    sysctl(PLACES, 1)
    fresh_ms = _until_resend_ms(5144)
    _learn(5144)
    next_ms = _until_resend_ms(5144)
    now = counters()["resend_inherited"]
    first_ms = min(apart_ms, fresh_ms)
    expect(first_ms > 200, f"a first connection sent again after {first_ms:.0f} ms")
    expect(next_ms < fresh_ms / 2, f"the next one after {next_ms:.0f} ms, the first after {fresh_ms:.0f}")
    expect(now == 2, f"{now} of two connections inherited")
    sysctl(PLACES, 0)
    sysctl(PLACES, 1)
    forgotten_ms = _until_resend_ms(5144)
    expect(forgotten_ms > 200, f"after {forgotten_ms:.0f} ms, having been made to forget")
    sysctl(SETTING, "stock")
    requests(5144, 5)
    expect(counters()["resend_inherited"] == now, "another policy inherited")


def _take(listener):
    while True:
        s, _ = listener.accept()
        while s.recv(1000):
            pass
        s.close()


def _to(address, port):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"tl-cubic")
    s.connect((address, port))
    s.sendall(b"x" * 100)
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
    s.close()


def check_places_of_resends_are_peers_and_limited():
    load()
    enter("c0")
    os.system("/bin/ip link set lo up")
    listener = socket.socket()
    listener.bind(("0.0.0.0", 5145))
    listener.listen(100)
    threading.Thread(target=_take, args=(listener,), daemon=True).start()
    sysctl(SETTING, "priced")
    sysctl(PLACES, 1)

    def known(addresses):
        before = counters()["resend_inherited"]
        for address in addresses:
            _to(address, 5145)
            time.sleep(0.02)
        return counters()["resend_inherited"] - before

    found = known(["127.9.9.1", "127.9.9.2", "127.9.8.1", "127.9.9.1"])
    expect(found == 1, f"{found} of these, not one, were known: a neighbour in the same /24 decides")
    many = [f"127.1.{k}.{j}" for k in range(200) for j in (1, 2, 3)]
    known(many)
    found = known(many)
    expect(found <= 256, f"{found} of {len(many)} peers were known")
    expect(known(["127.9.9.1"]) == 0, "a peer that was longest unused is still known")
