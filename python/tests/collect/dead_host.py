# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Opens connections to a host that never answers, all at once, each until the kernel gives it up:

python dead_host.py DEVICE FAMILY:SYNCNT:TIMES...    # in the namespace; DEVICE sees the SYNs

FAMILY is 4 or 6, SYNCNT the application's own TCP_SYNCNT or 0, TIMES how often the one socket connects.
The output is JSON: for each connect() its seconds, its SYNs, and TCP_SYNCNT during the wait and
afterwards. A connect() that lasts longer than twenty seconds is abandoned."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

ADDRESSES = {4: "10.97.0.2", 6: "fd97::2"}
TCP_OFFSETS = {4: 20, 6: 40}
ETHERNET, SYN_FLAG = 14, 2
ETH_P_ALL = 3
LONGEST_S = 20


class Syns:
    """Notes when a device sees SYNs, by family and source port. Two connections at different times, or of
    different families, can have the same port."""

    def __init__(self, device: str) -> None:
        self._seen_s: dict[tuple[int, int], list[float]] = defaultdict(list)
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self._socket.bind((device, 0))
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            packet = self._socket.recv(200)[ETHERNET:]
            family = packet[0] >> 4
            tcp = packet[TCP_OFFSETS.get(family, len(packet)) :]
            if len(tcp) >= 20 and tcp[13] & SYN_FLAG:
                self._seen_s[family, int.from_bytes(tcp[:2])].append(time.monotonic())

    def since(self, begun_s: float, family: int, port: int) -> int:
        return sum(seen_s >= begun_s for seen_s in self._seen_s[family, port])


def connects(case: str, syns: Syns) -> list[dict[str, float]]:
    family, syncnt, times = map(int, case.split(":"))
    out = []
    with socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6, socket.SOCK_STREAM) as sock:
        if syncnt:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, syncnt)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", LONGEST_S, 0))
        for _ in range(times):
            seen: list[int] = []
            asked = threading.Timer(0.5, lambda seen=seen: seen.extend(asked_of(sock)))
            asked.start()
            begun_s = time.monotonic()
            try:
                sock.connect((ADDRESSES[family], 443))
            except (TimeoutError, BlockingIOError):  # the kernel's, or ours
                lasted_s = time.monotonic() - begun_s
            port, during = seen
            syncnt_now = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT)
            out.append(
                {
                    "s": lasted_s,
                    "syns": syns.since(begun_s, family, port),
                    "during": during,
                    "after": syncnt_now,
                }
            )
    return out


def asked_of(sock: socket.socket) -> tuple[int, int]:
    """Return the local port and the TCP_SYNCNT of `sock`."""
    return sock.getsockname()[1], sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT)


def main(device: str, cases: list[str]) -> None:
    syns = Syns(device)
    with ThreadPoolExecutor(len(cases)) as pool:
        print(json.dumps(list(pool.map(lambda case: connects(case, syns), cases))))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
