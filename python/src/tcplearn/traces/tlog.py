# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the log of tcplearn's kernel module (linux/module/log_format.h), which has a record for each ACK."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import TraceError, TraceFile
from .samples import SampleFlow, SampleTrace, count_warnings
from .schema import Columns, empty_batch
from .tlog_records import (
    ACK,
    ACK_RECORD,
    AF_INET6,
    CLOSE,
    HEADER,
    KINDS,
    LOSS,
    LOSS_CHANGE,
    LOSS_CHANGE_RECORD,
    LOSS_RECORD,
    MAGIC,
    OPEN,
    RESEND,
    RESEND_RECORD,
    STARTUP,
)

_HEADER_BYTES = np.dtype(HEADER).itemsize
_FIRST_OPEN_BYTES = 128  # of the first version's record of an opened connection, up to `rto_q8`
_LEAST_BYTES = {kind: dtype.itemsize for kind, dtype in KINDS.items()} | {OPEN: _FIRST_OPEN_BYTES}

_CHUNK_BYTES = 1 << 22  # bytes that are split into records at once
_MOST_US = 1 << 60  # largest accepted time; no computer runs for as long
_MOST_COUNT = (1 << 32) - 1
_MOST_OPEN = 1 << 16  # most open connections that are followed at once
_SKIPPED = "bytes that are no record were left out"
_NAMED = 20  # connections for which a warning names the number of lost records

Records = npt.NDArray[np.void]


@dataclass
class Connection:
    """The records of one connection in a kernel log. `open`, `startup` and `close` are the records of its
    opening, of the end of its handshake and of its closing; each is None if the log has no such record."""

    id: int
    acks: Records
    open: Any = None
    close: Any = None
    losses: Records = field(default_factory=lambda: np.empty(0, LOSS_RECORD))
    loss_changes: Records = field(default_factory=lambda: np.empty(0, LOSS_CHANGE_RECORD))
    resends: Records = field(default_factory=lambda: np.empty(0, RESEND_RECORD))
    startup: Any = None
    lost: int = 0  # records missing between the first and the last

    @property
    def estimator(self) -> str:
        """Return the name of the estimator without parameters. "stock" is the kernel's own estimator."""
        return self.open["estimator"].decode("ascii", "replace") if self.open is not None else "unknown"

    @property
    def spec(self) -> str:
        """Return the estimator as in the sysctl, such as "conformal:miss=0.001"; in older logs, its name."""
        spec = self.open["spec"].decode("ascii", "replace") if self.open is not None else ""
        return spec or self.estimator

    @property
    def name(self) -> str:
        """Return the connection's name, in the form in which a capture names a flow."""
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
        """Return the ACKs that have an RTT sample or acknowledge new data, which are the rows of a trace."""
        return self.acks[(self.acks["rtt_us"] >= 0) | (self.acks["acked_segments"] > 0)]


@dataclass
class Log:
    """A complete log: its connections by number."""

    connections: dict[int, Connection] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class _Cutter:
    """Splits bytes that arrive in pieces into records. Damaged bytes are skipped and counted."""

    def __init__(self) -> None:
        self._rest = b""
        self.skipped = 0
        self.records = 0

    def take(self, data: bytes, *, final: bool = False) -> dict[int, Records]:
        """Return the records that end in `data`, by record type. `final` says that no more data follows."""
        data = self._rest + data
        offsets: dict[int, list[int]] = {kind: [] for kind in KINDS}
        at, end = 0, len(data)
        while at + _HEADER_BYTES <= end:
            size = int.from_bytes(data[at + 4 : at + 6], "little")
            kind = data[at + 6]
            magic = data[at : at + 4] == MAGIC
            if magic and at + size > end and not final:
                break
            if not magic or size < _HEADER_BYTES or at + size > end:
                found = data.find(MAGIC, at + 1)
                if found < 0:  # a record may begin in the last bytes
                    found = end if final else max(at + 1, end - len(MAGIC) + 1)
                self.skipped += found - at
                at = found
                continue
            if kind in offsets and size >= _LEAST_BYTES[kind]:
                offsets[kind].append(at)
            at += size
        self._rest = b"" if final else data[at:]
        self.skipped += end - at if final else 0
        self.records += sum(map(len, offsets.values()))
        return {kind: _gather(data, offsets[kind], KINDS[kind]) for kind in KINDS}


def parse(data: bytes, where: str = "log") -> Log:
    """Return the log in `data`, called `where` in messages. Damaged parts are skipped and named in the
    log's `warnings`. Raise TraceError if there is no record."""
    log = Log()
    cutter = _Cutter()
    starts = range(0, max(len(data), 1), _CHUNK_BYTES)
    parts = [
        cutter.take(data[s : s + _CHUNK_BYTES], final=s + _CHUNK_BYTES >= max(len(data), 1)) for s in starts
    ]
    if not cutter.records:
        raise TraceError(f"{where}: no whole record of a kernel log in it")
    log.warnings += count_warnings((cutter.skipped, _SKIPPED))
    tables = {kind: np.concatenate([part[kind] for part in parts]) for kind in KINDS}
    everything = np.concatenate([tables[kind][["connection", "record"]] for kind in KINDS])
    for number in np.unique(everything["connection"]).tolist():
        c = Connection(number, _sorted(tables[ACK], number))
        for kind, name in ((OPEN, "open"), (CLOSE, "close"), (STARTUP, "startup")):
            of = tables[kind][tables[kind]["connection"] == number]
            if len(of):
                setattr(c, name, of[0])
        c.losses = _sorted(tables[LOSS], number)
        c.loss_changes = _sorted(tables[LOSS_CHANGE], number)
        c.resends = _sorted(tables[RESEND], number)
        serials = everything["record"][everything["connection"] == number]
        c.lost = int(serials.max()) + 1 - len(serials)
        if c.lost:
            log.warnings.append(f"connection {number}: {c.lost} records were lost")
        log.connections[number] = c
    return log


def _sorted(table: Records, connection: int) -> Records:
    """Return the records of connection number `connection` in `table`, ordered by record number."""
    of = table[table["connection"] == connection]
    ordered: Records = of[np.argsort(of["record"], kind="stable")]
    return ordered


def _gather(data: bytes, offsets: list[int], kind: np.dtype[Any]) -> Records:
    raw = np.frombuffer(data, np.uint8)
    index = np.array(offsets, np.int64)[:, None] + np.arange(kind.itemsize)
    found = np.ascontiguousarray(raw.take(index, mode="clip")).view(kind).reshape(-1)
    if len(found) and (least := int(found["size"].min())) < kind.itemsize:
        shown = found.view(np.uint8).reshape(-1, kind.itemsize)
        shown[:, least:] *= np.arange(least, kind.itemsize) < found["size"][:, None]
    return found


@dataclass
class _Alive:
    """A connection whose last record has not been read yet."""

    flow: SampleFlow
    connection: Connection
    records: int = 0
    last_record: int = 0


class TlogTrace(SampleTrace):
    """A trace that reads a kernel log. Each connection is a flow, with the kernel's own RTT samples."""

    kind = "kernel log"

    def __init__(self, file: TraceFile) -> None:
        super().__init__(file)
        self._cutter = _Cutter()
        self._lost: list[str] = []
        self._incomplete = self._left_out = self._moved = 0
        self._stream_ended = False
        self._alive: dict[int, _Alive] = {}
        self._origin_us: int | None = None
        self._first = self._cut()  # raises errors of the whole file before the first row

    @property
    def warnings(self) -> list[str]:
        later = count_warnings(
            (self._incomplete - len(self._lost), "more connections lost records"),
            (self._left_out, "records with an impossible time were left out"),
            (self._moved, "records whose time goes back: they take the time before them"),
        )
        damage = [self._stream.damage] if self._stream.damage else []
        return [*count_warnings((self._cutter.skipped, _SKIPPED)), *self._lost, *later, *damage]

    def _cut(self) -> dict[int, Records] | None:
        """Return the next records of the log by record type, or None at the end of the file."""
        while not self._stream_ended:
            data = self._stream.gather(_CHUNK_BYTES)
            self._stream_ended = len(data) < _CHUNK_BYTES
            tables = self._cutter.take(data, final=self._stream_ended)
            if any(map(len, tables.values())):
                return tables
        if not self._cutter.records:
            raise TraceError(f"{self._file}: no whole record of a kernel log in it")
        return None

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the ACKs in batches. The file is read in parts; each part is sorted by connection."""
        tables = self._first
        while tables is not None:
            following = self._cut()
            for opened in tables[OPEN]:
                self._of(int(opened["connection"])).connection.open = opened
            rows = [
                batch
                for number, acks in _by_connection(tables[ACK])
                for batch in self._rows(self._of(number), acks, max_rows)
            ]
            closed = tables[CLOSE]["connection"].tolist()
            for kind in (OPEN, CLOSE, STARTUP, LOSS, LOSS_CHANGE, RESEND):
                for record in tables[kind]:
                    self._count(self._of(int(record["connection"])), record["record"], 1)
            gone = list(dict.fromkeys(closed))
            if following is None:
                gone = list(self._alive)
            elif len(self._alive) - len(gone) > _MOST_OPEN:
                gone += [n for n in list(self._alive)[: len(self._alive) - _MOST_OPEN] if n not in set(gone)]
            ended = self._end(gone)
            last = rows.pop() if rows else empty_batch()
            yield from rows
            if len(last["time_us"]) or len(ended):
                yield last | {"ended": ended}
            tables = following

    def _of(self, number: int) -> _Alive:
        if number not in self._alive:
            connection = Connection(number, np.empty(0, ACK_RECORD))
            self._alive[number] = _Alive(self._new_flow(""), connection)
        return self._alive[number]

    def _count(self, alive: _Alive, last_record: int, count: int) -> None:
        alive.records += count
        alive.last_record = max(alive.last_record, int(last_record))

    def _rows(self, alive: _Alive, acks: Records, max_rows: int) -> Iterator[Columns]:
        self._count(alive, acks["record"].max(), len(acks))
        possible = (acks["time_us"] >= 0) & (acks["time_us"] < _MOST_US)
        self._left_out += len(acks) - int(possible.sum())
        acks = acks[possible & ((acks["rtt_us"] >= 0) | (acks["acked_segments"] > 0))]
        if not len(acks):
            return
        if self._origin_us is None:
            self._origin_us = int(acks["time_us"].min())
        flow = alive.flow
        given_us = acks["time_us"].astype(np.int64) - self._origin_us
        since_us = given_us[0] if flow.last_us is None else flow.last_us
        time_us = np.maximum.accumulate(np.maximum(given_us, since_us))
        self._moved += int((time_us != given_us).sum())
        for start in range(0, len(acks), max_rows):
            part = acks[start : start + max_rows]
            rtt_us = part["rtt_us"].astype(np.int64)
            # a round trip shorter than the clock's microsecond has the value 0
            batch = flow.columns(time_us[start : start + max_rows], np.maximum(rtt_us, 1), rtt_us < 0)
            # the kernel logs the number of segments in flight, which a list of RTTs can only estimate
            batch["flight_segments"] = np.maximum(part["flight_segments"], 1).astype(np.uint32)
            batch["acked_bytes"] = _bytes(part["acked_segments"], part["mss_bytes"])
            batch["in_flight_bytes"] = _bytes(part["flight_segments"], part["mss_bytes"])
            batch["ended"] = np.empty(0, np.uint32)
            yield batch

    def _end(self, numbers: list[int]) -> npt.NDArray[np.uint32]:
        ended = []
        for number in numbers:
            alive = self._alive.pop(number)
            alive.flow.name = f"{alive.connection.name} ({alive.connection.spec})"
            ended.append(alive.flow.id)
            lost = alive.last_record + 1 - alive.records
            if lost > 0:
                self._incomplete += 1
                if len(self._lost) < _NAMED:
                    self._lost.append(f"connection {number}: {lost} records were lost")
        return np.array(ended, np.uint32)


def _by_connection(acks: Records) -> Iterator[tuple[int, Records]]:
    """Yield the number of each connection in `acks` with its records, ordered by record number."""
    if not len(acks):
        return
    acks = acks[np.lexsort((acks["record"], acks["connection"]))]
    starts = np.flatnonzero(np.diff(acks["connection"], prepend=acks["connection"][0] ^ 1))
    for part in np.split(acks, starts[1:]):
        yield int(part["connection"][0]), part


def _bytes(segments: npt.NDArray[np.uint32], size: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    count: npt.NDArray[np.uint32] = np.minimum(segments.astype(np.uint64) * size, _MOST_COUNT).astype(
        np.uint32
    )
    return count
