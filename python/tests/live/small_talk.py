# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sends requests of 1 kB, one at a time, each some milliseconds after the answer to the one before:

python small_talk.py serve                                     # "ready"; answers on port 7000
python small_talk.py ask ADDRESS COUNT PAUSE_MS SEED [EACH]    # JSON by request: ms, RTO, its limit, resent

Resent are the segments that the connection has retransmitted so far. With EACH, a new connection begins after
EACH requests; without EACH all requests are on one connection. After SIGTERM no further request is sent."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import socket
import struct
import sys
import threading
import time

PORT = 7000
REQUEST, ANSWER = b"q" * 1000, b"a" * 200
_TCP_RTO_MAX_MS = 44
# of struct tcp_info: tcpi_rto in microseconds, tcpi_total_retrans
_RTO_AT, _RESENT_AT, _INFO_BYTES = 8, 100, 104


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


def _info(sock: socket.socket, at: int) -> int:
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    return int(struct.unpack_from("=I", info, at)[0])


def ask(
    address: str, count: int, pause_ms: float, seed: int, each: int, ended: threading.Event | None = None
) -> dict[str, list[float]]:
    """Return the figures of each request: `count` of them, or fewer if `ended` is set before."""
    draw = random.Random(seed)
    ended = ended or threading.Event()
    out: dict[str, list[float]] = {"ms": [], "rto_ms": [], "rto_max_ms": [], "resent": []}
    while count > 0 and not ended.is_set():
        with socket.create_connection((address, PORT)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(min(each, count)):
                if ended.is_set():
                    break
                time.sleep(pause_ms * draw.uniform(0.5, 1.5) / 1000)
                begun_s = time.monotonic()
                sock.sendall(REQUEST)
                assert _whole(sock, len(ANSWER))
                out["ms"].append(1000 * (time.monotonic() - begun_s))
                out["rto_ms"].append(_info(sock, _RTO_AT) / 1000)
                out["resent"].append(_info(sock, _RESENT_AT))
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
        sigterm = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: sigterm.set())
        print(json.dumps(ask(sys.argv[2], int(counts[0]), counts[1], int(counts[2]), each, sigterm)))
