# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The kernel module's log (linux/module/log_format.h): each ACK as the kernel saw it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import ByteStream, FlowInfo, TraceError
from .samples import SampleFlow
from .schema import Columns

MAGIC = b"TLG1"
OPEN, ACK, CLOSE = 1, 2, 3
#: In `flags` of an open record: the timer counts from the oldest segment.
FROM_HEAD = 1
AF_INET6 = 10

HEADER = [("magic", "S4"), ("size", "<u2"), ("type", "u1"), ("flags", "u1"), ("time_us", "<i8")]
HEADER += [("connection", "<u4"), ("record", "<u4")]
OPEN_RECORD = np.dtype(
    [
        *HEADER,
        ("estimator", "S32"),
        ("congestion", "S16"),
        ("family", "<u2"),
        ("source_port", "<u2"),
        ("destination_port", "<u2"),
        ("hz", "<u2"),
        ("source", "V16"),
        ("destination", "V16"),
        ("rtt_q8", "<i8"),
        ("rto_q8", "<i8"),
    ]
)
ACK_RECORD = np.dtype(
    [
        *HEADER,
        ("rtt_us", "<i4"),
        ("last_rtt_us", "<i4"),
        ("rtt_q8", "<i8"),
        ("rto_q8", "<i8"),
        ("stock_rto_us", "<u4"),
        ("rto_us", "<u4"),
        ("cwnd", "<u4"),
        ("ssthresh", "<u4"),
        ("flight_segments", "<u4"),
        ("acked_segments", "<u4"),
        ("mss_bytes", "<u4"),
        ("srtt_us", "<u4"),
        ("head_age_us", "<u4"),
        ("backoff", "u1"),
        ("state", "u1"),
        ("reserved", "<u2"),
    ]
)
CLOSE_RECORD = np.dtype(
    [
        *HEADER,
        ("bytes_acked", "<u8"),
        ("bytes_sent", "<u8"),
        ("bytes_retransmitted", "<u8"),
        ("segments_out", "<u4"),
        ("retransmitted", "<u4"),
    ]
)
_KINDS = {OPEN: OPEN_RECORD, ACK: ACK_RECORD, CLOSE: CLOSE_RECORD}
_HEADER_BYTES = np.dtype(HEADER).itemsize

Records = npt.NDArray[np.void]


@dataclass
class Connection:
    """One connection of a log; `open` or `close` is None where the log does not hold it."""

    id: int
    acks: Records
    open: Any = None
    close: Any = None
    lost: int = 0  # records that are missing between the first and the last

    @property
    def estimator(self) -> str:
        """As the sysctl names it; "stock": the kernel's own."""
        return self.open["estimator"].decode() if self.open is not None else "unknown"

    @property
    def name(self) -> str:
        """As a capture names a flow."""
        if self.open is None:
            return f"connection {self.id}"
        six = int(self.open["family"]) == AF_INET6
        ends = []
        for end in ("source", "destination"):
            raw = self.open[end].tobytes()
            host = ipaddress.ip_address(raw if six else raw[:4])
            ends.append(f"{f'[{host}]' if six else host}:{self.open[f'{end}_port']}")
        return " > ".join(ends)

    @property
    def timed(self) -> Records:
        """The ACKs that are rows of a trace: with a sample, or of new data."""
        return self.acks[(self.acks["rtt_us"] >= 0) | (self.acks["acked_segments"] > 0)]


@dataclass
class Log:
    """A whole log, its connections by number."""

    connections: dict[int, Connection] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def parse(data: bytes, where: str = "log") -> Log:
    """Read a log; what is damaged is skipped and named in `warnings`. Raise TraceError if nothing is one."""
    log = Log()
    offsets: dict[int, list[int]] = {kind: [] for kind in _KINDS}
    at, end, skipped = 0, len(data), 0
    while at + _HEADER_BYTES <= end:
        size = int.from_bytes(data[at + 4 : at + 6], "little")
        kind = data[at + 6]
        if data[at : at + 4] != MAGIC or size < _HEADER_BYTES or at + size > end:
            found = data.find(MAGIC, at + 1)
            skipped += (found if found >= 0 else end) - at
            at = found if found >= 0 else end
            continue
        if kind in offsets and size >= _KINDS[kind].itemsize:
            offsets[kind].append(at)
        at += size
    skipped += end - at
    if not any(offsets.values()):
        raise TraceError(f"{where}: no whole record of a kernel log in it")
    if skipped:
        log.warnings.append(f"{skipped} bytes that are no record were left out")
    tables = {kind: _gather(data, offsets[kind], _KINDS[kind]) for kind in _KINDS}
    everything = np.concatenate([tables[kind][["connection", "record"]] for kind in _KINDS])
    for number in np.unique(everything["connection"]).tolist():
        acks = tables[ACK][tables[ACK]["connection"] == number]
        c = Connection(number, acks[np.argsort(acks["record"], kind="stable")])
        for kind, name in ((OPEN, "open"), (CLOSE, "close")):
            of = tables[kind][tables[kind]["connection"] == number]
            if len(of):
                setattr(c, name, of[0])
        serials = everything["record"][everything["connection"] == number]
        c.lost = int(serials.max()) + 1 - len(serials)
        if c.lost:
            log.warnings.append(f"connection {number}: {c.lost} records were lost")
        log.connections[number] = c
    return log


def _gather(data: bytes, offsets: list[int], kind: np.dtype[Any]) -> Records:
    raw = np.frombuffer(data, np.uint8)
    index = np.array(offsets, np.int64)[:, None] + np.arange(kind.itemsize)
    return np.ascontiguousarray(raw[index]).view(kind).reshape(-1)


class TlogTrace:
    """A trace over a kernel log: each connection is a flow, timed by the kernel's own samples."""

    kind = "kernel log"

    def __init__(self, path: Path) -> None:
        stream = ByteStream(path)
        parts: list[bytes] = []
        while part := stream.read():
            parts.append(part)
        self.log = parse(b"".join(parts), str(path))
        self._warnings = [*self.log.warnings, *([stream.damage] if stream.damage else [])]
        self._flows: dict[int, SampleFlow] = {}
        self._done = 0.0

    @property
    def warnings(self) -> list[str]:
        """One line for each thing left out."""
        return list(self._warnings)

    @property
    def progress(self) -> float:
        """The share that was handed out, 0 to 1."""
        return self._done

    def flow(self, flow_id: int) -> FlowInfo:
        """Return what is known of a connection."""
        return self._flows[flow_id].info()

    def release(self, flow_id: int) -> None:
        """Forget a connection."""
        self._flows.pop(flow_id, None)

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield each connection in turn, in batches of at most `max_rows` rows."""
        connections = list(self.log.connections.values())
        starts = [c.acks["time_us"][0] for c in connections if len(c.acks)]
        origin = int(min(starts)) if starts else 0
        for number, c in enumerate(connections):
            acks = c.timed
            flow = self._flows[number] = SampleFlow(number, f"{c.name} ({c.estimator})")
            for start in range(0, len(acks), max_rows):
                part = acks[start : start + max_rows]
                batch = flow.columns(
                    part["time_us"] - origin, part["rtt_us"].astype(np.int64), part["rtt_us"] < 0
                )
                # what a list of RTTs has to guess, the kernel knew
                batch["flight_segments"] = np.maximum(part["flight_segments"], 1).astype(np.uint32)
                batch["acked_bytes"] = part["acked_segments"] * part["mss_bytes"]
                batch["in_flight_bytes"] = part["flight_segments"] * part["mss_bytes"]
                last = start + max_rows >= len(acks)
                batch["ended"] = np.array([number] if last else [], np.uint32)
                yield batch
            self._done = (number + 1) / len(connections)
