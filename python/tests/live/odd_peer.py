# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Simulates a peer that makes every packet itself. It is the far end of a TUN device and answers the requests
of small_talk.py at each address of 10.78.0.0/24 except the near host's.

The command python odd_peer.py SPEC.json runs the peer in a process: it prints "ready" when the device
exists, and on SIGTERM counts of the packets that it received, as JSON."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "collect"))
from emulated_paths import ended, serve, started, tun
from small_talk import ANSWER, PORT, REQUEST

_DEVICE = "peer"
_NUMBERS = itertools.count()
_FIN, _SYN, _RST, _PSH, _ACK = 1, 2, 4, 8, 16
_NOP, _TIMESTAMPS = b"\x01\x01", 8
_UNIT_S = 0.001  # of the near host's timestamps


@dataclass(frozen=True)
class Odd:
    """Describes how the peer differs from an honest one."""

    rtt_ms: float = 5.0
    loss: float = 0.05  # of requests that it takes no notice of, the first time
    timestamps: bool = True
    echo_off_ms: int = 0  # added to each timestamp that it echoes
    dsack: bool = False  # each ACK reports as a duplicate what was never sent twice
    kept_ms: float = 0.0  # ACKs are kept back to the end of a slot of this length
    seed: int = 1


class OddPeer:
    """Runs the peer. `near` is the namespace of the only real host."""

    def __init__(self, odd: Odd, folder: Path) -> None:
        self.near = f"to{os.getpid()}-{next(_NUMBERS)}"
        self._odd, self._folder = odd, folder
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> OddPeer:
        subprocess.run(["ip", "netns", "add", self.near], check=True)
        try:
            spec = self._folder / f"{self.near}.json"
            spec.write_text(json.dumps({"near": self.near, "odd": asdict(self._odd)}))
            self._process = started(__file__, spec)
            lines = f"link set lo up\nlink set {_DEVICE} up\naddr add 10.78.0.1/24 dev {_DEVICE}\n"
            subprocess.run(["ip", "-n", self.near, "-batch", "-"], input=lines, text=True, check=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def within(self, namespace: str, *words: object) -> list[str]:
        return ["nsenter", f"--net=/run/netns/{namespace}", *map(str, words)]

    def end(self) -> dict[str, int]:
        return ended(self._process)

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        subprocess.run(["ip", "netns", "del", self.near], check=False, capture_output=True)


@dataclass
class _Packet:
    source: bytes
    target: bytes
    ports: tuple[int, int]
    seq: int
    ack: int
    flags: int
    data: bytes
    timestamp: int | None

    @classmethod
    def read(cls, raw: bytes) -> _Packet | None:
        header = (raw[0] & 15) * 4
        if raw[0] >> 4 != 4 or raw[9] != 6:
            return None
        source, target, seq, ack, words, flags = struct.unpack_from("!HHIIBB", raw, header)
        begins = header + (words >> 4) * 4
        stamp = _timestamp(raw[header + 20 : begins])
        data = raw[begins : struct.unpack_from("!H", raw, 2)[0]]
        return cls(raw[12:16], raw[16:20], (source, target), seq, ack, flags, data, stamp)


def _timestamp(options: bytes) -> int | None:
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        if options[at] == _TIMESTAMPS:
            return int(struct.unpack_from("!I", options, at + 2)[0])
        at += max(options[at + 1], 2)
    return None


def _sum(data: bytes) -> int:
    words = struct.unpack(f"!{len(data) // 2}H", data + b"\0" * (len(data) % 2)) if data else ()
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _made(to: _Packet, seq: int, ack: int, flags: int, options: bytes, data: bytes = b"") -> bytes:
    """Return an IPv4 packet with a TCP segment that answers the packet `to`."""
    padded = options + b"\1" * (-len(options) % 4)
    tcp = struct.pack(
        "!HHIIBBHHH", to.ports[1], to.ports[0], seq, ack, (20 + len(padded)) << 2, flags, 60000, 0, 0
    )
    tcp += padded + data
    pseudo = to.target + to.source + struct.pack("!BBH", 0, 6, len(tcp))
    padding = b"\0" * (len(tcp) % 2)
    tcp = tcp[:16] + struct.pack("!H", _sum(pseudo + tcp + padding)) + tcp[18:]
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, to.target, to.source)
    return head[:10] + struct.pack("!H", _sum(head)) + head[12:] + tcp


@dataclass
class _Connection:
    """Holds the peer's state of a connection. Requests come one at a time; `expected` is the sequence number
    of the next byte."""

    expected: int
    sent: int = 1001
    seen: set[int] = field(default_factory=set)


class _Peer:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._odd = Odd(**spec["odd"])
        self._handle = tun(spec["near"], _DEVICE)
        self._draw = random.Random(self._odd.seed)
        self._connections: dict[tuple[bytes, int], _Connection] = {}
        self._queue: list[tuple[float, int, bytes]] = []
        self._count = itertools.count()
        self.counts = {"requests": 0, "ignored": 0, "spurious": 0}

    def run(self) -> None:
        while True:
            wait_s = max(0.0, self._queue[0][0] - time.monotonic()) if self._queue else None
            if select.select([self._handle], (), (), wait_s)[0]:
                with contextlib.suppress(BlockingIOError):
                    while raw := os.read(self._handle, 4096):
                        packet = _Packet.read(raw)
                        if packet and packet.ports[1] == PORT:
                            self._take(packet)
            while self._queue and self._queue[0][0] <= time.monotonic():
                with contextlib.suppress(OSError):
                    os.write(self._handle, heapq.heappop(self._queue)[2])

    def _take(self, packet: _Packet) -> None:
        key = packet.target, packet.ports[0]
        if packet.flags & _SYN:
            self._connections[key] = _Connection(packet.seq + 1)
            options = b"\2\4\5\xb4" + b"\4\2" + self._stamp(packet)
            self._send(_made(packet, 1000, packet.seq + 1, _SYN | _ACK, options), keep=False)
            return
        known = self._connections.get(key)
        if packet.flags & _RST or not known:
            return
        if packet.data:
            self._request(packet, known)
        elif packet.flags & _FIN:
            self._reply(packet, known, packet.seq + 1, _FIN | _ACK)
            del self._connections[key]

    def _request(self, packet: _Packet, known: _Connection) -> None:
        end = packet.seq + len(packet.data) & 0xFFFFFFFF
        if packet.seq not in known.seen:
            known.seen.add(packet.seq)
            self.counts["requests"] += 1
            if self._draw.random() < self._odd.loss:
                self.counts["ignored"] += 1
                return
        elif packet.seq != known.expected:
            self.counts["spurious"] += 1
            self._reply(packet, known, known.expected, _ACK)
            return
        known.expected = end
        self._reply(packet, known, end, _ACK | _PSH, ANSWER)
        known.sent += len(ANSWER)

    def _reply(self, to: _Packet, known: _Connection, ack: int, flags: int, data: bytes = b"") -> None:
        options = self._stamp(to)
        if self._odd.dsack and data:
            begins = ack - len(REQUEST) & 0xFFFFFFFF
            options += _NOP + struct.pack("!BBII", 5, 10, begins, ack)
        self._send(_made(to, known.sent, ack, flags, options, data), keep=bool(data))

    def _stamp(self, to: _Packet) -> bytes:
        if not self._odd.timestamps or to.timestamp is None:
            return b""
        echo = to.timestamp if to.flags & _SYN else to.timestamp + self._odd.echo_off_ms
        own = int(time.monotonic() / _UNIT_S) & 0xFFFFFFFF
        return _NOP + struct.pack("!BBII", _TIMESTAMPS, 10, own, echo & 0xFFFFFFFF)

    def _send(self, raw: bytes, *, keep: bool) -> None:
        due_s = time.monotonic() + self._odd.rtt_ms / 1000
        if keep and self._odd.kept_ms:
            slot_s = self._odd.kept_ms / 1000
            due_s = (due_s // slot_s + 1) * slot_s
        heapq.heappush(self._queue, (due_s, next(self._count), raw))


def main() -> None:
    peer = _Peer(json.loads(Path(sys.argv[1]).read_text()))
    serve(peer.run, lambda: peer.counts)


if __name__ == "__main__":
    main()
