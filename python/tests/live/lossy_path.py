# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes two hosts, each a network namespace, and a path between them that delays and loses packets. The path
connects two TUN devices, because sch_netem is not in every kernel.

The command python lossy_path.py SPEC.json runs the path in a process: it prints "ready" when the devices
exist, and on SIGTERM the packets that it dropped and how late it was, as JSON."""

from __future__ import annotations

import bisect
import contextlib
import heapq
import itertools
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "collect"))
from emulated_paths import ended, serve, started, tun

_NUMBERS = itertools.count()
_DEVICE = "path"
_DATA_BYTES = 100  # longer packets have data: SYNs and bare ACKs do not


@dataclass(frozen=True)
class Spec:
    rtt_ms: float = 20.0
    jitter_ms: float = 0.0  # mean of what is added in each direction, exponential; packets keep their order
    stall: float = 0.0  # share of the packets that keep the path waiting for `stall_ms`
    stall_ms: float = 150.0
    loss: float = 0.0  # of each packet with data from the near host; what comes back is not lost
    lossy_packets: int = 0  # the path stops losing packets once so many with data were sent; 0: never
    steps: tuple[tuple[int, float], ...] = ()  # after so many answers (or more) the RTT in ms is another one
    step_ms: float = 0.0  # added to the RTT in every second period of `step_s`
    step_s: float = 1.0
    overtaken: float = 0.0  # share of the near host's packets with data that are late and are overtaken
    kept: float = 0.0  # share of the far host's packets that are late and are overtaken
    late_ms: tuple[float, float] = (0.0, 0.0)  # by how much: uniform between these two
    calm: bool = False  # neither steps nor late packets until disturb()
    seed: int = 1
    ipv6: bool = False
    congestion_control: str = "cubic"  # of both hosts, as the machine may have another default


class LossyPath:
    """Represents a path and its hosts. `near` and `far` are the names of their namespaces, `address` is the
    far host's."""

    def __init__(self, spec: Spec, folder: Path) -> None:
        prefix = f"tl{os.getpid()}-{next(_NUMBERS)}"
        self.near, self.far = f"{prefix}n", f"{prefix}f"
        self.address = "fd77::2" if spec.ipv6 else "10.77.0.2"
        self._spec, self._folder = spec, folder
        self._relay: subprocess.Popen[str] | None = None

    def __enter__(self) -> LossyPath:
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self) -> None:
        for name in (self.near, self.far):
            subprocess.run(["ip", "netns", "add", name], check=True)
        spec = self._folder / f"{self.near}.json"
        spec.write_text(json.dumps({"near": self.near, "far": self.far} | asdict(self._spec)))
        self._relay = started(__file__, spec)
        for name, host in ((self.near, 1), (self.far, 2)):
            lines = f"link set lo up\nlink set {_DEVICE} up\naddr add 10.77.0.{host}/30 dev {_DEVICE}\n"
            lines += f"addr add fd77::{host}/64 dev {_DEVICE} nodad\n"
            subprocess.run(["ip", "-n", name, "-batch", "-"], input=lines, text=True, check=True)
            other = 3 - host
            for route in ("change 10.77.0.0/30", f"add fd77::{other}"):  # CUBIC is not allowed as a default
                words = ["ip", "-n", name, "route", *route.split(), "dev", _DEVICE, *self.congestion_control]
                subprocess.run(words, check=True)

    @property
    def congestion_control(self) -> list[str]:
        """Return the words that a route over the path needs so that its connections have the path's
        congestion control."""
        return ["congctl", self._spec.congestion_control]

    def within(self, namespace: str, *words: object) -> list[str]:
        """Return the words that run a command in `namespace`. `ip netns exec` would hide the cgroups."""
        return ["nsenter", f"--net=/run/netns/{namespace}", *map(str, words)]

    def disturb(self) -> None:
        """Let the steps and the late packets of a calm path begin."""
        assert self._relay
        self._relay.send_signal(signal.SIGUSR1)

    def end(self) -> dict[str, Any]:
        """End the path and return its report: the packets that it dropped, and how late it was."""
        return ended(self._relay)

    def __exit__(self, *_: object) -> None:
        if self._relay:
            self._relay.kill()
            self._relay.wait()
        for name in (self.near, self.far):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


class _Rtt:
    """Represents the path's least RTT, which may change with the number of answers: packets with data from
    the far host."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.answers = 0
        self._steps = sorted((answers, rtt_ms) for answers, rtt_ms in [(0, spec["rtt_ms"]), *spec["steps"]])

    def one_way_s(self) -> float:
        at = bisect.bisect_right(self._steps, self.answers, key=lambda step: step[0])
        return self._steps[at - 1][1] / 2000


class _Way:
    """Represents one direction of the path."""

    def __init__(
        self, spec: dict[str, Any], out: int, loss: float, rtt: _Rtt, late: float, step_ms: float
    ) -> None:
        self.out, self._rtt, self.is_calm = out, rtt, spec["calm"]
        self._late, self._late_ms = late, spec["late_ms"]
        self._step_s, self._steps_s = step_ms / 1000, spec["step_s"]
        self._jitter_s = spec["jitter_ms"] / 1000
        self._stall, self._stall_s = spec["stall"], spec["stall_ms"] / 1000
        self._loss, self._lossy_packets = loss, spec["lossy_packets"]
        self._draw = random.Random(f"{spec['seed']} {loss > 0}")
        self._last_s = 0.0
        self.dropped = self.sent = 0

    def due_s(self, packet: bytes, now_s: float) -> float | None:
        """Return the time at which the path delivers `packet`, or None if the packet is lost."""
        if len(packet) > _DATA_BYTES:
            self.sent += 1
            calm = 0 < self._lossy_packets < self.sent
            if not calm and self._draw.random() < self._loss:
                self.dropped += 1
                return None
        jitter_s = self._draw.expovariate(1 / self._jitter_s) if self._jitter_s else 0.0
        stalled_s = self._stall_s if self._stall and self._draw.random() < self._stall else 0.0
        due_s = now_s + self._rtt.one_way_s() + jitter_s + stalled_s
        if not self.is_calm:
            due_s += self._step_s * (now_s // self._steps_s % 2)
            if self._late and len(packet) > _DATA_BYTES and self._draw.random() < self._late:
                return due_s + self._draw.uniform(*self._late_ms) / 1000
        self._last_s = max(self._last_s, due_s)
        return self._last_s


class _Relay:
    def __init__(self, spec: dict[str, Any]) -> None:
        near, far = tun(spec["near"], _DEVICE), tun(spec["far"], _DEVICE)
        self._rtt = _Rtt(spec)
        self._far = far
        self._ways = {
            near: _Way(spec, far, spec["loss"], self._rtt, spec["overtaken"], 0.0),
            far: _Way(spec, near, 0.0, self._rtt, spec["kept"], spec["step_ms"]),
        }
        self._queue: list[tuple[float, int, int, bytes]] = []
        self._count = itertools.count()
        self._late_ms: list[float] = []

    def run(self) -> None:
        while True:
            wait_s = max(0.0, self._queue[0][0] - time.monotonic()) if self._queue else None
            for handle in select.select([*self._ways], (), (), wait_s)[0]:
                self._take(handle)
            while self._queue and self._queue[0][0] <= time.monotonic():
                due_s, _, out, packet = heapq.heappop(self._queue)
                self._late_ms.append(1000 * (time.monotonic() - due_s))
                with contextlib.suppress(OSError):  # the device is not up yet
                    os.write(out, packet)

    def _take(self, handle: int) -> None:
        way = self._ways[handle]
        with contextlib.suppress(BlockingIOError):
            while packet := os.read(handle, 4096):
                due_s = way.due_s(packet, time.monotonic())
                self._rtt.answers += handle == self._far and len(packet) > _DATA_BYTES
                if due_s is not None:
                    heapq.heappush(self._queue, (due_s, next(self._count), way.out, packet))

    def disturb(self) -> None:
        for way in self._ways.values():
            way.is_calm = False

    def report(self) -> dict[str, Any]:
        late = sorted(self._late_ms) or [0.0]
        there = next(iter(self._ways.values()))
        dropped, sent = there.dropped, there.sent
        return {"dropped": dropped, "sent": sent, "late_p99_ms": late[int(0.99 * (len(late) - 1))]}


def main() -> None:
    relay = _Relay(json.loads(Path(sys.argv[1]).read_text()))
    signal.signal(signal.SIGUSR1, lambda *_: relay.disturb())
    serve(relay.run, relay.report)


if __name__ == "__main__":
    main()
