# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sends requests of 1 kB, one at a time, each some milliseconds after the answer to the one before:

python small_talk.py serve                                     # "ready"; answers on port 7000
python small_talk.py ask ADDRESS COUNT PAUSE_MS SEED [EACH]    # JSON: ms, RTO, its limit, by request

With EACH, a new connection begins after EACH requests; without EACH all requests are on one connection."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import sys
import threading
import time

PORT = 7000
REQUEST, ANSWER = b"q" * 1000, b"a" * 200
_TCP_RTO_MAX_MS = 44
_RTO_AT = 8  # tcpi_rto of struct tcp_info, in microseconds


def _whole(sock: socket.socket, size: int) -> bool:
    while size:
        part = sock.recv(size)
        if not part:
            return False
        size -= len(part)
    return True


def _answer(sock: socket.socket) -> None:
    with sock, contextlib.suppress(ConnectionResetError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while _whole(sock, len(REQUEST)):
            sock.sendall(ANSWER)


def serve() -> None:
    with socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print("ready", flush=True)
        while True:
            threading.Thread(target=_answer, args=(server.accept()[0],), daemon=True).start()


def _rto_ms(sock: socket.socket) -> float:
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return float(struct.unpack_from("=I", info, _RTO_AT)[0]) / 1000


def ask(address: str, count: int, pause_ms: float, seed: int, each: int) -> dict[str, list[float]]:
    draw = random.Random(seed)
    out: dict[str, list[float]] = {"ms": [], "rto_ms": [], "rto_max_ms": []}
    while count > 0:
        with socket.create_connection((address, PORT)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(min(each, count)):
                time.sleep(pause_ms * draw.uniform(0.5, 1.5) / 1000)
                begun_s = time.monotonic()
                sock.sendall(REQUEST)
                assert _whole(sock, len(ANSWER))
                out["ms"].append(1000 * (time.monotonic() - begun_s))
                out["rto_ms"].append(_rto_ms(sock))
                with contextlib.suppress(OSError):  # before Linux 6.15
                    out["rto_max_ms"].append(sock.getsockopt(socket.IPPROTO_TCP, _TCP_RTO_MAX_MS))
            count -= each
    return out


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        counts = [float(word) for word in sys.argv[3:]]
        each = int(counts[3]) if len(counts) > 3 else int(counts[0])
        print(json.dumps(ask(sys.argv[2], int(counts[0]), counts[1], int(counts[2]), each)))
