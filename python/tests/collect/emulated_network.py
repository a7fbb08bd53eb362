# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a network of namespaces: the measuring machine, eight routers in a row, and hosts behind them. The
network has no connection to any other."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import emulated_paths
import pytest
from emulated_paths import ended, started

ROUTERS = 8
PORT = 443
HERE = Path(__file__).parent
#: Linux may take seconds to see that a link is up, and drops packets until then.
SETTLED_AFTER_S = 60
_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Place:
    hops: int  # routers on the way
    rtt_ms: float
    loss: float = 0.0  # of SYNs and answers together
    open: bool = True
    filtered: bool = False
    vanishes_after: int | None = None  # packets that reach it
    ipv6: bool = False
    handshake_loss: float = 0.0  # of each SYN and each SYN-ACK, beside `loss`
    clean_syns: int = 0  # of the first so many none is lost so
    jitter: float = 0.0  # mean of what is added to the RTT, as a share of it
    step_ms: float = (
        0.0  # what each further address of it adds to the RTT: 10.99.K.2 that, 10.99.K.3 twice that
    )


class Network:
    def __init__(self, places: Sequence[Place], folder: Path) -> None:
        self.places = places
        self.folder = folder
        self._relay: subprocess.Popen[str] | None = None
        self._prefix = f"tl{os.getpid()}-{next(_NUMBERS)}"
        self.client = f"{self._prefix}c"
        self._routers = [f"{self._prefix}r{i}" for i in range(1, ROUTERS + 1)]
        self._hosts = [f"{self._prefix}h{k}" for k in range(1, len(places) + 1)]

    def address(self, place: Place) -> str:
        k = self.places.index(place) + 1
        return f"fd99:{k}::1" if place.ipv6 else f"10.99.{k}.1"

    @property
    def unreachable(self) -> str:
        """Return an address for which a router answers that the host is unreachable."""
        return "10.99.200.1"

    def _spec(self) -> dict[str, Any]:
        places = [
            asdict(place)
            | {"router": self._routers[place.hops - 1], "device": f"t{k}", "namespace": host, "port": PORT}
            for k, (place, host) in enumerate(zip(self.places, self._hosts, strict=True), 1)
        ]
        return {"seed": 1, "routers": self._routers, "places": places}

    def _ip(self, lines: Sequence[str], *words: str) -> None:
        """Run the commands `lines` by one process of ip(8), with the options `words`."""
        done = subprocess.run(
            ["ip", *words, "-batch", "-"], input="\n".join(lines), text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr

    def _wire(self) -> None:
        machines = [self.client, *self._routers]
        self._ip(
            [
                f"link add far netns {near} type veth peer name near netns {far}"
                for near, far in itertools.pairwise(machines)
            ]
        )

    def _configure(self) -> None:
        for i, machine in enumerate([self.client, *self._routers]):
            lines = ["link set lo up"]
            if i:  # towards the measuring machine
                lines += [
                    "link set near up",
                    f"addr add 10.98.{i}.2/30 dev near",
                    f"addr add fd98:{i}::2/64 dev near nodad",
                ]
            if i < ROUTERS:
                lines += ["link set far up", f"addr add 10.98.{i + 1}.1/30 dev far"]
                lines += [f"addr add fd98:{i + 1}::1/64 dev far nodad"]
                lines += [f"route add 10.99.0.0/16 via 10.98.{i + 1}.2"]
                lines += [f"route add fd99::/16 via fd98:{i + 1}::2"]
            if i > 1:
                lines += [f"route add 10.98.1.0/30 via 10.98.{i}.1", f"route add fd98:1::/64 via fd98:{i}::1"]
            if i == ROUTERS:
                lines += ["route add unreachable 10.99.200.0/24"]
            for k, place in enumerate(self.places, 1):
                if place.hops == i:
                    lines += [f"link set t{k} up", f"route add 10.99.{k}.0/24 dev t{k}"]
                    lines += [f"route add fd99:{k}::/64 dev t{k}"]
            self._ip(lines, "-n", machine)
        for k, host in enumerate(self._hosts, 1):
            lines = ["link set lo up", "link set eth0 up", f"addr add 10.99.{k}.1/32 dev eth0"]
            lines += [f"route add local 10.99.{k}.0/24 dev eth0"]
            lines += [f"addr add fd99:{k}::1/128 dev eth0 nodad", "route add default dev eth0"]
            self._ip([*lines, "route add ::/0 dev eth0"], "-n", host)

    def _settled(self, machine: str) -> None:
        """Wait until each link of `machine` is up and duplicate address detection has ended for all its
        addresses."""
        end = time.monotonic() + SETTLED_AFTER_S
        while self._unsettled(machine):
            assert time.monotonic() < end, machine
            time.sleep(0.02)

    def _unsettled(self, machine: str) -> bool:
        shown = subprocess.run(
            ["ip", "-n", machine, "-o", "-batch", "-"],
            input="link show type veth\naddr show tentative",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        links = [line for line in shown.splitlines() if " mtu " in line]
        assert links
        return len(links) < len(shown.splitlines()) or any(" state UP " not in line for line in links)

    def __enter__(self) -> Network:
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self) -> None:
        names = [self.client, *self._routers, *self._hosts]
        self._ip([f"netns add {name}" for name in names])
        spec = self.folder / "spec.json"
        spec.write_text(json.dumps(self._spec()))
        self._relay = started(emulated_paths.__file__, spec)
        self._wire()
        self._configure()
        for machine in [self.client, *self._routers]:
            self._settled(machine)

    def syns(self) -> list[tuple[float, str]]:
        """End the paths and return the time and the destination of each SYN."""
        return [(when, to) for when, to, _ in self.handshakes()["seen"]]

    def handshakes(self) -> dict[str, list[Any]]:
        """End the paths. Return under "seen" the time, destination and source port of each SYN, under
        "answered" the host and the RTT in ms of each answered SYN, as a capture at the first router shows
        it, and under "dropped" the host and the measuring machine's port of each dropped SYN or SYN-ACK."""
        return ended(self._relay)

    def __exit__(self, *_: object) -> None:
        if self._relay:
            self._relay.kill()
            self._relay.wait()
        names = (self.client, *self._routers, *self._hosts)
        lines = "\n".join(f"netns del {name}" for name in names)
        subprocess.run(
            ["ip", "-force", "-batch", "-"], input=lines.encode(), check=False, capture_output=True
        )

    def command(self, *words: object) -> list[str]:
        """Return a command that runs tcplearn with the arguments `words` on the measuring machine."""
        return ["ip", "netns", "exec", self.client, sys.executable, "-m", "tcplearn", *map(str, words)]


@contextmanager
def network(places: Sequence[Place], folder: Path) -> Iterator[Network]:
    why = forbidden()
    if why:
        pytest.skip(why)
    with Network(places, folder) as made:
        yield made


def forbidden() -> str:
    if os.geteuid() != 0:
        return "network namespaces and TUN devices need root"
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun"
    done = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    return "network namespaces are not permitted here" if done.returncode else ""
