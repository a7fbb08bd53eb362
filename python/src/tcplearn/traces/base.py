# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines the interface of a trace, which yields batches of columns (a row for each ACK or RTT sample) and
describes the flows to which the rows belong."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypedDict

from tcplearn._native import TraceError as TraceError
from tcplearn.errors import printable

from .schema import Columns

if TYPE_CHECKING:
    from .zstd import Unzstd

#: The error message for a file that is not a capture if a program needs the packets (`TraceOptions.explain`).
NOT_A_CAPTURE = (
    "not a capture (pcap, pcapng); explain needs the packets themselves. editcap converts captures of other "
    "formats: editcap FILE OUT.pcapng"
)
NO_TRACE = "not a trace: neither a capture (pcap, pcapng) nor a text that docs/traces.md lists"
#: Beginnings of warnings that say where reading ended. Those of captures come from reader.cpp.
READ_IN_PART = ("read up to ", "read as far as it goes", "the last ")
_LAST_IN_PART = "the last one, is cut: left out"  # the end of a warning that the last data were left out
#: The beginning of zstd data: a frame, or a skippable frame, which pzstd writes first.
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")


def read_in_part(warning: str) -> bool:
    """Return whether a trace's `warning` says that the end of the trace could not be read."""
    return warning.startswith(READ_IN_PART) or warning.endswith(_LAST_IN_PART)


class Reason:
    """The values of the column `no_sample`: why a row (an ACK) has no RTT sample."""

    NONE = 0
    RETRANSMITTED = 1
    INSIDE_SEGMENT = 2
    SACKED_EARLIER = 3
    NOT_CAPTURED = 4


class FlowInfo(TypedDict):
    """Information on a flow, which is one direction of one connection."""

    id: int
    peer: int
    name: str
    near_sender: bool
    near_reason: str
    chosen: bool
    data_packets: int
    data_bytes: int
    retransmitted_packets: int
    acks: int
    samples: int
    mss_bytes: int
    first_us: int
    last_us: int


@dataclass(frozen=True)
class TraceOptions:
    """The options for reading a trace. `sender`, `every_ack`, `idle_s`, `events`, `explain` and `windows`
    apply only to captures."""

    sender: str = "auto"  # near, far, client, server, both, or an address with or without a port
    every_ack: bool = False  # also time ACKs that end inside a captured record, as with offloading
    idle_s: float = 300.0  # a connection ends if it has no packet for this time
    events: bool = False  # batches have `events`, the input of loss classifiers
    #: Resend policies. If given, batches have requests and stalls as `explained`, with forecasts by policy.
    explain: tuple[str, ...] | None = None
    #: (connection, start, end) in us. If given, batches have the `packets` of these connections and times.
    windows: tuple[tuple[int, int, int], ...] = ()
    unit: str = ""  # of bare numbers: s, ms, us or ns; empty: milliseconds, if the format allows it


@dataclass(frozen=True)
class TraceFile:
    """A trace file's path, and its name in messages, which differs from the path for a temporary copy."""

    path: Path
    name: str

    @staticmethod
    def of(given: TraceFile | Path) -> TraceFile:
        """Return `given` as a TraceFile. A path is its own name."""
        return given if isinstance(given, TraceFile) else TraceFile(given, printable(given))

    @property
    def title(self) -> str:
        """Return the last part of the file's name, which is used for a flow without a name of its own."""
        return self.name.rpartition("/")[2]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Interface:
    """A network interface. The trace of an interface has the traffic from the start of reading until the
    trace is stopped."""

    name: str

    def __str__(self) -> str:
        return self.name


def shown(value: object, most: int = 40) -> str:
    """Return `value`, from a file, as one printable line of at most `most` characters, for a message."""
    text = value if isinstance(value, str) else repr(value)
    return printable(text[:most])


def number(text: str) -> float:
    """Return the number in `text`. Unlike float(), raise ValueError for `1_0` and non-ASCII digits."""
    if "_" in text or not text.isascii():
        raise ValueError("not a number")
    return float(text)


class Trace(Protocol):
    """A trace, which is read once from its beginning to its end."""

    @property
    def kind(self) -> str:
        """Return the name of the trace's format, such as "capture", "csv", "flent" or "kernel log"."""

    @property
    def warnings(self) -> list[str]:
        """Return warnings about left-out or assumed data. The list is complete after the last batch."""

    @property
    def progress(self) -> float:
        """Return the share of the file that has been read, from 0 to 1."""

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the rows (ACKs or RTT samples) in batches of about `max_rows` rows; the last may be smaller.
        Raise TraceError."""

    def flow(self, flow_id: int) -> FlowInfo:
        """Return the information on flow `flow_id`. It is final once a batch lists the flow in `ended`."""

    def release(self, flow_id: int) -> None:
        """Free the state of flow number `flow_id`, which has ended."""


class ByteStream:
    """Reads the bytes of a file, decompressed if they are gzip or zstd, up to the first damaged data."""

    CHUNK_BYTES = 1 << 18
    MOST_BYTES = 1 << 20  # decompressed bytes of a read, approximately; gzip can expand data a thousandfold

    def __init__(self, file: TraceFile) -> None:
        try:
            self._file: BinaryIO = file.path.open("rb")
            self._size = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise TraceError(f"{file}: cannot be opened: {error.strerror}") from None
        self.damage = ""  # why the data end early, or ""
        self._pending = self._read_file()
        self._gzip = self._pending.startswith(b"\x1f\x8b")
        self._inflater = zlib.decompressobj(wbits=31)
        self.zstd = _ZSTD.match(self._pending) is not None
        self._unzstd: Unzstd | None = None
        self._consumed = 0

    def __del__(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()

    @property
    def progress(self) -> float:
        """Return the share of the file that has been read, from 0 to 1."""
        return min(1.0, self._consumed / self._size) if self._size else 0.0

    def _read_file(self) -> bytes:
        try:
            return self._file.read(self.CHUNK_BYTES)
        except OSError as error:
            self.damage = f"it cannot be read: {error.strerror}"
            return b""

    def _take(self) -> bytes:
        raw = self._pending or self._read_file()
        self._pending = b""
        self._consumed += len(raw)
        return raw

    def read(self) -> bytes:
        """Return the next decompressed bytes, or b"" at the end of the file and after damaged data."""
        if self.zstd:
            return self._read_zstd()
        if not self._gzip:
            return self._take()
        while not self.damage:
            raw = self._take()
            if not raw:
                if not self._inflater.eof:
                    self.damage = "the gzip data ends before its end mark"
                return b""
            if self._inflater.eof:
                raw = raw.lstrip(b"\0")  # padding
                if not raw:
                    continue
                if not raw.startswith(b"\x1f"):
                    self.damage = "there are other bytes after the end of the gzip data"
                    return b""
                self._inflater = zlib.decompressobj(wbits=31)  # another gzip member
            data = self._inflate(raw)
            self._pending = (
                self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            )
            self._consumed -= len(self._pending)
            if data:
                return data
        return b""

    def nothing(self, file: TraceFile) -> TraceError:
        """Return the error that says why `file`, of which nothing was read, has no content."""
        why = f"nothing in it can be read: {self.damage}" if self.damage else "the file is empty"
        return TraceError(f"{file}: {why}")

    def gather(self, enough: int, head: bytes = b"") -> bytes:
        """Return `head` and the next decompressed bytes: at least `enough` in total, unless the data end."""
        parts, size = [head], len(head)
        while size < enough and (part := self.read()):
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def _read_zstd(self) -> bytes:
        from .zstd import Unzstd  # few traces need this module

        self._unzstd = self._unzstd or Unzstd()
        while not self.damage:
            raw = self._take()
            if not raw:
                if self._unzstd.inside and not self.damage:
                    self.damage = "the zstd data ends before its end mark"
                return b""
            data, used = self._unzstd.unpack(raw, self.MOST_BYTES)
            self._pending = raw[used:]
            self._consumed -= len(self._pending)
            self.damage = self._unzstd.damage
            if data:
                return data
        return b""

    def _inflate(self, raw: bytes) -> bytes:
        spare = self._inflater.copy()
        try:
            return self._inflater.decompress(raw, self.MOST_BYTES)
        except zlib.error:
            pass
        # zlib returns nothing for a chunk with an error: the bytes before the error are decompressed singly
        self.damage = "the gzip data is damaged"
        good = bytearray()
        try:
            for i in range(len(raw)):
                good += spare.decompress(raw[i : i + 1])
        except zlib.error:
            pass
        return bytes(good)
