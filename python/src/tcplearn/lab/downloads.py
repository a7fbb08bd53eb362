# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Downloads at whose other end the estimator may be too, beside SYN pings of the receiver: tables of a
scenario, lines of its script, and what was captured, counted by tshark."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from tcplearn.errors import FailedError, UserError, printable
from tcplearn.scenario.check import Table

SENDER, RECEIVER = "sender", "receiver"
End = Literal["sender", "receiver"]
#: nginx's, and where the first router listens for the receiver's pings.
PORT, PINGED_PORT = 5002, 80
#: Of an algorithm: what tshark counted, and the pings.
COUNTED, PINGS = "counted", "pings"


class Pings(Table):
    """SYNs that the receiver sends beside each download, as hping3 -S; the hop's first router answers."""

    every_us: Annotated[int, Field(ge=50, le=10_000_000)]


class Place(Table):
    """A site that is pinged after the downloads: the path is as far for so long."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,60}$")]
    rtt_ms: Annotated[float, Field(ge=0, le=60_000)]
    spread_ms: Annotated[float, Field(ge=0, le=60_000)] = 0  # up and down, evenly


class Places(Table):
    count: Annotated[int, Field(ge=1, le=10_000)] = 20
    every_us: Annotated[int, Field(ge=50, le=10_000_000)] = 100_000
    site: Annotated[list[Place], Field(min_length=1, max_length=100)]


def start(
    congestion: Sequence[str], pings: Pings | None, receiver: str, *, captured: bool, near: str
) -> Iterator[str]:
    """`near`: where the receiver's pings go. Unless it is allowed, vegas is no namespace's default."""
    names = [name for one in congestion for name in (one, f"tl-{one}")]
    yield f"sysctl -qw 'net.ipv4.tcp_allowed_congestion_control=reno cubic {' '.join(names)}'"
    if pings:
        yield f"in_ns c1 /scenario/transfer sink {PINGED_PORT} &"
        yield f"beside='syns flood {near} {PINGED_PORT} {pings.every_us}'"
    if captured:
        for name, namespace, device in (
            (SENDER, "c0", "r0"),
            (RECEIVER, receiver, f"l{int(receiver[1:]) - 1}"),
        ):
            yield f"capture_port {name} {namespace} {device} {PORT}"
        yield "sleep 1"


def settings(at: End, congestion: str, receiver: str) -> str:
    """Before a transfer. The kernel that is changed; at the other end the receiver's is plain."""
    kernel = f"tl-{congestion}" if at == RECEIVER else congestion
    changed = receiver if at == RECEIVER else "c0"
    return f"changed={changed}; in_ns {receiver} sysctl -qw net.ipv4.tcp_congestion_control={kernel}"


def ping(places: Places, folder: str, devices: Sequence[tuple[str, str]], receiver: str) -> Iterator[str]:
    """`devices`: (namespace, device) of the delay each way."""
    yield f": >/out/{folder}/{PINGS}"
    for site in places.site:
        delay = f"delay {site.rtt_ms / 2:g}ms" + (f" {site.spread_ms / 2:g}ms" if site.spread_ms else "")
        yield from (
            f"in_ns {ns} tc qdisc change dev {d} root netem limit 100000 {delay}" for ns, d in devices
        )
        command = f"in_ns {receiver} /scenario/syns pings 10.0.0.1 {PORT} {places.every_us} {places.count}"
        yield f"echo {site.name} $({command}) >>/out/{folder}/{PINGS}"


def read_pings(folder: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """(site, figures); of none that did not answer."""
    for line in (folder / PINGS).read_text().splitlines():
        site, answered, *times_us = line.split()
        out = {"pings_answered": float(answered)}
        if out["pings_answered"]:
            names = ("ping_min_ms", "ping_mean_ms", "ping_max_ms")
            out |= {name: int(us) / 1000 for name, us in zip(names, times_us, strict=True)}
        yield site, out


def tshark() -> str:
    """Raises UserError."""
    found = shutil.which("tshark")
    if not found:
        raise UserError("tshark is missing: apt-get install --no-install-recommends tshark, or make dev")
    return found


def count(folder: Path, arms: Sequence[str]) -> None:
    """In place of the captures of a run: a file an algorithm, by their order. Raises FailedError."""
    counts = {end: _resent(folder / "pcap" / f"{end}.pcap", len(arms)) for end in (SENDER, RECEIVER)}
    for stream, arm in enumerate(arms):
        lines = [f"resent_at_{end}_packets {of[stream]}\n" for end, of in counts.items()]
        (folder / arm / COUNTED).write_text("".join(lines))
    shutil.rmtree(folder / "pcap")


def _resent(capture: Path, streams: int) -> Counter[int]:
    """As the paper counted: packets that Wireshark takes for retransmissions, by connection."""
    words = [
        tshark(),
        "-n",
        "-r",
        str(capture),
        "-T",
        "fields",
        "-e",
        "tcp.stream",
        "-e",
        "tcp.analysis.retransmission",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:  # on stderr it also warns, as of running as root
        why = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise FailedError(f"{capture.name}: tshark: {printable(why[0])}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    seen = {int(row[0]) for row in rows if row[0]}
    if len(seen) != streams:
        raise FailedError(
            f"{capture.name}: {len(seen)} connections in place of {streams}, {len(rows)} packets"
        )
    return Counter(int(row[0]) for row in rows if row[0] and row[1:] and row[1])
