# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""QUIC logs in qlog (draft-ietf-quic-qlog-main-schema, -quic-events), from draft-00 on, as any JSON."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .base import COLUMNS, ByteStream, Columns, FlowInfo, Reason, TraceError, TraceOptions

_MOST_BYTES = 1 << 30  # of a contained file: it is held in memory
_MOST_RECORD_BYTES = 1 << 24
_MOST_CUT_BYTES = 1 << 20  # more than an event
_MOST_NUMBER = (1 << 62) - 1  # RFC 9000, 12.3
_MOST_US = 1 << 61
_MOST_COUNT = (1 << 32) - 1
#: Loggers of several threads swap events by so much; more is another clock.
_MOST_BACK_US = 1000
#: Packets a number space remembers above and below the largest acknowledged one.
_MOST_AHEAD = 1 << 17
_MOST_BEHIND = 1 << 10
_MOST_WAITING = 1 << 16
_REORDERING = 3  # kPacketThreshold (RFC 9002, 6.1.1)

_SEPARATOR = b"\x1e"  # RFC 7464
_HEADER_KEYS = ("qlog_version", "qlog_format", "file_schema", "trace", "traces")
_MARKS = re.compile(
    rb'"(qlog_version|qlog_format|file_schema|vantage_point|common_fields|event_fields)"|"(transport|quic)[:"]'
)
_SPACES = {"initial": 0, "handshake": 1} | dict.fromkeys(
    ("", "0rtt", "1rtt", "zerortt", "onertt", "short", "application_data"), 2
)
_ACK = {"ack", "ack_ecn", "ack_receive_timestamps"}
# RFC 9002, section 2; the last two as picoquic and mvfst call a CONNECTION_CLOSE of the application.
_NOT_ELICITING = {*_ACK, "padding", "connection_close", "application_close", "connection_close_app_err"}
_TYPES = COLUMNS | {"ack_delay_us": np.int64}

_LEFT_OUT = {
    "ranges": "ACK frames whose ranges cannot be read: left out",
    "twice": "packets whose number was sent before: left out",
    "back": f"events up to {_MOST_BACK_US} us before the one ahead of them: moved to its time",
    "many": "packets forgotten, as too many were never acknowledged",
}


def looks_like_qlog(head: bytes) -> bool:
    """Whether the first bytes of a file are a qlog's."""
    return head.startswith(_SEPARATOR) or (
        head.lstrip().startswith((b"{", b"[")) and _MARKS.search(head) is not None
    )


class _Packet:
    """A packet that was sent; `out` as long as it elicits an ACK and is neither acknowledged nor lost."""

    __slots__ = ("eliciting", "lost", "order", "out", "sent_us", "size")

    def __init__(self, sent_us: int, size: int, order: int, eliciting: bool) -> None:
        self.sent_us, self.size, self.order, self.eliciting = sent_us, size, order, eliciting
        self.out, self.lost = eliciting, False


class _Space:
    """A packet number space (RFC 9000, 12.3)."""

    def __init__(self) -> None:
        self.packets: dict[int, _Packet] = {}
        self.numbers: list[int] = []  # of `packets`, ascending
        self.largest_sent = self.largest_acked = -1
        self.closed = False

    def take(self, start: int, end: int) -> list[tuple[int, _Packet]]:
        """Remove numbers[start:end]."""
        taken = [(number, self.packets.pop(number)) for number in self.numbers[start:end]]
        del self.numbers[start:end]
        return taken


class _Connection:
    """One connection as one endpoint saw it, and the rows that came of it."""

    def __init__(self, number: int, name: str, side: str, near: bool, owner: QlogTrace) -> None:
        self.info = FlowInfo(
            id=number,
            peer=number,
            name=name,
            near_sender=near,
            near_reason="",
            chosen=owner.sender not in ("client", "server") or owner.sender == side,
            data_packets=0,
            data_bytes=0,
            retransmitted_packets=0,
            acks=0,
            samples=0,
            mss_bytes=0,
            first_us=0,
            last_us=0,
        )
        self.ack_frames = 0
        self._side, self._left_out, self._rows = side, owner.left_out, owner.rows
        self._spaces = (_Space(), _Space(), _Space())
        self._order: deque[_Packet] = deque()  # ack-eliciting ones, as sent; those not out leave at its head
        self._sent = 0
        self._out = self._out_bytes = 0
        self._armed_us: int | None = None
        self._lost_head: _Packet | None = None  # oldest of those declared lost since the last row
        self._acked_order = -1
        self._latest_rtt_us: int | None = None
        self._waiting: deque[tuple[list[int], _Packet]] = deque()

    def sent(
        self, now_us: int, space: int, number: int, size: int, eliciting: bool, frames: set[str]
    ) -> None:
        info, of = self.info, self._spaces[space]
        info["first_us"] = info["first_us"] if self._sent else now_us
        info["last_us"] = now_us
        if space == 1 and self._side == "client":
            self._close(0)  # RFC 9001, 4.9.1
        if "handshake_done" in frames:
            self._close(1)
        if number <= of.largest_sent or of.closed:
            self._left_out["twice"] += not of.closed
            return
        packet = _Packet(now_us, size, self._sent, eliciting)
        self._sent += 1
        of.largest_sent = number
        of.packets[number] = packet
        of.numbers.append(number)
        if eliciting:
            self._order.append(packet)
            if self._out == 0:
                self._armed_us = now_us  # RFC 6298, (5.1)
            self._out += 1
            self._out_bytes += size
            info["data_packets"] += 1
            info["data_bytes"] += size
            info["mss_bytes"] = max(info["mss_bytes"], size)
        if len(of.numbers) > _MOST_AHEAD + _MOST_BEHIND:
            self._left_out["many"] += 1
            self._forget(of, 1)

    def received(self, now_us: int, kind: str, frames: set[str]) -> None:
        self.info["last_us"] = now_us
        if kind in ("retry", "version_negotiation"):  # RFC 9002, 6.3
            self._discard(0)
            self._spaces[0].largest_sent = -1
        if kind == "handshake" and self._side != "client":
            self._close(0)
        if "handshake_done" in frames:
            self._close(1)

    def acknowledged(self, now_us: int, space: int, ranges: list[tuple[int, int]], delay_us: int) -> None:
        """Take an ACK frame: a row if it newly acknowledges something ack-eliciting."""
        of = self._spaces[space]
        self.ack_frames += 1
        newly: list[tuple[int, _Packet]] = []
        for low, high in ranges:
            newly += of.take(bisect_left(of.numbers, low), bisect_right(of.numbers, high))
        largest = max(high for _, high in ranges)
        reason = Reason.SACKED_EARLIER if largest <= of.largest_acked else Reason.NOT_CAPTURED
        of.largest_acked = max(of.largest_acked, min(largest, of.largest_sent))
        eliciting = [packet for _, packet in newly if packet.eliciting]
        if eliciting:
            # RFC 9002, 5.1: the largest acknowledged is new, and something new elicits ACKs.
            timed = next((packet for number, packet in newly if number == largest), None)
            self._row(now_us, timed, reason, eliciting, delay_us)
        behind = bisect_right(of.numbers, of.largest_acked)
        if behind > _MOST_BEHIND:
            self._forget(of, behind - _MOST_BEHIND)
        self._settle()

    def _row(
        self, now_us: int, timed: _Packet | None, reason: int, acked: list[_Packet], delay_us: int
    ) -> None:
        heads = [packet for packet in (self._head(), self._lost_head) if packet is not None]
        head = min(heads or acked, key=lambda packet: packet.order)
        armed_us = head.sent_us if self._armed_us is None else self._armed_us
        flight = (min(self._out_bytes, _MOST_COUNT), max(self._out, 1))
        for packet in acked:
            self._remove(packet)
        self._lost_head = None
        self._armed_us = now_us if self._out else None  # RFC 6298, (5.2) and (5.3)
        self._acked_order = max(self._acked_order, *(packet.order for packet in acked))
        sent_us = rtt_us = -1
        if timed is not None:
            sent_us, rtt_us, reason = timed.sent_us, now_us - timed.sent_us, Reason.NONE
            self._latest_rtt_us = rtt_us
        acked_bytes = min(sum(packet.size for packet in acked), _MOST_COUNT)
        row = [now_us, sent_us, rtt_us, armed_us, head.sent_us, self.info["id"], acked_bytes, *flight]
        self._waiting.append(([*row, 0, 0, reason, delay_us], head))
        self.info["acks"] += 1
        self.info["samples"] += timed is not None
        self._give_up(now_us)

    def _give_up(self, now_us: int) -> None:
        """Take for lost what no event declares so: older than 2 RTT and than three acknowledged packets."""
        while (head := self._head()) is not None and self._latest_rtt_us is not None:
            if (
                head.order + _REORDERING > self._acked_order
                or now_us - head.sent_us <= 2 * self._latest_rtt_us
            ):
                return
            self._lose(head)

    def lost(self, space: int, number: int) -> None:
        packet = self._spaces[space].packets.get(number)
        if packet is not None and packet.out:
            self._lose(packet)
            if self._lost_head is None or packet.order < self._lost_head.order:
                self._lost_head = packet
            self._settle()

    def _lose(self, packet: _Packet) -> None:
        # It stays in its space: its ACK may still come, and times it.
        self._remove(packet)
        packet.lost = True
        self.info["retransmitted_packets"] += 1

    def _remove(self, packet: _Packet) -> None:
        if packet.out:
            packet.out = False
            self._out -= 1
            self._out_bytes -= packet.size
            if self._out == 0:
                self._armed_us = None

    def _head(self) -> _Packet | None:
        while self._order and not self._order[0].out:
            self._order.popleft()
        return self._order[0] if self._order else None

    def _forget(self, of: _Space, count: int) -> None:
        for _, packet in of.take(0, count):
            if packet.out:
                self._lose(packet)
        self._head()

    def _discard(self, space: int) -> None:
        of = self._spaces[space]
        for _, packet in of.take(0, len(of.numbers)):
            self._remove(packet)  # RFC 9002, 6.4
            packet.lost = True  # nobody will know
        self._settle()

    def _close(self, space: int) -> None:
        if not self._spaces[space].closed:
            self._spaces[space].closed = True
            self._discard(space)

    def _settle(self, final: bool = False) -> None:
        """Pass on the rows of whose oldest packet it is known whether it was lost."""
        while self._waiting:
            row, head = self._waiting[0]
            if head.out and not final:
                if len(self._waiting) <= _MOST_WAITING:
                    return
                self._lose(head)
            row[9] = int(head.lost or head.out)
            self._rows.append(row)
            self._waiting.popleft()

    def finish(self) -> None:
        self._settle(final=True)


class _Log:
    """One trace of a file: its clock and its connections."""

    def __init__(self, owner: QlogTrace, meta: dict[str, Any], title: object) -> None:
        self._owner = owner
        self.connections: dict[str, _Connection] = {}
        vantage, self._common = _object(meta.get("vantage_point")), _object(meta.get("common_fields"))
        side = str(vantage.get("type", "")).casefold()
        self._near = side != "network"
        if not self._near:
            side = str(vantage.get("flow", "")).casefold()
            owner.warn("recorded on the path: the part from the sender to that point is not in the samples")
        self._side = side if side in ("client", "server") else ""
        self._title = str(vantage.get("name") or meta.get("title") or title or owner.path.name)
        if self._side not in self._title.casefold():
            self._title += f" {self._side}"
        fields = meta.get("event_fields")
        self._fields = [str(f).casefold() for f in fields] if isinstance(fields, list) else None
        settings = _object(meta.get("configuration")) | self._common
        self._to_us = 1 if settings.get("time_units") == "us" else 1000  # draft-00 to -02 had both
        self._format = settings.get("time_format")
        self._delta_us = 0
        self._first_us: int | None = None
        self._last_us = 0

    def take(self, where: str, event: object) -> None:
        """Take one event."""
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
        time = _number(given)
        if time is None:
            raise self._owner.fail(where, f"time: {_short(given)} is no time")
        if abs(time) * self._to_us >= _MOST_US:
            raise self._owner.fail(where, f"time: {_short(given)} is too large")
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
        data = _object(event.get("data"))
        header = _object(data.get("header"))
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
            return  # retry, version negotiation, stateless reset
        given = header.get("packet_number", data.get("packet_number"))
        number = _whole(given, _MOST_NUMBER)
        if number is None:
            raise self._owner.fail(where, f"packet_number: {_short(given)} is no packet number")
        if name == "packet_lost":
            connection.lost(space, number)
        else:
            eliciting = frames is None or not names <= _NOT_ELICITING
            connection.sent(now_us, space, number, _size(data, header), eliciting, names)

    def _ack(self, connection: _Connection, now_us: int, space: int, frame: dict[str, Any]) -> None:
        ranges = _ranges(frame.get("acked_ranges"))
        if not ranges:
            self._owner.left_out["ranges"] += 1
            return
        # Loggers leave out a delay of zero.
        delay = _number(frame.get("ack_delay")) or 0.0
        delay_us = round(min(max(delay, 0.0) * self._to_us, _MOST_US))
        connection.acknowledged(now_us, space, ranges, delay_us)

    def _connection(self, event: dict[str, Any]) -> _Connection:
        keys = ("group_id", "ODCID", "odcid", "dcid")
        group = next((v for of in (event, self._common) for k in keys if (v := of.get(k)) is not None), "")
        key = group if isinstance(group, str) else json.dumps(group)
        if key not in self.connections:
            name = "".join(c if c.isprintable() else "?" for c in f"{self._title} {key}".strip()[:200])
            self.connections[key] = self._owner.connect(name, self._side, self._near)
        return self.connections[key]


class QlogTrace:
    """A trace over a qlog: each connection that an endpoint logged is a flow, the endpoint its sender."""

    kind = "qlog"

    def __init__(self, path: Path, options: TraceOptions | None = None) -> None:
        self.path = path
        self.left_out: Counter[str] = Counter()
        self.rows: list[list[int]] = []  # of all connections, not yet in a batch
        self.sender = (options or TraceOptions()).sender
        self._stream = ByteStream(path)
        self._warnings: list[str] = []
        self._names: Counter[str] = Counter()
        self._flows: dict[int, _Connection] = {}
        self._made = self._packets = self._ack_frames = self._acks = 0

    @property
    def warnings(self) -> list[str]:
        """One line for each thing left out or made up; complete after the last batch."""
        counted = ((self.left_out[what], text) for what, text in _LEFT_OUT.items())
        return self._warnings + [f"{count} {text}" for count, text in counted if count]

    @property
    def progress(self) -> float:
        """The share of the file that was read, 0 to 1."""
        return self._stream.progress

    def flow(self, flow_id: int) -> FlowInfo:
        """Return what is known of a connection."""
        return self._flows[flow_id].info

    def release(self, flow_id: int) -> None:
        """Forget an ended connection."""
        self._flows.pop(flow_id, None)

    def fail(self, where: str, what: str) -> TraceError:
        return TraceError(f"{self.path}: {where}: {what}")

    def warn(self, line: str) -> None:
        if line not in self._warnings:
            self._warnings.append(line)

    def connect(self, name: str, side: str, near: bool) -> _Connection:
        self._names[name] += 1
        if self._names[name] > 1:
            name += f" #{self._names[name]}"
        flow = _Connection(self._made, name, side, near, self)
        self._flows[flow.info["id"]] = flow
        self._made += 1
        return flow

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield batches of at most `max_rows` rows; connections end with the trace they stand in."""
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
            raise TraceError(f"{self.path}: a qlog without a packet_sent event of a QUIC packet")
        if not self._acks:
            what = "no ACK of them is in the log" if not self._ack_frames else "no ACK in the log is of them"
            raise TraceError(f"{self.path}: {self._packets} packets were sent, but {what}")

    def _taken(self, max_rows: int, ended: list[int] | None = None) -> Iterator[Columns]:
        """Yield the rows that are whole batches, all of them where `ended` tells what ends with the last."""
        whole = len(self.rows) if ended is not None else len(self.rows) // max_rows * max_rows
        rows = self.rows[:whole]
        del self.rows[:whole]
        for start in range(0, max(whole, 1 if ended else 0), max_rows):
            last = start + max_rows >= whole
            yield _batch(rows[start : start + max_rows], (ended or []) if last else [])

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
        """Yield events, each with its place, and before those of a trace its _Log."""
        head = self._stream.read().removeprefix(b"\xef\xbb\xbf").lstrip()
        separator = _SEPARATOR if head.startswith(_SEPARATOR) else b"\n"
        if separator == b"\n":
            while b"\n" not in head and len(head) <= _MOST_RECORD_BYTES and (data := self._stream.read()):
                head += data
            try:
                first = _parsed(head.partition(b"\n")[0])
            except ValueError:
                first = None  # one that goes on in the lines below
            if not isinstance(first, dict) or "traces" in first or "events" in first:
                yield from self._contained(head)
                return
        for number, text, last in self._texts(head, separator):
            where = f"record {number}"
            try:
                record = _parsed(text)
            except ValueError as error:
                if not last:
                    raise self.fail(where, f"it is not JSON: {_short(str(error), 80)}") from None
                self.warn(f"{where}, the last one, is cut: left out")
                break
            if isinstance(record, dict) and "name" not in record and any(k in record for k in _HEADER_KEYS):
                yield where, _Log(self, _object(record.get("trace")), record.get("title"))
            else:
                yield where, record
        if self._stream.damage:
            self.warn(f"read as far as it goes: {self._stream.damage}")

    def _texts(self, rest: bytes, separator: bytes) -> Iterator[tuple[int, bytes, bool]]:
        """Yield the JSON texts, counted from 1, and whether each is the last."""
        number = 0
        waiting = b""
        while True:
            data = self._stream.read()
            parts = (rest + data).split(separator)
            rest = parts.pop() if data else b""
            for part in parts:
                if text := part.strip(b" \t\r\n\x1e"):
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
        parts = [head]
        size = len(head)
        while part := self._stream.read():
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise TraceError(
                    f"{self.path}: larger than 1 GB unpacked, in one piece; convert it to JSON text sequences"
                )
        text = b"".join(parts)
        parts.clear()
        try:
            file = _parsed(text)
        except ValueError as error:
            good = _whole_events(text)
            if not good or len(text) - good > _MOST_CUT_BYTES:
                raise TraceError(f"{self.path}: not JSON: {_short(str(error), 80)}") from None
            try:
                file = _parsed(text[:good] + b"]}]}")
            except ValueError:
                raise TraceError(f"{self.path}: not JSON: {_short(str(error), 80)}") from None
            why = self._stream.damage or "no JSON from there on"
            self.warn(f"the last {len(text) - good} bytes are cut or broken, and left out: {why}")
        del text
        traces = file.get("traces", [file]) if isinstance(file, dict) else None
        if not isinstance(traces, list):
            raise TraceError(f'{self.path}: JSON, but not qlog: there is no "traces" array')
        for index, trace in enumerate(traces):
            events = trace.get("events") if isinstance(trace, dict) else None
            if not isinstance(events, list):
                self.warn(f"trace {index + 1} has no events: left out")
                continue
            traces[index] = None
            yield "", _Log(self, trace, file.get("title"))
            for number, event in enumerate(events):
                yield f"trace {index + 1}, event {number + 1}", event


def _batch(rows: list[list[int]], ended: list[int]) -> Columns:
    columns = list(zip(*rows, strict=True)) or [()] * len(_TYPES)
    batch: Columns = {
        name: np.array(column, kind) for (name, kind), column in zip(_TYPES.items(), columns, strict=True)
    }
    batch["ended"] = np.array(ended, np.uint32)
    return batch


def _parsed(text: bytes) -> Any:
    """Return the JSON value; raise ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _whole_events(text: bytes) -> int:
    """Return where the last whole event of a contained qlog ends, 0 if none does."""
    stack, good = bytearray(), 0
    for found in re.finditer(rb'"[^"\\]*(?:\\.[^"\\]*)*\\?(?:"|\Z)|[\[\]{}]', text, re.DOTALL):
        token = found.group()
        if token in (b"[", b"{"):
            stack += token
        elif token in (b"]", b"}"):
            if not stack:
                break
            stack.pop()
            if stack == b"{[{[":  # an array of events
                good = found.end()
    return good


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _short(value: object, most: int = 40) -> str:
    text = value if isinstance(value, str) else repr(value)
    return "".join(c if c.isprintable() else "?" for c in text[:most])


def _number(value: object) -> float | None:
    """Return a finite number; mvfst writes times as strings."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _whole(value: object, most: int) -> int | None:
    """Return an integer of 0 to `most`; draft-01 wrote those of 64 bits as strings."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= most else None


def _ranges(given: object) -> list[tuple[int, int]]:
    """Return the (low, high) of `acked_ranges`, nothing if one of them is none."""
    ranges = []
    for pair in given if isinstance(given, list) else ():
        if not isinstance(pair, list) or len(pair) not in (1, 2):
            return []
        low, high = _whole(pair[0], _MOST_NUMBER), _whole(pair[-1], _MOST_NUMBER)
        if low is None or high is None or low > high:
            return []
        ranges.append((low, high))
    return ranges


def _size(data: dict[str, Any], header: dict[str, Any]) -> int:
    raw = _object(data.get("raw"))
    given = (raw.get("length"), header.get("packet_size"), data.get("packet_size"))
    sizes = (*given, raw.get("payload_length"), header.get("payload_length"))
    return next((n for size in sizes if (n := _whole(size, 65_535)) is not None), 0)
