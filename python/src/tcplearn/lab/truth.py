# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds where each packet of a transfer was dropped, by comparing captures taken around each hop."""

import csv
import gzip
import io
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from tcplearn.errors import FailedError

from .guest import PLACES

QUEUE, CHANNEL = "queue", "channel"  # what dropped a packet: a hop's queue, or its random losses and fades
FILE = "drops.csv.gz"  # the drops; it replaces the captures

_GLOBAL_BYTES, RECORD_BYTES = 24, 16  # sizes of the headers of a capture and of each packet in it
_MAGIC = b"\xd4\xc3\xb2\xa1"  # pcap magic number: little endian, times in us
ETHERNET_BYTES = 14
_LEAST_BYTES = ETHERNET_BYTES + 20 + 20  # with headers of Ethernet, IPv4 and TCP, without options
_IP, _TCP = RECORD_BYTES + ETHERNET_BYTES, RECORD_BYTES + ETHERNET_BYTES + 20
_RECORD = np.dtype(
    {
        "names": ["seconds", "micros", "id", "port", "sequence"],
        "formats": ["<u4", "<u4", ">u2", ">u2", ">u4"],
        "offsets": [0, 4, _IP + 4, _TCP, _TCP + 4],
        "itemsize": RECORD_BYTES + _LEAST_BYTES,
    }
)

Sent = tuple[int, int, int]
"""Source port, sequence number, IP's identification: one sending of a segment."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A segment that a hop dropped."""

    port: int
    sequence: int
    sent_us: int  # on the clock of the module's log
    resent_us: int  # when the segment was sent next; -1: never
    by: str  # QUEUE or CHANNEL


def reduce(folder: Path, hops: Sequence[str]) -> None:
    """Replace the captures that the run in `folder` took around `hops` by a file of the dropped packets."""
    offset_us = int((folder / "clocks").read_text())
    captures = folder / "pcap"
    passed = [[_read(captures / f"{hop}-{place}.pcap") for place in PLACES] for hop in hops]
    drops = [
        drop
        for at in passed
        for before, after, by in zip(at, at[1:], (QUEUE, CHANNEL), strict=False)
        for drop in _missing(before, after, passed[0][0], by, offset_us)
    ]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([f.name for f in fields(Drop)])
    writer.writerows(astuple(drop) for drop in sorted(drops, key=lambda d: (d.sent_us, d.port, d.sequence)))
    (folder / FILE).write_bytes(gzip.compress(out.getvalue().encode(), 6, mtime=0))
    shutil.rmtree(captures)


def drops(folder: Path) -> list[Drop]:
    """Return the packets dropped in the run in `folder`. A segment that was not sent again is left out,
    because it was not dropped but arrived after the capture's end."""
    lines = gzip.decompress((folder / FILE).read_bytes()).decode().splitlines()[1:]
    found = [Drop(int(p), int(s), int(at), int(again), by) for p, s, at, again, by in csv.reader(lines)]
    return [drop for drop in found if drop.resent_us >= 0]


def _missing(
    before: dict[Sent, int], after: dict[Sent, int], first: dict[Sent, int], by: str, offset_us: int
) -> Iterator[Drop]:
    sendings: dict[tuple[int, int], list[int]] = {}
    for (port, sequence, _), time_us in first.items():
        sendings.setdefault((port, sequence), []).append(time_us)
    for sent in (before.keys() - after.keys()) & first.keys():  # without those sent after a capture's end
        port, sequence, _ = sent
        sent_us = first[sent]
        later = [t for t in sendings[port, sequence] if t > sent_us]
        yield Drop(port, sequence, sent_us - offset_us, min(later) - offset_us if later else -1, by)


def _read(path: Path) -> dict[Sent, int]:
    """Return the time in us of each transmission in the capture file `path`. Raise FailedError."""
    data, starts = records(path)
    index = np.array(starts, np.int64)[:, None] + np.arange(_RECORD.itemsize)
    rows = np.frombuffer(data, np.uint8)[index].view(_RECORD)[:, 0]
    sent = zip(*(rows[name].tolist() for name in ("port", "sequence", "id")), strict=True)
    time_us = rows["seconds"].astype(np.int64) * 1_000_000 + rows["micros"]
    return dict(zip(sent, time_us.tolist(), strict=True))


def records(path: Path) -> tuple[bytes, list[int]]:
    """Return the bytes of the capture file `path`, and the offsets of its complete records with TCP headers.
    Raise FailedError if it is not a capture."""
    data = path.read_bytes()
    if data[:4] != _MAGIC:
        raise FailedError(f"{path.name}: not a capture as tcpdump writes it")
    starts, at = [], _GLOBAL_BYTES
    while at + RECORD_BYTES <= len(data):
        size = int.from_bytes(data[at + 8 : at + 12], "little")
        if size >= _LEAST_BYTES and at + RECORD_BYTES + size <= len(data):
            starts.append(at)
        at += RECORD_BYTES + size
    return data, starts
