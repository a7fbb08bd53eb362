# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows from what hping3 and tcptraceroute print: the tools that baddam2018 collected with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tcplearn.collect.probe import Answer
from tcplearn.collect.rows import Row
from tcplearn.errors import UserError, printable

_NUMBER = r"(\d+(?:\.\d+)?)"
#: HPING example.com (eth0 93.184.216.34): S set, 40 headers + 0 data bytes
_HPING = re.compile(r"HPING (\S+) \((?:\S+ )?([0-9A-Fa-f.:]+)\):")
#: len=44 ip=93.184.216.34 ttl=54 DF id=0 sport=80 flags=SA seq=0 win=29200 rtt=7.9 ms
_PONG = re.compile(r"len=\d+ ip=(\S+) ttl=(\d+) .*?flags=([A-Z]+) .*?rtt=" + _NUMBER + " ms")
_SOURCE_PORT = re.compile(r"sport=(\d+)")
#: 10 packets transmitted, 9 packets received, 10% packet loss
_SENT = re.compile(r"(\d+) packets (?:t?r?ansmitted|tramitted), (\d+) packets received")
#: round-trip min/avg/max = 7.8/8.0/8.4 ms
_SUMMARY = re.compile(rf"round-trip min/avg/max = {_NUMBER}/{_NUMBER}/{_NUMBER} ms")
#: Tracing the path to example.com (93.184.216.34) on TCP port 80 (http), 30 hops max
_TRACING = re.compile(r"Tracing the path to (\S+)(?: \((\S+)\))? on TCP port (\d+)")
#:  9  93.184.216.34 [open]  10.123 ms  10.2 ms
_HOP = re.compile(r"\s*(\d+)\s+(.*)")
_REACHED = re.compile(r"\[(open|closed)\]")
_MILLISECONDS = re.compile(_NUMBER + r" ms")
#: Beyond what a round trip can be: an hour.
_RTT_MAX_MS = 3.6e6


@dataclass(slots=True)
class _Place:
    """What the files say of one address."""

    host: str
    address: str
    port: int = 0
    method: str = ""
    hops: int | None = None
    ttl: int | None = None
    state: str = Answer.silent.value
    rtts_us: list[int] = field(default_factory=list)
    sent: int = 0
    summary_us: tuple[int, int, int] | None = None

    def row(self) -> Row:
        row = Row(host=self.host, address=self.address, port=self.port, method=self.method)
        row.state, row.hops, row.ttl = self.state, self.hops, self.ttl
        row.measured(self.rtts_us, max(self.sent, len(self.rtts_us)))
        if self.summary_us and not self.rtts_us:  # of `hping3 -q`
            row.rtt_min_us, row.rtt_avg_us, row.rtt_max_us = self.summary_us
        return row


def read(paths: Sequence[Path]) -> list[Row]:
    """Of one address there is one row, whichever files speak of it. Raises UserError."""
    places: dict[str, _Place] = {}
    for path in paths:
        where = printable(path)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UserError(f"{where}: cannot read: {(error.strerror or str(error)).lower()}") from error
        found = list(_places(text.splitlines(), where))
        if not found:
            raise UserError(f"{where}: no output of hping3 or tcptraceroute")
        for place in found:
            _merge(places.setdefault(place.address, place), place)
    return [place.row() for place in places.values()]


def _merge(into: _Place, place: _Place) -> None:
    if into is place:
        return
    if place.method not in into.method:
        into.method += f"+{place.method}"
    into.hops = place.hops if into.hops is None else into.hops
    into.ttl = place.ttl if into.ttl is None else into.ttl
    into.port = into.port or place.port
    into.state = place.state if into.state == Answer.silent else into.state
    into.summary_us = into.summary_us or place.summary_us
    into.rtts_us += place.rtts_us
    into.sent += place.sent


def _places(lines: Iterable[str], where: str) -> Iterator[_Place]:
    """One for each run of a tool, in one text."""
    place: _Place | None = None
    for number, line in enumerate(lines, 1):
        if begun := _begun(line):
            if place:
                yield place
            place = begun
        elif place:
            try:
                (_hping if place.method == "hping3" else _hop)(place, line)
            except ValueError as error:
                raise UserError(f"{where}:{number}: {error}") from None
    if place:
        yield place


def _begun(line: str) -> _Place | None:
    if found := _HPING.match(line):
        return _Place(found[1], found[2], method="hping3")
    if found := _TRACING.match(line):
        return _Place(found[1], found[2] or found[1], int(found[3]), "tcptraceroute")
    return None


def _microseconds(text: str) -> int:
    if float(text) > _RTT_MAX_MS:
        raise ValueError(f"an RTT of {text[:20]} ms: more than an hour")
    return round(float(text) * 1000)


def _hping(place: _Place, line: str) -> None:
    if found := _PONG.search(line):
        if "S" not in found[3] and "R" not in found[3]:
            return
        place.state = (Answer.open if "S" in found[3] else Answer.closed).value
        place.ttl = int(found[2])
        place.rtts_us.append(max(1, _microseconds(found[4])))
        if port := _SOURCE_PORT.search(line):
            place.port = int(port[1])
    elif found := _SENT.search(line):
        place.sent = int(found[1])
    elif found := _SUMMARY.search(line):
        least, mean, most = map(_microseconds, found.groups())
        if not least <= mean <= most:
            raise ValueError(f"min/avg/max are {found[1]}/{found[2]}/{found[3]} ms")
        place.summary_us = (least, mean, most) if most else None


def _hop(place: _Place, line: str) -> None:
    """The line of the host itself: the routers are those before it, and its times are round trips too."""
    found = _HOP.match(line)
    reached = _REACHED.search(line)
    if not found or not reached:
        return
    place.hops, place.state = int(found[1]) - 1, reached[1]
    times = [max(1, _microseconds(text)) for text in _MILLISECONDS.findall(line)]
    place.rtts_us += times
    place.sent += len(times) + found[2].split().count("*")
