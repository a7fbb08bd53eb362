# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sends requests of one segment that wait in a queue of this host behind another connection's data:

python host_queue.py sink PORT BYTES                     # "ready"; answers each BYTES with one byte
python host_queue.py ask ADDRESS CALM QUEUED COUNT       # JSON: of each of COUNT connections, what happened

Each connection sends CALM requests of 100 bytes, and then QUEUED requests, every twentieth of which is
sent just after 40 kB on each of two other connections."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from pathlib import Path

REQUEST, BURST = 100, 40_000
PORTS = {REQUEST: 7001, BURST: 7002}
CWND_AT, RTO_AT = 80, 8  # of struct tcp_info
PAUSE_S = 0.02
OTHERS = 2
EVERY = 20


def whole(sock: socket.socket, size: int) -> bool:
    while size:
        part = sock.recv(size)
        if not part:
            return False
        size -= len(part)
    return True


def answer(sock: socket.socket, size: int) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while whole(sock, size):
        sock.sendall(b"a")


def sink(port: int, size: int) -> None:
    with socket.create_server(("0.0.0.0", port)) as server:
        while True:
            threading.Thread(target=answer, args=(server.accept()[0], size), daemon=True).start()


def timeouts() -> int:
    names, values = (line.split() for line in Path("/proc/self/net/netstat").read_text().splitlines()[:2])
    return int(values[names.index("TCPTimeouts")])


def connection(address: str, size: int) -> socket.socket:
    sock = socket.create_connection((address, PORTS[size]))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def ask(address: str, calm: int, queued: int) -> dict[str, object]:
    others = [connection(address, BURST) for _ in range(OTHERS)]
    with connection(address, REQUEST) as sock:

        def field(at: int) -> int:
            info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
            return int(struct.unpack_from("=I", info, at)[0])

        before, rtos_ms = timeouts(), []
        for k in range(-calm, queued):
            time.sleep(PAUSE_S)
            burst = others if k >= 0 and k % EVERY == 0 else []
            for other in burst:
                other.sendall(bytes(BURST))
            sock.sendall(bytes(REQUEST))
            rtos_ms.append(field(RTO_AT) / 1000)
            assert whole(sock, 1) and all(whole(other, 1) for other in burst)
        return {"timeouts": timeouts() - before, "cwnd": field(CWND_AT), "rto_ms": rtos_ms}


if __name__ == "__main__":
    if sys.argv[1] == "sink":
        for size, port in PORTS.items():
            threading.Thread(target=sink, args=(port, size), daemon=True).start()
        time.sleep(0.2)
        print("ready", flush=True)
        threading.Event().wait()
    else:
        address, *counts = sys.argv[2:]
        calm, queued, count = map(int, counts)
        print(json.dumps([ask(address, calm, queued) for _ in range(count)]))
