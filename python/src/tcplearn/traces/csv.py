# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""RTT samples in CSV, the units in the names of the columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .base import TraceError, TraceFile, TraceOptions, number, shown
from .csv_header import TO_US, Header, parse_header, split_fields
from .plausible import Plausible
from .samples import Int64s, SampleFlow, SampleTrace, slices
from .schema import Columns, empty_batch, joined

_MOST_US = 1 << 62
#: The rows of a chunk are held as text for a moment.
_CHUNK_BYTES = 1 << 20
_MOST_LINE_BYTES = 1 << 22


class CsvTrace(SampleTrace):
    """A trace over a CSV file; batches are in the file's order."""

    kind = "csv"

    def __init__(self, file: TraceFile, options: TraceOptions | None = None) -> None:
        super().__init__(file)
        self._unit = (options or TraceOptions()).unit
        self._flows: dict[str, SampleFlow] = {}
        self._line = 0  # the last line taken
        self._first_us: int | None = None
        self._made_us = 0  # the clock of a file without times
        self._given_last_us: dict[str, int] = {}
        self._waiting: dict[str, tuple[Int64s, Int64s, npt.NDArray[np.bool_]]] = {}
        self._chunks = self._read_chunks()
        self._head: tuple[int, list[str], bool] = (0, [], False)  # what follows the header in its chunk
        self._header = self._read_header()
        self._plausible = None  # of the difference of two times no unit is known
        if (rtt := self._header.rtt) is not None:
            unit = next(u for u, scale in TO_US.items() if scale == self._header.to_us[rtt])
            self._plausible = Plausible(unit)

    def _fail(self, line: int, what: str) -> TraceError:
        return TraceError(f"{self._file}: line {line}: {what}")

    def _read_chunks(self) -> Iterator[tuple[int, list[str], bool]]:
        """Yield the number of lines before, whole lines, and whether the last of them may be cut."""
        rest = b""
        line = 0
        while True:
            parts = [rest]
            size = 0
            while size < _CHUNK_BYTES and (data := self._stream.read()):
                parts.append(data)
                size += len(data)
            text = b"".join(parts)
            last = size < _CHUNK_BYTES
            cut = len(text) if last else text.rfind(b"\n") + 1
            whole, rest = text[:cut], text[cut:]
            if len(rest) > _MOST_LINE_BYTES:
                raise self._fail(line + 1, "it is longer than 4 MB; is this a CSV file?")
            if whole and whole.isspace():  # a small gzip may hold gigabytes of empty lines
                line += whole.count(b"\n")
            elif whole:
                lines = self._decode(whole, line).split("\n")
                yield line, lines, last and not whole.endswith(b"\n")
                line += len(lines) - 1
            if last:
                return

    def _decode(self, data: bytes, before: int) -> str:
        try:
            return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            line = before + 1 + data.count(b"\n", 0, error.start)
            raise self._fail(line, "it is not UTF-8 text") from None

    def _read_header(self) -> Header:
        for before, lines, cut in self._chunks:
            for index, line in enumerate(lines):
                if line.strip():
                    title = before + index + 1
                    header = parse_header(f"{self._file}: line {title}", line.lstrip("\ufeff"), self._unit)
                    self._warnings += header.warnings
                    self._head = (title, lines[index + 1 :], cut)
                    return header
        damage = self._stream.damage
        raise TraceError(
            f"{self._file}: " + (f"nothing in it can be read: {damage}" if damage else "the file is empty")
        )

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield batches of at most `max_rows` rows."""
        rows = 0
        chunk: tuple[int, list[str], bool] | None = self._head
        self._head = (0, [], False)
        while chunk is not None:
            self._line, lines, cut = chunk
            following = next(self._chunks, None)
            final = following is None
            # Where the data breaks off its last line may lack digits that nobody misses.
            if final and self._stream.damage and lines and lines[-1]:
                lines = lines[:-1]
            batch = self._take(lines, cut and final, final)
            rows += len(batch["time_us"])
            yield from slices(batch, max_rows)
            chunk = following
        if rows == 0:
            raise TraceError(f"{self._file}: there are no rows below the header")
        if self._plausible:
            self._warnings += self._plausible.warnings()
        if self._stream.damage:
            self._warnings.append(f"read up to line {self._line} only: {self._stream.damage}")

    def _take(self, lines: list[str], may_be_cut: bool, final: bool) -> Columns:
        first_line = self._line + 1
        self._line += len(lines) - (1 if lines and not lines[-1] else 0)
        kept = [i for i, line in enumerate(lines) if line and not line.isspace()]
        numbers = np.array(kept, np.int64) + first_line
        texts = [lines[i] for i in kept]
        table, names = self._parse(numbers, texts, may_be_cut)
        numbers = numbers[: len(table)]
        self._check(table, numbers)
        return self._derive(table, names, numbers, final)

    def _parse(
        self, numbers: Int64s, texts: list[str], may_be_cut: bool
    ) -> tuple[npt.NDArray[np.float64], list[str] | None]:
        """Return the used columns as numbers, and the flow of each row where the file has a column for it."""
        header = self._header
        separators = header.width - 1
        plain = texts and not any('"' in text for text in texts)
        if plain and all(text.count(header.delimiter) == separators for text in texts):
            try:
                table = np.loadtxt(
                    texts, delimiter=header.delimiter, usecols=header.used, comments=None, ndmin=2
                )
            except ValueError:
                pass  # some line is wrong: the slow way finds it
            else:
                names = None
                if header.flow is not None:
                    names = [text.split(header.delimiter)[header.flow].strip() for text in texts]
                return table, names
        rows: list[list[float]] = []
        flows: list[str] = []
        for index, text in enumerate(texts):
            try:
                fields = split_fields(text, header.delimiter)
                rows.append(self._numbers(fields))
            except ValueError as error:
                if may_be_cut and index == len(texts) - 1:
                    self._warnings.append(f"line {numbers[index]} is cut: left out")
                    break
                raise self._fail(int(numbers[index]), str(error)) from None
            if header.flow is not None:
                flows.append(fields[header.flow])
        table = np.array(rows, np.float64).reshape(len(rows), len(header.used))
        return table, flows if header.flow is not None else None

    def _numbers(self, fields: list[str]) -> list[float]:
        header = self._header
        if len(fields) != header.width:
            raise ValueError(f"it has {len(fields)} fields, the header {header.width}")
        values = []
        for name, index in zip(header.names, header.used, strict=True):
            try:
                values.append(number(fields[index]))
            except ValueError:
                what = f'"{shown(fields[index])}" is not a number' if fields[index] else "it is empty"
                raise ValueError(f"{name}: {what}") from None
        return values

    def _check(self, table: npt.NDArray[np.float64], numbers: Int64s) -> None:
        bad = np.argwhere(~np.isfinite(table))
        if len(bad):
            row, column = bad[0]
            raise self._fail(
                int(numbers[row]), f"{self._header.names[column]}: {table[row, column]} is no value"
            )
        large = np.argwhere(np.abs(table * self._header.to_us) >= _MOST_US)
        if len(large):
            row, column = large[0]
            raise self._fail(
                int(numbers[row]), f"{self._header.names[column]}: {table[row, column]:g} is too large"
            )

        for name, (index, _) in self._header.extras.items():
            below = np.flatnonzero(table[:, index] < 0)
            if len(below):
                raise self._fail(int(numbers[below[0]]), f"{name}: {table[below[0], index]:g} is below zero")

    def _microseconds(self, table: npt.NDArray[np.float64], column: int) -> Int64s:
        scaled: Int64s = np.rint(table[:, column] * self._header.to_us[column]).astype(np.int64)
        return scaled

    def _derive(
        self, table: npt.NDArray[np.float64], names: list[str] | None, numbers: Int64s, final: bool
    ) -> Columns:
        header, count = self._header, len(table)
        resent = np.zeros(count, np.bool_)
        if header.resent is not None:
            resent = table[:, header.resent] != 0
        time_us = sent_us = None
        if header.time is not None:
            time_us = self._microseconds(table, header.time)
        if header.sent is not None:
            sent_us = self._microseconds(table, header.sent)
        if header.rtt is not None:
            rtt_us = self._microseconds(table, header.rtt)
            # Less than half a microsecond is still a round trip.
            positive = table[:, header.rtt] > 0
            rtt_us = np.where(positive, np.maximum(rtt_us, 1), rtt_us)
        else:
            assert time_us is not None and sent_us is not None  # parse_header saw to it
            rtt_us = time_us - sent_us
            positive = rtt_us > 0
        wrong = np.flatnonzero(~positive & ~resent)
        if len(wrong):
            name = header.names[header.rtt] if header.rtt is not None else "the time less the sending time"
            raise self._fail(int(numbers[wrong[0]]), f"{name}: a round trip must be above zero")

        rtt_us = np.maximum(rtt_us, 0)
        if self._plausible:
            self._plausible.add(rtt_us[~resent])
        given_us = time_us if time_us is not None else sent_us
        if given_us is None:
            given_us = self._made_us + np.cumsum(rtt_us)
            self._made_us = int(given_us[-1]) if count else self._made_us
        if count and self._first_us is None:
            self._first_us = int(given_us[0])
        given_us = given_us - (self._first_us or 0)
        by_sending = time_us is None and sent_us is not None

        pieces: list[Columns] = []
        order: list[npt.NDArray[np.intp]] = []
        extras = header.extras
        for name, rows in _groups(names, count):
            self._check_order(name, given_us[rows], numbers[rows])
            flow = self._flow(name)
            if by_sending:
                piece = self._sorted(flow, name, given_us[rows], rtt_us[rows], resent[rows], final)
                if piece is None:
                    continue
            else:
                piece = flow.columns(given_us[rows], rtt_us[rows], resent[rows])
                for column, (index, largest) in extras.items():
                    piece[column] = np.clip(np.rint(table[rows, index]), 0, largest).astype(
                        piece[column].dtype
                    )
                np.maximum(piece["flight_segments"], 1, out=piece["flight_segments"])
            pieces.append(piece)
            order.append(rows)
        if by_sending and final:
            for name in list(self._waiting):
                piece = self._sorted(self._flow(name), name, *_nothing(), final)
                if piece is not None:
                    pieces.append(piece)
        batch = empty_batch()
        if pieces:
            batch.update(joined(pieces))
            if by_sending:
                back = np.argsort(batch["time_us"], kind="stable")
            else:
                back = np.argsort(np.concatenate(order), kind="stable")
            for key in pieces[0]:
                batch[key] = batch[key][back]
        if final:
            batch["ended"] = np.array(sorted(self._by_id), np.uint32)
        return batch

    def _check_order(self, name: str, given_us: Int64s, numbers: Int64s) -> None:
        last = self._given_last_us.get(name)
        steps = np.diff(given_us, prepend=given_us[0] if last is None else last)
        back = np.flatnonzero(steps < 0)
        if len(back):
            where = f" in flow {shown(name)}" if self._header.flow is not None else ""
            raise self._fail(int(numbers[back[0]]), f"time goes back by {-int(steps[back[0]])} us{where}")
        self._given_last_us[name] = int(given_us[-1])

    def _flow(self, name: str) -> SampleFlow:
        flow = self._flows.get(name)
        if flow is None:
            flow = SampleFlow(len(self._flows), name or self._file.title)
            self._flows[name] = flow
            self._by_id[flow.id] = flow
        return flow

    def _sorted(
        self,
        flow: SampleFlow,
        name: str,
        sent_us: Int64s,
        rtt_us: Int64s,
        resent: npt.NDArray[np.bool_],
        final: bool,
    ) -> Columns | None:
        """From the order of sending to that of arrival; rows that others may overtake are kept back."""
        old_time, old_rtt, old_resent = self._waiting.pop(name, _nothing())
        time_us = np.concatenate((old_time, sent_us + rtt_us))
        rtt_us = np.concatenate((old_rtt, rtt_us))
        resent = np.concatenate((old_resent, resent))
        by_time = np.argsort(time_us, kind="stable")
        time_us, rtt_us, resent = time_us[by_time], rtt_us[by_time], resent[by_time]
        # Whatever is sent later arrives after the last sending so far.
        ready = len(time_us) if final else int(np.searchsorted(time_us, sent_us[-1], side="right"))
        if ready < len(time_us):
            self._waiting[name] = (time_us[ready:], rtt_us[ready:], resent[ready:])
        return flow.columns(time_us[:ready], rtt_us[:ready], resent[:ready]) if ready else None


def _nothing() -> tuple[Int64s, Int64s, npt.NDArray[np.bool_]]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_)


def _groups(names: list[str] | None, count: int) -> Iterator[tuple[str, npt.NDArray[np.intp]]]:
    if count == 0:
        return
    if names is None:
        yield "", np.arange(count)
        return
    ids: dict[str, int] = {}
    codes = np.array([ids.setdefault(name, len(ids)) for name in names], np.intp)
    by_flow = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[by_flow], np.arange(len(ids) + 1))
    for name, start, end in zip(ids, starts[:-1], starts[1:], strict=True):
        yield name, by_flow[start:end]
