# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read lines of text that programs print, and parse the times at the beginnings of lines."""

import codecs
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from .base import ByteStream, TraceError, TraceFile

MOST_LINE = 1 << 16  # longest accepted line in characters, far longer than any line of ping or ss
_DAY_US = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STAMP = re.compile(
    r"""\s*\[?(?:
      (?P<date>\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?
    | (?P<ns>\d{19}) | (?P<us>\d{16}) | (?P<ms>\d{13})
    | (?P<s>\d{9,10})(?:[.,](?P<decimals>\d{1,9}))?
    | (?:[A-Za-z]{3},?\ +)?(?:[A-Za-z]{3}\ +\d{1,2}\ +|\d{1,2}\ +[A-Za-z]{3}\ +(?:\d{4}\ +)?)?
      (?P<day>\d\d:\d\d:\d\d)(?:[.,](?P<of_day>\d{1,9}))?(?:\ (?P<half>[AP]M))?(?:\ [A-Z]{2,5})?(?:\ \d{4})?
    )\]?:?(?=\s|$)""",
    re.VERBOSE,
)


def encoding_of(head: bytes) -> str:
    """Return "utf-16" if `head` begins with a UTF-16 byte order mark (PowerShell's `>`), else "utf-8-sig"."""
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def text_lines(stream: ByteStream, file: TraceFile) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of `stream` that is not empty. Raise TraceError, which names
    `file`, if a line is too long."""
    data = stream.read()
    decoder = codecs.getincrementaldecoder(encoding_of(data))("replace")
    rest, number = "", 0
    while True:
        text = rest + decoder.decode(data, final=not data)
        if data and not text.strip():  # a small gzip file may contain gigabytes of empty lines
            number += text.count("\n")
            rest = ""
        else:
            lines = text.split("\n")
            rest = lines.pop() if data else ""
            for line in lines:
                number += 1
                if len(line) > MOST_LINE:
                    raise _too_long(file, number)
                if line and not line.isspace():
                    yield number, line.rstrip("\r")
        if len(rest) > MOST_LINE:
            raise _too_long(file, number + 1)
        if not data:
            return
        data = stream.read()


def _too_long(file: TraceFile, number: int) -> TraceError:
    return TraceError(f"{file}: line {number}: it is longer than {MOST_LINE} characters")


class Clock:
    """Parses the times that programs such as `date`, `ts` and `ping -D` write before lines."""

    def __init__(self) -> None:
        self._day_us = 0
        self._last_of_day_us: int | None = None

    def split(self, line: str) -> tuple[int | None, str]:
        """Return the time at the beginning of `line` in us, or None, and the rest of the line."""
        found = _STAMP.match(line)
        if not found:
            return None, line
        rest = line[found.end() :]
        try:
            return self._time_us(found), rest
        except (ValueError, OverflowError):
            return None, line

    def _time_us(self, found: re.Match[str]) -> int:
        of = found.groupdict()
        if of["date"]:
            moment = datetime.fromisoformat(of["date"].replace(" ", "T"))
            zone = of["zone"]
            offset = timedelta()
            if zone and zone[0] in "+-":
                offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:])) * int(zone[0] + "1")
            since = moment.replace(tzinfo=UTC) - offset - _EPOCH
            return since // timedelta(microseconds=1) + _fraction_us(of["part"])
        if of["s"]:
            return int(of["s"]) * 1_000_000 + _fraction_us(of["decimals"])
        for unit, ns in (("ms", 1_000_000), ("us", 1000), ("ns", 1)):
            if of[unit]:
                return int(of[unit]) * ns // 1000
        hours, minutes, seconds = map(int, of["day"].split(":"))
        if of["half"]:
            hours = hours % 12 + (12 if of["half"] == "PM" else 0)
        of_day_us = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + _fraction_us(of["of_day"])
        if self._last_of_day_us is not None and of_day_us < self._last_of_day_us - _DAY_US // 2:
            self._day_us += _DAY_US  # the clock has passed midnight
        self._last_of_day_us = of_day_us
        return self._day_us + of_day_us


def _fraction_us(digits: str | None) -> int:
    return int((digits or "0").ljust(6, "0")[:6])
