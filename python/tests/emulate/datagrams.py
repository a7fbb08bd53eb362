# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Sends numbered datagrams over an emulated path, and stores when each was sent and received:

python datagrams.py receive FILE                      # until SIGTERM; JSON: number, sent and received in ns
python datagrams.py send COUNT BYTES EVERY_US WAIT_S  # to $TCPLEARN_SERVER; BYTES of IP packets

Both clocks are this machine's CLOCK_MONOTONIC. The receiver listens on the TCP port PORT when it is ready."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

PORT = 7001
_HEAD = struct.Struct("=Qq")
_HEADERS_BYTES = 28  # IPv4 and UDP


def receive(file: Path) -> None:
    seen: list[tuple[int, int, int]] = []

    def end(*_: object) -> None:
        file.write_text(json.dumps(seen))
        raise SystemExit

    with socket.socket(type=socket.SOCK_DGRAM) as sock, socket.socket() as ready:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.bind(("", PORT))
        signal.signal(signal.SIGTERM, end)
        ready.bind(("", PORT))
        ready.listen()
        while True:
            packet = sock.recv(2048)
            number, sent_ns = _HEAD.unpack_from(packet)
            seen.append((number, sent_ns, time.monotonic_ns()))


def send(count: int, size: int, every_us: int, wait_s: float) -> None:
    """Send `count` IP packets of `size` bytes, one every `every_us`, and then wait for `wait_s` seconds."""
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.connect((os.environ["TCPLEARN_SERVER"], PORT))
        fill = bytes(size - _HEADERS_BYTES - _HEAD.size)
        begun_ns = time.monotonic_ns()
        for number in range(count):
            wait_ns = begun_ns + number * every_us * 1000 - time.monotonic_ns()
            if wait_ns > 0:
                time.sleep(wait_ns / 1e9)
            sock.send(_HEAD.pack(number, time.monotonic_ns()) + fill)
    time.sleep(wait_s)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(Path(sys.argv[2]))
    else:
        send(*map(int, sys.argv[2:5]), float(sys.argv[5]))
