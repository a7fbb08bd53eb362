# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read RTT samples from CSV files. The names of the columns contain their units."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt

from .base import FlowInfo, TraceError, TraceFile, TraceOptions, number, shown
from .csv_header import TO_US, Header, parse_header, split_fields
from .many_flows import Int64s, ManyFlows
from .samples import Plausible, SampleTrace, slices
from .schema import COLUMNS, Columns, empty_batch

_MOST_US = 1 << 62
_CHUNK_BYTES = 1 << 20  # size of a chunk, whose rows are held as text while they are parsed
_MOST_LINE_BYTES = 1 << 22
_ENDED = 1 << 16  # most flows that end with one batch, because all their results are in memory at once


class CsvTrace(SampleTrace):
    """A trace that reads a CSV file. The rows of a batch are in the file's order, or, if the file has only
    times of sending, in order of arrival."""

    kind = "csv"

    def __init__(self, file: TraceFile, options: TraceOptions | None = None) -> None:
        super().__init__(file)
        self._unit = (options or TraceOptions()).unit
        self._flows = ManyFlows()
        self._line = 0  # number of the last line taken
        self._first_us: int | None = None
        self._made_us = 0  # time of the last row of a file without times
        self._chunks = self._read_chunks()
        self._header = self._read_header()
        self._plausible = None  # an RTT computed from two times has no unit that could be wrong
        if (rtt := self._header.rtt) is not None:
            unit = next(u for u, scale in TO_US.items() if scale == self._header.to_us[rtt])
            self._plausible = Plausible(unit)

    def _fail(self, line: int, what: str) -> TraceError:
        return TraceError(f"{self._file}: line {line}: {what}")

    def _read_chunks(self) -> Iterator[tuple[int, list[str], bool]]:
        """Yield the chunks: (number of earlier lines, lines, whether the last line may be cut off)."""
        rest = b""
        line = 0
        last = False
        while not last:
            data = self._stream.gather(_CHUNK_BYTES)
            text, last = rest + data, len(data) < _CHUNK_BYTES
            cut = len(text) if last else text.rfind(b"\n") + 1
            whole, rest = text[:cut], text[cut:]
            if len(rest) > _MOST_LINE_BYTES:
                raise self._fail(line + 1, "it is longer than 4 MB; is this a CSV file?")
            if whole and whole.isspace():  # a small gzip file may contain gigabytes of empty lines
                line += whole.count(b"\n")
            elif whole:
                lines = self._decode(whole, line).split("\n")
                yield line, lines, last and not whole.endswith(b"\n")
                line += len(lines) - 1

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
                    self._chunks = chain([(title, lines[index + 1 :], cut)], self._chunks)
                    return header
        raise self._stream.nothing(self._file)

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the RTT samples in batches of at most `max_rows` rows."""
        rows = 0
        chunk = next(self._chunks, None)
        while chunk is not None:
            self._line, lines, cut = chunk
            following = next(self._chunks, None)
            final = following is None
            # If the data end early, the last line may lack digits and still be a valid number.
            if final and self._stream.damage and lines and lines[-1]:
                lines = lines[:-1]
            for batch in self._take(lines, cut and final, final):
                rows += len(batch["time_us"])
                yield from slices(batch, max_rows)
            chunk = following
        if rows == 0:
            raise TraceError(f"{self._file}: there are no rows below the header")
        if self._plausible:
            self._warnings += self._plausible.warnings()
        if self._stream.damage:
            self._warnings.append(f"read up to line {self._line} only: {self._stream.damage}")

    def flow(self, flow_id: int) -> FlowInfo:
        return self._flows.info(flow_id, self._file.title)

    def release(self, flow_id: int) -> None:
        self._flows.forget(flow_id)

    def _take(self, lines: list[str], may_be_cut: bool, final: bool) -> Iterator[Columns]:
        kept = [i for i, line in enumerate(lines) if line and not line.isspace()]
        numbers = np.array(kept, np.int64) + self._line + 1
        self._line += len(lines) - (1 if lines and not lines[-1] else 0)
        table, names = self._parse(numbers, [lines[i] for i in kept], may_be_cut)
        numbers = numbers[: len(table)]
        self._check(table, numbers)
        batch = self._derive(table, names, numbers)
        if final:
            yield from self._last(batch)
        else:
            yield batch

    def _parse(
        self, numbers: Int64s, texts: list[str], may_be_cut: bool
    ) -> tuple[npt.NDArray[np.float64], list[str] | None]:
        """Parse the lines `texts`, whose line numbers are `numbers`. Return the numeric columns in use and
        the rows' flow names (None without a flow column). If `may_be_cut`, omit a malformed last line."""
        header = self._header
        separators = header.width - 1
        plain = texts and not any('"' in text for text in texts)
        if plain and all(text.count(header.delimiter) == separators for text in texts):
            try:
                table = np.loadtxt(
                    texts, delimiter=header.delimiter, usecols=header.used, comments=None, ndmin=2
                )
            except ValueError:
                pass  # a line is malformed; the slower code below finds it
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
        too_large = np.abs(table * self._header.to_us) >= _MOST_US
        for wrong, text in ((~np.isfinite(table), "{} is no value"), (too_large, "{:g} is too large")):
            if len(found := np.argwhere(wrong)):
                row, column = found[0]
                value = text.format(table[row, column])
                raise self._fail(int(numbers[row]), f"{self._header.names[column]}: {value}")
        for name, (index, _) in self._header.extras.items():
            below = np.flatnonzero(table[:, index] < 0)
            if len(below):
                raise self._fail(int(numbers[below[0]]), f"{name}: {table[below[0], index]:g} is below zero")

    def _microseconds(self, table: npt.NDArray[np.float64], column: int) -> Int64s:
        scaled: Int64s = np.rint(table[:, column] * self._header.to_us[column]).astype(np.int64)
        return scaled

    def _derive(self, table: npt.NDArray[np.float64], names: list[str] | None, numbers: Int64s) -> Columns:
        header, count = self._header, len(table)
        resent = np.zeros(count, np.bool_)
        if header.resent is not None:
            resent = table[:, header.resent] != 0
        time_us, sent_us = (
            None if column is None else self._microseconds(table, column)
            for column in (header.time, header.sent)
        )
        if header.rtt is not None:
            rtt_us = self._microseconds(table, header.rtt)
            positive = table[:, header.rtt] > 0  # a round trip below half a microsecond counts as 1 us
            rtt_us = np.where(positive, np.maximum(rtt_us, 1), rtt_us)
        else:
            assert time_us is not None and sent_us is not None  # parse_header guarantees this
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
        if not count:
            return empty_batch()

        ids = self._flows.numbered(names if names is not None else [""])
        ids = ids if names is not None else np.repeat(ids, count)
        by_flow = np.argsort(ids, kind="stable")
        ids, given_us = ids[by_flow], given_us[by_flow]
        rtt_us, resent = rtt_us[by_flow], resent[by_flow]
        self._check_order(ids, given_us, numbers[by_flow])
        if self._by_sending:
            found = self._flows.arrived(ids, given_us, rtt_us, resent)
            return empty_batch() | (found or {})
        found = self._flows.columns(ids, given_us, rtt_us, resent)
        for column, (index, largest) in header.extras.items():
            values = np.clip(np.rint(table[by_flow, index]), 0, largest)
            found[column] = values.astype(found[column].dtype)
        np.maximum(found["flight_segments"], 1, out=found["flight_segments"])
        back = np.argsort(by_flow, kind="stable")
        return empty_batch() | {name: column[back] for name, column in found.items()}

    @property
    def _by_sending(self) -> bool:
        return self._header.time is None and self._header.sent is not None

    def _last(self, batch: Columns) -> Iterator[Columns]:
        """Yield `batch`, the last one of the file, and the rows that were held back to be sorted by arrival.
        These batches list all flows as ended."""
        flows = len(self._flows)
        for start in range(0, max(flows, 1), _ENDED):
            ended = np.arange(start, min(start + _ENDED, flows))
            if self._by_sending:
                batch = _in_order([batch, self._flows.rest(ended)])
            yield batch | {"ended": ended.astype(np.uint32)}
            batch = empty_batch()

    def _check_order(self, ids: Int64s, given_us: Int64s, numbers: Int64s) -> None:
        steps = self._flows.steps(ids, given_us)
        if len(back := np.flatnonzero(steps < 0)):
            row = back[np.argmin(numbers[back])]
            name = self._flows.info(int(ids[row]), "")["name"]
            where = f" in flow {shown(name)}" if self._header.flow is not None else ""
            raise self._fail(int(numbers[row]), f"time goes back by {-int(steps[row])} us{where}")


def _in_order(pieces: list[Columns | None]) -> Columns:
    """Return the rows of all `pieces` as one batch, sorted by time, that marks no flow as ended."""
    known = [piece for piece in pieces if piece]
    rows = {name: np.concatenate([piece[name] for piece in known]) for name in COLUMNS}
    by_time = np.argsort(rows["time_us"], kind="stable")
    return empty_batch() | {name: column[by_time] for name, column in rows.items()}
