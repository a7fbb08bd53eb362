# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Emulates the paths, in a process of its own: it delays and drops packets between the last router's TUN
device and the host's as each place's settings demand, listens on the hosts' ports, and notes when each SYN
passed the first router and how long its answer took from there.

`python emulated_paths.py SPEC.json` prints "ready" when the devices exist, and on SIGTERM what it noted, as
JSON. It needs TUN devices alone, because sch_netem is not in every kernel."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CLONE_NEWNET = 0x40000000
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x1, 0x1000
_ETH_P_ALL = 3
_SYN, _RST, _SYN_ACK = 0x02, 0x04, 0x12
_SO_TIMESTAMPNS = 35
#: The relay does not sleep in the last part of a packet's delay, as an idle machine wakes it up late.
_AWAKE_S = 0.0004


def enter(namespace: str) -> None:
    handle = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(handle, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {namespace}")
    os.close(handle)


def tun(namespace: str, name: str) -> int:
    enter(namespace)
    handle = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(handle, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
    return handle


def listen(port: int) -> socket.socket:
    sock = socket.create_server(("::", port), family=socket.AF_INET6, backlog=4096, dualstack_ipv6=True)
    return sock


def route_packets(namespace: str) -> None:
    enter(namespace)
    for name in ("ipv4/ip_forward", "ipv6/conf/all/forwarding"):
        Path(f"/proc/sys/net/{name}").write_text("1")
    for devices in ("all", "default"):  # addresses are nobody else's here, and to make sure takes seconds
        Path(f"/proc/sys/net/ipv6/conf/{devices}/accept_dad").write_text("0")
    answer_each()


def answer_each() -> None:
    """Switch off the limit of ICMP errors in this namespace. By default Linux sends a host one per second."""
    Path("/proc/sys/net/ipv4/icmp_ratelimit").write_text("0")


class Way:
    """Represents one direction of the path to a place."""

    def __init__(self, place: dict[str, Any], out: int, draw: random.Random, *, there: bool) -> None:
        self.out, self._draw = out, draw
        self._least_s = place["rtt_ms"] / 2000
        self.loss = 1.0 if place["filtered"] else place["loss"] / 2
        self._handshake_loss, self._clean = place["handshake_loss"], place["clean_syns"]
        self.dropped: list[tuple[str, int]] = []
        self._jitter_s = self._least_s * place["jitter"]
        self._step_s, self._host = place["step_ms"] / 2000, 19 if there else 15
        self.left = place["vanishes_after"] if there else None

    def delay_s(self, packet: bytes) -> float:
        further = packet[self._host] - 1 if self._step_s and packet[0] >> 4 == 4 else 0
        jitter_s = self._draw.expovariate(1 / self._jitter_s) if self._jitter_s else 0.0
        return self._least_s + further * self._step_s + jitter_s

    def _loses_handshake(self, packet: bytes) -> bool:
        """Return whether the path drops `packet`, a SYN or SYN-ACK of IPv4. Note the host's address and the
        measuring machine's port of each packet that is dropped."""
        if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
            return False
        tcp = packet[(packet[0] & 15) * 4 :]
        if not tcp[13] & _SYN:
            return False
        self._clean -= 1
        if self._clean >= 0 or self._draw.random() >= self._handshake_loss:
            return False
        answer = tcp[13] & _SYN_ACK == _SYN_ACK
        host = packet[12:16] if answer else packet[16:20]
        port = tcp[2:4] if answer else tcp[0:2]
        self.dropped.append((socket.inet_ntop(socket.AF_INET, host), int.from_bytes(port, "big")))
        return True

    def passes(self, packet: bytes) -> bool:
        if self._handshake_loss and self._loses_handshake(packet):
            return False
        if self.left is not None and packet[0] >> 4 == 4:  # not the kernel's own messages of IPv6
            self.left -= 1
            if self.left < 0:
                return False
        return self._draw.random() >= self.loss


class Relay:
    def __init__(self, spec: dict[str, Any]) -> None:
        self.ways: dict[int, Way] = {}
        self.listeners = []
        self.seen: list[tuple[float, str, int]] = []
        self.answered: list[tuple[str, float]] = []
        self._unanswered: dict[tuple[str, int], int] = {}
        self._queue: list[tuple[float, int, int, bytes]] = []
        self._count = 0
        draw = random.Random(spec["seed"])
        for router in spec["routers"]:
            route_packets(router)
        for place in spec["places"]:
            near = tun(place["router"], place["device"])
            far = tun(place["namespace"], "eth0")
            answer_each()
            if place["open"]:
                self.listeners.append(listen(place["port"]))
            self.ways[near] = Way(place, far, draw, there=True)
            self.ways[far] = Way(place, near, draw, there=False)
        enter(spec["routers"][0])
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
        self.tap.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)

    def run(self) -> None:
        handles = [*self.ways, self.tap.fileno()]
        while True:
            wait_s = max(0.0, self._queue[0][0] - time.monotonic() - _AWAKE_S) if self._queue else None
            ready = select.select(handles, (), (), wait_s)[0]
            now_s = time.monotonic()
            for handle in ready:
                if handle == self.tap.fileno():
                    self._note(now_s)
                else:
                    self._take(handle, now_s)
            while self._queue and self._queue[0][0] <= time.monotonic():
                _, _, out, packet = heapq.heappop(self._queue)
                with contextlib.suppress(OSError):
                    os.write(out, packet)

    def _take(self, handle: int, now_s: float) -> None:
        way = self.ways[handle]
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(handle, 4096)
                if way.passes(packet):
                    self._count += 1
                    heapq.heappush(self._queue, (now_s + way.delay_s(packet), self._count, way.out, packet))

    def _note(self, now_s: float) -> None:
        """Note the time, destination and source port of a SYN that comes in from the measuring machine, and
        the time from there to the first answer of the host, by the kernel's timestamps of both packets."""
        packet, ancillary, _, address = self.tap.recvmsg(256, 64)
        if address[0] != "near":
            return
        if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
            family, hosts, tcp = (
                socket.AF_INET,
                (packet[12:16], packet[16:20]),
                packet[(packet[0] & 15) * 4 :],
            )
        elif packet[0] >> 4 == 6 and packet[6] == socket.IPPROTO_TCP:
            family, hosts, tcp = socket.AF_INET6, (packet[8:24], packet[24:40]), packet[40:]
        else:
            return
        seconds, nanoseconds = struct.unpack("@qq", ancillary[0][2])
        stamp_ns = seconds * 10**9 + nanoseconds
        ports = (int.from_bytes(tcp[0:2], "big"), int.from_bytes(tcp[2:4], "big"))
        back = address[2] == socket.PACKET_OUTGOING
        if not back and tcp[13] & _SYN_ACK == _SYN:
            probe = (socket.inet_ntop(family, hosts[1]), ports[0])
            self.seen.append((now_s, *probe))
            self._unanswered[probe] = stamp_ns
        elif back and tcp[13] & (_SYN | _RST):
            probe = (socket.inet_ntop(family, hosts[0]), ports[1])
            if probe in self._unanswered:
                self.answered.append((probe[0], (stamp_ns - self._unanswered.pop(probe)) / 1e6))

    def report(self) -> dict[str, Any]:
        dropped = [drop for way in self.ways.values() for drop in way.dropped]
        return {"seen": self.seen, "answered": self.answered, "dropped": dropped}


def started(script: str, spec: Path) -> subprocess.Popen[str]:
    """Start `script`, which emulates the paths of the file `spec`, and return its process once it is
    ready."""
    process = subprocess.Popen([sys.executable, script, str(spec)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    ready = process.stdout.readline() == "ready\n"
    if not ready:
        process.kill()
    assert ready
    return process


def ended(process: subprocess.Popen[str] | None) -> dict[str, Any]:
    """End a process that emulates paths and return the report that it prints."""
    assert process and process.stdout
    process.terminate()
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def serve(run: Callable[[], None], report: Callable[[], dict[str, Any]]) -> None:
    """Run `run` in a process that emulates paths until SIGTERM comes, then print the result of `report` as
    JSON."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print("ready", flush=True)
    try:
        run()
    finally:
        print(json.dumps(report()), flush=True)


def main() -> None:
    relay = Relay(json.loads(Path(sys.argv[1]).read_text()))
    serve(relay.run, relay.report)


if __name__ == "__main__":
    main()
