# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read repeated output of `ss -ti`, as from `while sleep 0.1; do date +%s.%N; ss -tinO; done > FILE`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .base import TraceError, TraceFile
from .lines import Clock, text_lines
from .readings import Reading, ReadingsTrace
from .schema import Columns

_RTT = re.compile(r"(?:^|\s)rtt:([0-9.]+)/([0-9.]+)(?=\s|$)")
_SOCKET = re.compile(
    r"^(?:(?:tcp|mptcp)\s+)?(?:[A-Z][A-Z0-9-]+\s+)?\d+\s+\d+\s+(\S+:[\w*-]+)\s+(\S+:[\w*-]+)(?=\s|$)(.*)"
)
_TITLE = re.compile(r"^\s*(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q")
_COUNTED = re.compile(r"(?:^|\s)(bytes_acked|delivered|lastsnd|lastrcv|lastack):(\d{1,18})(?=\s|$)")
_RETRANS = re.compile(r"(?:^|\s)retrans:\d+/(\d{1,18})(?=\s|$)")
_AGES = ("lastsnd", "lastrcv", "lastack")
_STEP_US = 100_000  # assumed time between two listings if the file shows none


def looks_like_ss(text: str) -> bool:
    """Return whether `text`, the beginning of a file, is output of ss."""
    return any(
        _TITLE.match(line) or _SOCKET.match(Clock().split(line)[1].lstrip()) for line in text.split("\n")[:8]
    )


@dataclass
class _Listing:
    """The output of ss at one time."""

    time_us: int | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    ages_us: dict[str, tuple[int, ...]] = field(default_factory=dict)


class SsTrace(ReadingsTrace):
    """A trace that reads repeated listings of ss."""

    kind = "ss"

    def __init__(self, file: TraceFile) -> None:
        super().__init__(file)
        self._clock = Clock()
        self._now_us = self._step_us = 0
        self._listings = self._timed = 0
        self._ages_us: dict[str, tuple[int, ...]] = {}

    def batches(self, max_rows: int = 65536) -> Iterator[Columns]:
        """Yield the RTT samples in batches of at most `max_rows` rows."""
        any_reading = False
        for listing in self._each_listing():
            any_reading = any_reading or bool(listing.readings)
            self._take(listing)
            if self._pending + 2 * len(self._connections) >= max_rows or self._closing:
                yield from self._rows(max_rows)
        self._end(list(self._connections))
        if not any_reading:
            raise TraceError(f"{self._file}: ss without a round trip (rtt:) in it; take it with: ss -ti")
        if self._listings == 1:
            self._warnings.append(
                "ss was taken once: that is one reading a connection; take it again and again"
            )
        elif self._timed < self._listings:
            self._warnings.append(
                "listings without a time before them: the time between two is taken from the ages in them "
                "(lastsnd, lastrcv, lastack)"
            )
        yield from self._rows(max_rows)

    def _each_listing(self) -> Iterator[_Listing]:
        listing, name, stamp_us = _Listing(), "", None
        for _, line in text_lines(self._stream, self._file):
            time_us, line = self._clock.split(line)
            if time_us is not None:
                stamp_us = time_us
            socket = _SOCKET.match(line.lstrip())
            # the next listing begins with a connection listed before, a heading, or a time alone on a line
            again = socket is not None and f"{socket[1]} > {socket[2]}" in listing.readings
            if again or _TITLE.match(line) or (time_us is not None and not line.strip()):
                if listing.readings:
                    yield listing
                    listing = _Listing()
                name = ""
            if listing.time_us is None:
                listing.time_us, stamp_us = stamp_us, None
            if socket:
                name, line = f"{socket[1]} > {socket[2]}", socket[3]
            if name and (found := _RTT.search(line)):
                self._parse(listing, name, found, line)
                name = ""
        if listing.readings:
            yield listing

    def _parse(self, listing: _Listing, name: str, found: re.Match[str], line: str) -> None:
        try:
            srtt_ms, rttvar_ms = float(found[1]), float(found[2])
        except ValueError:
            return
        counted = {key: int(value) for key, value in _COUNTED.findall(line)}
        retrans = _RETRANS.search(line)
        listing.readings[name] = Reading(
            round(min(srtt_ms, 1e12) * 1000),
            (rttvar_ms, counted.get("bytes_acked", 0), counted.get("delivered", 0)),
            int(retrans[1]) if retrans else 0,
        )
        listing.ages_us[name] = tuple(counted.get(age, 0) * 1000 for age in _AGES)

    def _take(self, listing: _Listing) -> None:
        self._listings += 1
        if listing.time_us is not None:
            self._timed += 1
            self._now_us = listing.time_us
        elif self._listings > 1:
            grown = (  # ages grow by the time that passed, unless a packet resets them
                now - before
                for name, ages in listing.ages_us.items()
                for now, before in zip(ages, self._ages_us.get(name, ages), strict=True)
            )
            step_us = max(grown, default=0)
            self._step_us = step_us if step_us > 0 else self._step_us or _STEP_US
            self._now_us += min(self._step_us, 1 << 50)
        self._ages_us = listing.ages_us
        self._end([name for name in self._connections if name not in listing.readings])
        for name, reading in listing.readings.items():
            self._read(name, name, self._now_us, reading)
