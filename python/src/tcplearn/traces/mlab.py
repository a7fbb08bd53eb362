# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read M-Lab's archives: snapshots of tcp-info (raw or decoded) and measurements of ndt7."""

import base64
import ipaddress
import re
import struct
from collections.abc import Hashable, Iterator
from pathlib import PurePath
from typing import Any

from .base import TraceError, TraceFile, shown
from .json_values import as_object, loads, whole
from .lines import Clock
from .readings import Reading, ReadingsTrace
from .schema import Columns

_MARKS = re.compile(rb'"(TCPInfo|RawIDM|Snapshots|ServerMeasurements|ConnectionInfo)"\s*:')
_MOST_BYTES = 1 << 26  # most bytes of a line or of one JSON value; an hour of snapshots has some 30 MB
_INFO = 2  # index of INET_DIAG_INFO in the attributes (linux/inet_diag.h)
#: Offsets in struct tcp_info (linux/tcp.h), in bytes.
_OFFSETS = {"RTT": 68, "RTTVar": 72, "TotalRetrans": 100, "Unacked": 24, "BytesAcked": 120, "SegsIn": 140}
_KINDS = {"BytesAcked": "<q"}
_NEWS = ("RTTVar", "BytesAcked", "Delivered", "SegsIn")
_DIRECTIONS = ("Download", "Upload")


def looks_like_mlab(head: bytes) -> bool:
    """Return whether `head`, the beginning of a JSON file, is from an M-Lab archive."""
    return _MARKS.search(head) is not None


class MlabTrace(ReadingsTrace):
    """A trace that reads an M-Lab archive. Each connection, or each direction of a test, is a flow."""

    kind = "mlab"

    def __init__(self, file: TraceFile) -> None:
        super().__init__(file)
        self._clock = Clock()
        self._title = PurePath(file.title).name.split(".")[0]
        self._last_time_us = 0
        self._any = False
        self._base_us = 0  # when the current test began; its times count from then

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the RTT samples in batches of at most `max_rows` rows."""
        for number, record in self._records():
            if not isinstance(record, dict):
                raise TraceError(f"{self._file}: record {number}: it is no object")
            self._take(number, record)
            if self._pending >= max_rows:
                yield from self._rows(max_rows)
        if not self._any:
            raise TraceError(f"{self._file}: M-Lab's JSON, but without a TCPInfo that holds an RTT")
        self._end(list(self._connections))
        yield from self._rows(max_rows)

    def _records(self) -> Iterator[tuple[int, Any]]:
        """Yield the number and the JSON value of each line. A file that is one JSON value over several lines
        yields this value with number 1."""
        rest, number = b"", 0
        while True:
            data = self._stream.read()
            if data and not data.strip() and not rest:
                continue
            lines = (rest + data).split(b"\n")
            rest = lines.pop() if data else b""
            for line in lines:
                if not line.strip():
                    continue
                number += 1
                try:
                    yield number, loads(line)
                except ValueError as error:
                    if number == 1:
                        yield 1, self._whole(b"\n".join([*lines[lines.index(line) :], rest]))
                        return
                    if not data:
                        self._warnings.append(f"record {number}, the last one, is cut: left out")
                        return
                    raise self._fail(number, error) from None
            if len(rest) > _MOST_BYTES:
                raise TraceError(f"{self._file}: record {number + 1}: it is longer than 64 MB")
            if not data:
                return

    def _whole(self, head: bytes) -> Any:
        text = self._stream.gather(_MOST_BYTES + 1, head)
        if len(text) > _MOST_BYTES:
            raise TraceError(f"{self._file}: it is longer than 64 MB; write a record a line")
        try:
            return loads(text)
        except ValueError as error:
            raise self._fail(1, error) from None

    def _fail(self, number: int, error: ValueError) -> TraceError:
        return TraceError(f"{self._file}: record {number}: it is not JSON: {shown(str(error), 80)}")

    def _take(self, number: int, record: dict[str, Any]) -> None:
        raw = record.get("raw")  # BigQuery exports records in this form
        record = raw if isinstance(raw, dict) else record
        snapshots = record.get("Snapshots")
        if isinstance(snapshots, list):
            of = as_object(record.get("Metadata"))
            for snapshot in snapshots:
                self._snapshot(as_object(snapshot), of)
        elif any(isinstance(record.get(name), dict) for name in _DIRECTIONS):
            self._test(number, record)
        elif "ElapsedTime" in as_object(record.get("TCPInfo")):  # output of ndt7's clients
            origin = shown(record.get("Test") or record.get("Origin") or "", 20)
            self._elapsed(("", origin), f"{self._title} {origin}".strip(), as_object(record["TCPInfo"]))
        else:
            self._snapshot(record, {})

    def _test(self, number: int, record: dict[str, Any]) -> None:
        ends = []
        for side in ("Server", "Client"):
            host, port = record.get(f"{side}IP", "?"), record.get(f"{side}Port", "?")
            ends.append(f"{shown(host, 45)}:{shown(port, 5)}")
        for direction in _DIRECTIONS:
            measurements = as_object(record.get(direction)).get("ServerMeasurements")
            for measurement in measurements if isinstance(measurements, list) else ():
                info = as_object(as_object(measurement).get("TCPInfo"))
                self._elapsed((number, direction), f"{' > '.join(ends)} {direction.lower()}", info)
            self._end([(number, direction)])

    def _elapsed(self, key: tuple[int | str, str], name: str, info: dict[str, Any]) -> None:
        elapsed_us = _count(info.get("ElapsedTime"))
        if elapsed_us is None:
            return
        if key not in self._connections:  # a new test begins; tests are placed one after another
            self._base_us = (self._first_us or 0) + self._last_us
        self._look(key, name, self._base_us + elapsed_us, info)

    def _snapshot(self, snapshot: dict[str, Any], metadata: dict[str, Any]) -> None:
        info, name = as_object(snapshot.get("TCPInfo")), ""
        if "RawIDM" in snapshot:
            name, attributes = _ends(snapshot["RawIDM"]), snapshot.get("Attributes")
            if isinstance(attributes, list) and len(attributes) > _INFO:
                info = _unpacked(attributes[_INFO])
        named = as_object(snapshot.get("Metadata")) or metadata
        if isinstance(uuid := named.get("UUID"), str):
            self._title = shown(uuid, 80)
        time_us, _ = self._clock.split(str(snapshot.get("Timestamp", ""))[:64])
        self._last_time_us = self._last_time_us if time_us is None else time_us
        self._look(name or self._title, name or self._title, self._last_time_us, info)

    def _look(self, key: Hashable, name: str, time_us: int, info: dict[str, Any]) -> None:
        rtt_us = _count(info.get("RTT"))
        if rtt_us is None:
            return
        self._any = True
        state = tuple(float(_count(info.get(field)) or 0) for field in _NEWS)
        retransmits = _count(info.get("TotalRetrans")) or 0
        self._read(key, name, time_us, Reading(rtt_us, state, retransmits))


def _count(value: object) -> int | None:
    return whole(value, (1 << 60) - 1)


def _bytes(value: object) -> bytes:
    try:
        return base64.b64decode(value) if isinstance(value, str) else b""
    except ValueError:
        return b""


def _unpacked(value: object) -> dict[str, Any]:
    """Return the fields of the struct tcp_info in `value` (base64). Older kernels lack some of them."""
    raw = _bytes(value)
    fields = {}
    for name, offset in _OFFSETS.items():
        kind = _KINDS.get(name, "<I")
        if offset + struct.calcsize(kind) <= len(raw):
            fields[name] = struct.unpack_from(kind, raw, offset)[0]
    return fields


def _ends(value: object) -> str:
    """Return "SOURCE > DESTINATION" from the struct inet_diag_msg in `value` (base64); "" if it is cut."""
    raw = _bytes(value)
    if len(raw) < 40:
        return ""
    ports = struct.unpack_from(">HH", raw, 4)
    ends = []
    for at, port in zip((8, 24), ports, strict=True):
        host = raw[at : at + 16]
        six = any(host[4:])
        address = ipaddress.ip_address(host if six else host[:4])
        ends.append(f"[{address}]:{port}" if six else f"{address}:{port}")
    return " > ".join(ends)
