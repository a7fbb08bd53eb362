# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read QUIC logs in qlog (draft-ietf-quic-qlog-main-schema, from draft-00 on), in all its JSON forms."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import schema
from .base import FlowInfo, TraceError, TraceFile, TraceOptions, shown
from .json_values import (
    MOST_NUMBER,
    TooLargeError,
    acked_ranges,
    as_object,
    finite,
    loads,
    packet_bytes,
    whole,
    whole_events,
)
from .quic import LEFT_OUT, Connection, Row
from .samples import SampleTrace, count_warnings
from .schema import Columns

_MOST_BYTES = 1 << 28  # of a single JSON document, which is held in memory
_MOST_RECORD_BYTES = 1 << 24
_MOST_CUT_BYTES = 1 << 20  # more than the bytes of an event
_MOST_US = 1 << 61
_MOST_BACK_US = 1000  # loggers' threads reorder events by less; after larger steps back, the clock changed

_SEPARATOR = b"\x1e"  # RFC 7464
_BETWEEN = b" \t\r\n" + _SEPARATOR
_HEADER_KEYS = ("qlog_version", "qlog_format", "file_schema", "trace", "traces")
_MARKS = re.compile(
    rb'"(qlog_version|qlog_format|file_schema|vantage_point|common_fields|event_fields)"|"(transport|quic)[:"]'
)
_SPACES = {"initial": 0, "handshake": 1} | dict.fromkeys(
    ("", "0rtt", "1rtt", "zerortt", "onertt", "short", "application_data"), 2
)
_ACK = {"ack", "ack_ecn", "ack_receive_timestamps"}
# Frames that do not elicit an ACK (RFC 9002, section 2); the last two are picoquic's and mvfst's names.
_NOT_ELICITING = {*_ACK, "padding", "connection_close", "application_close", "connection_close_app_err"}
_NAMES = (*(name for name in schema.COLUMNS if name != "ttl"), "ack_delay_us")

_LEFT_OUT = {
    "ranges": "ACK frames whose ranges cannot be read: left out",
    "back": f"events up to {_MOST_BACK_US} us before the one ahead of them: moved to its time",
    **LEFT_OUT,
}


def looks_like_qlog(head: bytes) -> bool:
    """Return whether `head`, the beginning of a file, is from a qlog."""
    return head.startswith(_SEPARATOR) or (
        head.lstrip().startswith((b"{", b"[")) and _MARKS.search(head) is not None
    )


class _Log:
    """One trace of a qlog file, with its clock and its connections."""

    def __init__(self, owner: QlogTrace, meta: dict[str, Any], title: object) -> None:
        self._owner = owner
        self.connections: dict[str, Connection] = {}
        vantage, self._common = as_object(meta.get("vantage_point")), as_object(meta.get("common_fields"))
        side = str(vantage.get("type", "")).casefold()
        self._near = side != "network"
        if not self._near:
            side = str(vantage.get("flow", "")).casefold()
            owner.warn("recorded on the path: the part from the sender to that point is not in the samples")
        self._side = side if side in ("client", "server") else ""
        self._title = str(vantage.get("name") or meta.get("title") or title or owner.title)
        if self._side not in self._title.casefold():
            self._title += f" {self._side}"
        fields = meta.get("event_fields")
        self._fields = [str(f).casefold() for f in fields] if isinstance(fields, list) else None
        settings = as_object(meta.get("configuration")) | self._common
        self._to_us = 1 if settings.get("time_units") == "us" else 1000  # draft-00 to -02 have both units
        self._format = settings.get("time_format")
        self._delta_us = 0
        self._first_us: int | None = None
        self._last_us = 0

    def take(self, where: str, event: object) -> None:
        """Process one event of the log. `where` is the event's position in the file, as text for messages."""
        if isinstance(event, list) and self._fields is not None:
            event = dict(zip(self._fields, event, strict=False))
        if not isinstance(event, dict):
            raise self._owner.fail(where, 'it is no event: neither an object nor fields of "event_fields"')
        names = (event.get(key) for key in ("name", "event", "event_type", "type"))
        name = next((str(n) for n in names if n is not None), "").rpartition(":")[2].casefold()
        used = name in ("packet_sent", "packet_received", "packet_lost")
        delta = event.get("time_format", self._format) in ("delta", "relative_to_previous_event")
        if not used and not delta:
            return
        now_us = self._clock(where, event, delta, used)
        if used:
            self._packet(where, name, now_us, event)

    def _clock(self, where: str, event: dict[str, Any], delta: bool, used: bool) -> int:
        keys = ("time", "relative_time", "delta_time", "relative_time_us")
        given = next((event[key] for key in keys if key in event), None)
        time = finite(given)
        if time is None:
            raise self._owner.fail(where, f"time: {shown(given)} is no time")
        if abs(time) * self._to_us >= _MOST_US:
            raise self._owner.fail(where, f"time: {shown(given)} is too large")
        time_us = round(time * self._to_us)
        if delta or ("delta_time" in event and "time" not in event and "relative_time" not in event):
            time_us = self._delta_us = max(-_MOST_US, min(self._delta_us + time_us, _MOST_US))
        if not used:
            return time_us
        if self._first_us is None:
            self._first_us = time_us
        now_us = time_us - self._first_us
        if now_us < self._last_us:
            back_us = self._last_us - now_us
            if back_us > _MOST_BACK_US:
                raise self._owner.fail(where, f"time goes back by {back_us} us")
            self._owner.left_out["back"] += 1
            now_us = self._last_us
        self._last_us = now_us
        return now_us

    def _packet(self, where: str, name: str, now_us: int, event: dict[str, Any]) -> None:
        data = as_object(event.get("data"))
        header = as_object(data.get("header"))
        kind = str(header.get("packet_type") or data.get("packet_type") or data.get("type") or "")
        kind = kind.casefold().replace("-", "")
        frames = data.get("frames")
        frames = [f for f in frames if isinstance(f, dict)] if isinstance(frames, list) else None
        names = {str(f.get("frame_type", "")).casefold() for f in frames or ()}
        connection = self._connection(event)
        space = _SPACES.get(kind)
        if name == "packet_received":
            connection.received(now_us, kind, names)
            for frame in frames or ():
                if space is not None and str(frame.get("frame_type", "")).casefold() in _ACK:
                    self._ack(connection, now_us, space, frame)
            return
        if space is None:
            return  # a Retry, Version Negotiation or Stateless Reset
        given = header.get("packet_number", data.get("packet_number"))
        number = whole(given, MOST_NUMBER)
        if number is None:
            raise self._owner.fail(where, f"packet_number: {shown(given)} is no packet number")
        if name == "packet_lost":
            connection.lost(space, number)
        else:
            eliciting = frames is None or not names <= _NOT_ELICITING
            connection.sent(now_us, space, number, packet_bytes(data, header), eliciting, names)

    def _ack(self, connection: Connection, now_us: int, space: int, frame: dict[str, Any]) -> None:
        ranges = acked_ranges(frame.get("acked_ranges"))
        if not ranges:
            self._owner.left_out["ranges"] += 1
            return
        delay = finite(frame.get("ack_delay")) or 0.0  # omitted if 0
        delay_us = round(min(max(delay, 0.0) * self._to_us, _MOST_US))
        connection.acknowledged(now_us, space, ranges, delay_us)

    def _connection(self, event: dict[str, Any]) -> Connection:
        keys = ("group_id", "ODCID", "odcid", "dcid")
        group = next((v for of in (event, self._common) for k in keys if (v := of.get(k)) is not None), "")
        key = group if isinstance(group, str) else json.dumps(group)
        if key not in self.connections:
            name = "".join(c if c.isprintable() else "?" for c in f"{self._title} {key}".strip()[:200])
            self.connections[key] = self._owner.connect(name, self._side, self._near)
        return self.connections[key]


class QlogTrace(SampleTrace):
    """A trace that reads a qlog. Each logged connection is a flow; its sender is the logging endpoint."""

    kind = "qlog"

    def __init__(self, file: TraceFile | Path, options: TraceOptions | None = None) -> None:
        super().__init__(TraceFile.of(file))
        self.title = self._file.title
        self.left_out: Counter[str] = Counter()
        self.rows: list[Row] = []  # rows of all connections that are not yet in a batch
        self.sender = (options or TraceOptions()).sender
        self._names: Counter[str] = Counter()
        self._flows: dict[int, Connection] = {}
        self._packets = self._ack_frames = self._acks = 0

    @property
    def warnings(self) -> list[str]:
        return self._warnings + count_warnings(
            *((self.left_out[what], text) for what, text in _LEFT_OUT.items())
        )

    def flow(self, flow_id: int) -> FlowInfo:
        return self._flows[flow_id].info

    def release(self, flow_id: int) -> None:
        self._flows.pop(flow_id, None)

    def fail(self, where: str, what: str) -> TraceError:
        return TraceError(f"{self._file}: {where}: {what}")

    def warn(self, line: str) -> None:
        if line not in self._warnings:
            self._warnings.append(line)

    def connect(self, name: str, side: str, near: bool) -> Connection:
        self._names[name] += 1
        if self._names[name] > 1:
            name += f" #{self._names[name]}"
        flow = Connection(
            self._made,
            name,
            side,
            near=near,
            chosen=self.sender not in ("client", "server") or self.sender == side,
            left_out=self.left_out,
            rows=self.rows,
        )
        self._flows[flow.info["id"]] = flow
        self._made += 1
        return flow

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the RTT samples in batches. The connections of each trace in the file end with the trace."""
        log: _Log | None = None
        for where, record in self._records():
            if isinstance(record, _Log):
                if log is not None:
                    yield from self._close(log, max_rows)
                log = record
                continue
            if log is None:
                log = _Log(self, {}, None)
            log.take(where, record)
            if len(self.rows) >= max_rows:
                yield from self._taken(max_rows)
        if log is not None:
            yield from self._close(log, max_rows)
        if not self._packets:
            raise TraceError(f"{self._file}: a qlog without a packet_sent event of a QUIC packet")
        if not self._acks:
            what = "no ACK of them is in the log" if not self._ack_frames else "no ACK in the log is of them"
            raise TraceError(f"{self._file}: {self._packets} packets were sent, but {what}")

    def _taken(self, max_rows: int, ended: list[int] | None = None) -> Iterator[Columns]:
        """Yield batches of `max_rows` rows from `self.rows`, and keep the rest. If `ended` (numbers of
        connections) is given, yield all rows, and list these connections as ended in the last batch."""
        count = len(self.rows) if ended is not None else len(self.rows) // max_rows * max_rows
        rows = self.rows[:count]
        del self.rows[:count]
        for start in range(0, max(count, 1 if ended else 0), max_rows):
            last = start + max_rows >= count
            part = rows[start : start + max_rows]
            columns = {name: [row[name] for row in part] for name in _NAMES}
            yield schema.batch(columns, (ended or []) if last else [])

    def _close(self, log: _Log, max_rows: int) -> Iterator[Columns]:
        ended = []
        for flow in log.connections.values():
            flow.finish()
            self._packets += flow.info["data_packets"]
            self._ack_frames += flow.ack_frames
            self._acks += flow.info["acks"]
            if flow.info["acks"]:
                ended.append(flow.info["id"])
            else:
                self.release(flow.info["id"])
        yield from self._taken(max_rows, ended)

    def _records(self) -> Iterator[tuple[str, Any]]:
        """Yield each event with its position in the file (text for messages). Before the events of each trace
        in the file, yield the trace's _Log."""
        head = self._stream.read().removeprefix(b"\xef\xbb\xbf").lstrip()
        separator = _SEPARATOR if head.startswith(_SEPARATOR) else b"\n"
        if separator == b"\n":
            while b"\n" not in head and len(head) <= _MOST_RECORD_BYTES and (data := self._stream.read()):
                head += data
            try:
                first = loads(head.partition(b"\n")[0])
            except ValueError:
                first = None  # the JSON value continues in the following lines
            if not isinstance(first, dict) or "traces" in first or "events" in first:
                yield from self._contained(head)
                return
        for number, text, last in self._texts(head, separator):
            where = f"record {number}"
            try:
                record = loads(text)
            except ValueError as error:
                if not last:
                    raise self.fail(where, f"it is not JSON: {shown(str(error), 80)}") from None
                self.warn(f"{where}, the last one, is cut: left out")
                break
            if isinstance(record, dict) and "name" not in record and any(k in record for k in _HEADER_KEYS):
                yield where, _Log(self, as_object(record.get("trace")), record.get("title"))
            else:
                yield where, record
        if self._stream.damage:
            self.warn(f"read as far as it goes: {self._stream.damage}")

    def _texts(self, rest: bytes, separator: bytes) -> Iterator[tuple[int, bytes, bool]]:
        """Yield the number (from 1) of each JSON text in the file, the text, and whether it is the last one.
        `rest` has the bytes that were already read; `separator` is between the texts."""
        number = 0
        waiting = b""
        while True:
            data = self._stream.read()
            if data and not data.strip(_BETWEEN):  # a small gzip may hold gigabytes of empty lines
                data = separator
            parts = (rest + data).split(separator)
            rest = parts.pop() if data else b""
            for part in parts:
                if text := part.strip(_BETWEEN):
                    if waiting:
                        number += 1
                        yield number, waiting, False
                    waiting = text
            if len(rest) > _MOST_RECORD_BYTES:
                raise self.fail(f"record {number + 1 + bool(waiting)}", "it is longer than 16 MB")
            if not data:
                break
        if waiting:
            yield number + 1, waiting, True

    def _contained(self, head: bytes) -> Iterator[tuple[str, Any]]:
        text = self._stream.gather(_MOST_BYTES + 1, head)
        if len(text) > _MOST_BYTES:
            raise TraceError(
                f"{self._file}: larger than 256 MB unpacked, in one piece; make it JSON text sequences"
            )
        try:
            file = loads(text)
        except TooLargeError as error:
            raise TraceError(f"{self._file}: {error}; convert it to JSON text sequences") from None
        except ValueError as error:
            good = whole_events(text)
            if not good or len(text) - good > _MOST_CUT_BYTES:
                raise TraceError(f"{self._file}: not JSON: {shown(str(error), 80)}") from None
            try:
                file = loads(text[:good] + b"]}]}")
            except ValueError:
                raise TraceError(f"{self._file}: not JSON: {shown(str(error), 80)}") from None
            why = self._stream.damage or "no JSON from there on"
            self.warn(f"the last {len(text) - good} bytes are cut or broken, and left out: {why}")
        del text
        traces = file.get("traces", [file]) if isinstance(file, dict) else None
        if not isinstance(traces, list):
            raise TraceError(f'{self._file}: JSON, but not qlog: there is no "traces" array')
        for index, trace in enumerate(traces):
            events = trace.get("events") if isinstance(trace, dict) else None
            if not isinstance(events, list):
                self.warn(f"trace {index + 1} has no events: left out")
                continue
            traces[index] = None
            yield "", _Log(self, trace, file.get("title"))
            for number, event in enumerate(events):
                yield f"trace {index + 1}, event {number + 1}", event
