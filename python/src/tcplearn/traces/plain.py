# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read bare round-trip times: numbers without a header, one or several on a line."""

import codecs
import math
import re
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from .base import TraceError, TraceFile, TraceOptions, number, shown
from .csv_header import TO_US
from .lines import encoding_of
from .samples import Plausible, SampleTrace, count_warnings, slices
from .schema import Columns, empty_batch

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
#: Words that programs write for a round trip that was not measured.
_MISSING = {"-", "--", "*", "?", "na", "n/a", "nan", "null", "none", "timeout", "lost"}
_MOST_WORD = 64
_MANY = 50  # if at least this many numbers never decrease, a warning asks whether they are times
_CERTAIN, _GROWN = 1000, 10  # _CERTAIN numbers that never decrease and grow over _GROWN-fold are times
_MOST_US = 1 << 61


def looks_like_numbers(text: str) -> bool:
    """Return whether `text`, the beginning of a file, has only numbers separated by white space."""
    lines = text.split("\n")
    whole = [line for line in (lines[:-1] or lines) if not line.lstrip().startswith("#")]
    words = " ".join(whole).split()
    found = [word for word in words if _NUMBER.fullmatch(word)]
    return bool(found) and all(_NUMBER.fullmatch(word) or word.lower() in _MISSING for word in words)


class NumbersTrace(SampleTrace):
    """A trace that reads a list of round-trip times. They are one flow."""

    kind = "numbers"

    def __init__(self, file: TraceFile, options: TraceOptions) -> None:
        super().__init__(file)
        self._unit = options.unit or "ms"
        self._flow = self._new_flow(file.title)
        self._plausible = Plausible(self._unit)
        self._missing = self._now_us = 0
        self._falls = False
        self._largest_us = self._first_us = 0
        if not options.unit:
            self._warnings.append("numbers without a unit: taken as milliseconds (--unit s, us or ns)")
        self._warnings.append("there are no times: they are made from the sum of the round trips")

    @property
    def warnings(self) -> list[str]:
        lines = [*self._warnings, *self._plausible.warnings()]
        if not self._falls and self._flow.samples >= _MANY:
            lines.append("the numbers never fall: are they times, and no round trips?")
        return [*lines, *count_warnings((self._missing, "values are missing: left out")), *self._cut_short()]

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the RTT samples in batches of at most `max_rows` rows."""
        values: list[float] = []
        lines = self._each_line()
        first = list(islice(lines, 2))
        if [len(words) for _, words in first] == [2, 2]:
            raise TraceError(
                f"{self._file}: two numbers in each line without a header; write one with commas, "
                "as t_s,rtt_ms, and commas between the numbers"
            )
        for line, words in chain(first, lines):
            values += [v for word in words if (v := self._value(line, word)) is not None]
            if len(values) >= max_rows:
                rows = self._rows(values)
                self._refuse_times()
                yield from slices(rows, max_rows)
                values = []
        if self._flow.last_us is None and not values:
            raise TraceError(f"{self._file}: there is no number in it")
        batch = self._rows(values) if values else empty_batch()
        self._refuse_times()
        yield from slices(batch | {"ended": np.zeros(1, np.uint32)}, max_rows)

    def _refuse_times(self) -> None:
        if not self._falls and self._flow.samples >= _CERTAIN and self._largest_us > _GROWN * self._first_us:
            raise TraceError(
                f"{self._file}: its {self._flow.samples:,} numbers never fall: they are times (of a link "
                "trace?), no round trips"
            )

    def _rows(self, values: list[float]) -> Columns:
        rtt_us = np.maximum(np.rint(np.array(values) * TO_US[self._unit]), 1).astype(np.int64)
        self._plausible.add(rtt_us)
        self._falls = self._falls or bool(np.any(np.diff(rtt_us, prepend=self._largest_us) < 0))
        self._largest_us = int(rtt_us.max())
        self._first_us = self._first_us or int(rtt_us[0])
        time_us = self._now_us + np.cumsum(rtt_us)
        if float(self._now_us) + float(np.sum(rtt_us, dtype=np.float64)) >= _MOST_US:
            raise TraceError(f"{self._file}: the sum of its round trips is too large; is the unit right?")
        self._now_us = int(time_us[-1])
        batch = self._flow.columns(time_us, rtt_us, np.zeros(len(rtt_us), np.bool_))
        return batch | {"ended": np.empty(0, np.uint32)}

    def _value(self, line: int, word: str) -> float | None:
        if word.lower() in _MISSING:
            self._missing += 1
            return None
        try:
            value = number(word)
        except ValueError:
            raise TraceError(f'{self._file}: line {line}: "{shown(word)}" is not a number') from None
        if not math.isfinite(value) or value * TO_US[self._unit] >= _MOST_US:
            raise TraceError(f"{self._file}: line {line}: {shown(word)} is too large")
        if value <= 0:
            raise TraceError(f"{self._file}: line {line}: {shown(word)}: a round trip must be above zero")
        return value

    def _each_line(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the words of each line. A very long line is yielded in parts."""
        data = self._stream.read()
        decoder = codecs.getincrementaldecoder(encoding_of(data))("replace")
        rest, line, comment = "", 1, False
        while True:
            text = rest + decoder.decode(data, final=not data)
            if data and not text.strip():
                line, rest = line + text.count("\n"), ""
            else:
                cut = len(text) if not data else max(text.rfind(" "), text.rfind("\n"), text.rfind("\t")) + 1
                text, rest = text[:cut], text[cut:]
                for index, part in enumerate(text.split("\n")):
                    comment = comment if index == 0 else False
                    line += index > 0
                    comment = comment or part.lstrip().startswith("#")
                    if not comment and (words := part.split()):
                        yield line, words
            if len(rest) > _MOST_WORD and not comment:
                raise TraceError(f'{self._file}: line {line}: "{shown(rest)}..." is not a number')
            rest = "" if comment and len(rest) > _MOST_WORD else rest
            if not data:
                return
            data = self._stream.read()
