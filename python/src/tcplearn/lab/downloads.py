# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines what a scenario of `tcplearn lab` can add to downloads by curl: SYN pings during each download and
after it, and retransmissions counted by tshark."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from tcplearn.checkout import last_line
from tcplearn.errors import FailedError, UserError
from tcplearn.scenario.check import Table

from .arm import RECEIVER, SENDER, Arm
from .workload import Figures, Flow, Left, Lines, Setup, Workload

PORT, PINGED = 5002, "10.0.0.2 80"  # PINGED is the first router, which answers the receiver's SYN pings
COUNTED, PINGS = "counted", "pings"  # files in an algorithm's folder: tshark's counts, and the pings


class Pings(Table):
    every_us: Annotated[int, Field(ge=50, le=10_000_000)]  # SYN pings, as `hping3 -S` sends them


class Place(Table):
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,60}$")]  # a web site that is pinged
    rtt_ms: Annotated[float, Field(ge=0, le=60_000)]
    spread_ms: Annotated[float, Field(ge=0, le=60_000)] = 0  # jitter, uniform; half in each direction


class Places(Table):
    """The web sites that are pinged after each download, `count` times each."""

    count: Annotated[int, Field(ge=1, le=10_000)] = 20
    every_us: Annotated[int, Field(ge=50, le=10_000_000)] = 100_000
    site: Annotated[list[Place], Field(min_length=1, max_length=100)]


class Downloads(Workload):
    programs: ClassVar[tuple[str, ...]] = ("send", "nginx", "iperf3")
    pings: Pings | None = None  # during each download
    places: Places | None = None  # after each download
    captured: bool = False  # whether tshark counts retransmissions in captures at both ends

    @property
    def is_download(self) -> bool:
        return self.pings is not None or self.places is not None or self.captured

    def starts(self, setup: Setup) -> Lines:
        yield from super().starts(setup)
        if self.is_download:
            names = [name for one in setup.congestion for name in (one, f"tl-{one}")]
            # the kernel accepts vegas as a namespace's default only if it is in this list
            yield f"sysctl -qw 'net.ipv4.tcp_allowed_congestion_control=reno cubic {' '.join(names)}'"
        if self.pings:
            yield f"in_ns c1 /scenario/transfer sink {PINGED.split()[1]} &"
            yield f"beside='syns flood {PINGED} {self.pings.every_us}'"
        if self.captured:
            yield f"capture_port {SENDER} c0 r0 {PORT}"
            yield f"capture_port {RECEIVER} {setup.receiver} l{setup.last - 1} {PORT}"
            yield "sleep 1"

    def before(self, setup: Setup, arm: Arm) -> Lines:
        if self.is_download:
            kernel = f"tl-{arm.congestion}" if arm.at == RECEIVER else arm.congestion
            setting = f"net.ipv4.tcp_congestion_control={kernel}"
            changed = setup.receiver if arm.at == RECEIVER else "c0"
            yield f"changed={changed}; in_ns {setup.receiver} sysctl -qw {setting}"

    def after(self, setup: Setup, arm: Arm) -> Lines:
        if not self.places:
            return
        every_us, count, answers = self.places.every_us, self.places.count, f"/out/{arm.folder}/{PINGS}"
        yield f": >{answers}"
        for site in self.places.site:
            delay = f"delay {site.rtt_ms / 2:g}ms" + (f" {site.spread_ms / 2:g}ms" if site.spread_ms else "")
            for device in ("r2", "l1"):
                yield f"in_ns c2 tc qdisc change dev {device} root netem limit 100000 {delay}"
            command = f"in_ns {setup.receiver} /scenario/syns pings 10.0.0.1 {PORT} {every_us} {count}"
            yield f"echo {site.name} $({command}) >>{answers}"

    def figures(self, left: Left) -> Figures:
        if self.captured:
            for line in (left.folder / COUNTED).read_text().splitlines():
                metric, value = line.split()
                yield metric, float(value)

    def flows(self, folder: Path) -> Iterator[Flow]:
        lines = (folder / PINGS).read_text().splitlines() if self.places else []
        for line in lines:
            site, answered, *times_us = line.split()
            out = {"pings_answered": float(answered)}
            if out["pings_answered"]:
                names = ("ping_min_ms", "ping_mean_ms", "ping_max_ms")
                out |= {name: int(us) / 1000 for name, us in zip(names, times_us, strict=True)}
            yield site, {}, out


def tshark() -> str:
    found = shutil.which("tshark")
    if not found:
        raise UserError("tshark is missing: apt-get install --no-install-recommends tshark, or make dev")
    return found


def count(folder: Path, arms: Sequence[str]) -> None:
    """Write the numbers of retransmissions in the captures of the run in `folder` to a file in each of the
    run's folders that `arms` names, and delete the captures. The captured connections are those of `arms`, in
    this order. May raise FailedError."""
    counts = {end: _resent(folder / "pcap" / f"{end}.pcap", len(arms)) for end in (SENDER, RECEIVER)}
    for stream, arm in enumerate(arms):
        lines = [f"resent_at_{end}_packets {of[stream]}\n" for end, of in counts.items()]
        (folder / arm / COUNTED).write_text("".join(lines))
    shutil.rmtree(folder / "pcap")


def _resent(capture: Path, streams: int) -> Counter[int]:
    fields = "-T fields -e tcp.stream -e tcp.analysis.retransmission"
    words = [tshark(), "-n", "-r", str(capture), *fields.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:  # the reason is in stderr, unless stderr is empty
        why = last_line(done.stderr) or f"exit status {done.returncode}"
        raise FailedError(f"{capture.name}: tshark: {why}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    seen = {int(row[0]) for row in rows if row[0]}
    if len(seen) != streams:
        found = f"{len(seen)} connections in place of {streams}, {len(rows)} packets"
        raise FailedError(f"{capture.name}: {found}")
    return Counter(int(row[0]) for row in rows if row[0] and row[1:] and row[1])
