# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Opens listeners, all at once, each of which gets one SYN and never an answer to its SYN-ACKs:

python dead_client.py SYNCNT:LATER:DATA...    # in a namespace of its own; makes a TUN device there

SYNCNT is the TCP_SYNCNT of the listener before listen(), LATER its value afterwards; 0 leaves it
unchanged. DATA is 1 if the SYN carries data, for Fast Open. The output is JSON: for each listener the
seconds until the kernel gave the request up, and the times of its SYN-ACKs."""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
HERE, CLIENT = socket.inet_aton("10.96.0.1"), socket.inet_aton("10.96.0.2")
FIRST_PORT, CLIENT_PORT = 7000, 40000
SYN, ACK = 2, 16
#: Of /proc/net/tcp: SYN_RECV.
REQUEST = "03"
LONGEST_S = 60.0


def checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def syn(port: int, data: bytes) -> bytes:
    tcp = struct.pack("!HHIIBBHHH", CLIENT_PORT, port, 1, 0, 5 << 4, SYN, 8192, 0, 0) + data
    pseudo = CLIENT + HERE + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, socket.IPPROTO_TCP, 0) + CLIENT + HERE
    return ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp


def tun() -> int:
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"dead", IFF_TUN | IFF_NO_PI))
    for words in (["link", "set", "dead", "up"], ["addr", "add", "10.96.0.1/24", "dev", "dead"]):
        subprocess.run(["ip", *words], check=True)
    return device


def listener(port: int, case: str) -> socket.socket:
    before, later, _ = map(int, case.split(":"))
    sock = socket.socket()
    sock.bind(("10.96.0.1", port))
    if before:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, before)
    sock.listen(16)
    if later:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, later)
    return sock


def requests() -> set[int]:
    """Return the ports on which the kernel holds a connection request."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == REQUEST}


def main(cases: list[str]) -> None:
    device = tun()
    listeners = {FIRST_PORT + k: listener(FIRST_PORT + k, case) for k, case in enumerate(cases)}
    begun_s = time.monotonic()
    for port, case in zip(listeners, cases, strict=True):
        os.write(device, syn(port, b"data" if case.endswith(":1") else b""))
    answers: dict[int, list[float]] = {port: [] for port in listeners}
    given_up: dict[int, float] = {}
    while len(given_up) < len(listeners) and time.monotonic() - begun_s < LONGEST_S:
        ready = select.select([device], [], [], 0.02)[0]
        now_s = time.monotonic() - begun_s
        if ready:
            packet = os.read(device, 2000)
            if packet[0] >> 4 == 4 and packet[33] == SYN | ACK:
                answers[int.from_bytes(packet[20:22])].append(now_s)
        alive = requests()
        for port in listeners:
            if answers[port] and port not in alive:
                given_up.setdefault(port, now_s)
    print(json.dumps([{"s": given_up[port], "syn_acks": answers[port]} for port in listeners]))


if __name__ == "__main__":
    main(sys.argv[1:])
