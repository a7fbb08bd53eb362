# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the output of hping3 or traceroute, and report errors with their line number."""

import ipaddress
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from tcplearn import documents
from tcplearn.collect.probe import Answer
from tcplearn.errors import UserError, printable

#: The state of a host that answered without showing whether the port is open (hping3 -q, ICMP, UDP).
ANSWERED = "answered"
#: All states, the most informative first.
STATES = (Answer.open.value, Answer.closed.value, ANSWERED, Answer.unreachable.value, Answer.silent.value)
NUMBER = r"\d{1,12}(?:\.\d{1,9})?"
#: The longest accepted round trip, an hour.
_RTT_MAX_MS = 3.6e6
_MOST_BYTES = 256 << 20

#: hping3's statistics, from their first line feed on. They may begin within a line of its answers.
_STATISTICS = re.compile(
    r"(?:\n|\A)--- (?P<host>\S+) hping statistic ---\n"
    r"(?P<sent>\d{1,12}) packets (?:transmitted|tramitted), (?P<received>\d{1,12}) packets received, "
    r"-?\d{1,12}% packet loss\n"
    r"(?:\d+ out of sequence packets received\n)?"
    rf"round-trip min/avg/max = (?P<least>{NUMBER})/(?P<mean>{NUMBER})/(?P<most>{NUMBER}) ms(?:\n|\Z)"
)
#: hping3's message while it looks up a name. Backspaces overwrite it when the name is known.
_LOOKING_UP = re.compile(r"get hostname\.\.\.(?:\x08+ *\x08+)?|\x08+ *\x08+")


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics that hping3 prints at its end."""

    host: str
    at: int  # offset in the text of its file
    sent: int
    received: int
    least_us: int
    mean_us: int
    most_us: int


@dataclass(slots=True)
class Run:
    """The results of one run of a tool (hping3 or traceroute) for one address."""

    host: str
    address: str
    method: str
    port: int = 0  # 0: unknown
    hops: int | None = None
    ttl: int | None = None
    state: str = Answer.silent.value
    rtts_us: list[int] = field(default_factory=list)
    samples: int = 0  # number of answers; some may have no RTT
    sent: int | None = None  # None: unknown
    summary_us: tuple[int, int, int] | None = None  # min, mean and max RTT of answers without their own RTTs

    def found(self, state: str) -> None:
        """Set the host's state to `state`, such as "open", if it precedes the present state in `STATES`."""
        self.state = min(self.state, state, key=STATES.index)


class Printed:
    """The text of a file with the output of hping3 or traceroute. It is split into hping3's `statistics` and
    `lines`, which yields the other lines."""

    def __init__(self, path: Path) -> None:
        self._where = printable(path)
        text = documents.content(path, _MOST_BYTES).decode(errors="replace")
        self._text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.statistics: list[Statistics] = []
        self._starts: list[int] = []  # where each piece between statistics begins in `_rest`
        self._offsets: list[int] = []  # and where it begins in the file's text
        rest, end = "", 0
        for found in _STATISTICS.finditer(self._text):
            self._piece(len(rest), end)
            rest += self._text[end : found.start()]
            end = found.end()
            self.statistics.append(self._of(found))
        self._piece(len(rest), end)
        self._rest = rest + self._text[end:]

    def _piece(self, start: int, offset: int) -> None:
        self._starts.append(start)
        self._offsets.append(offset)

    def _of(self, found: re.Match[str]) -> Statistics:
        at = found.start("host")
        rtts_us = [self.microseconds(found[name], at) for name in ("least", "mean", "most")]
        if not rtts_us[0] <= rtts_us[1] + 100 or not rtts_us[1] <= rtts_us[2] + 100:
            self.refuse(at, f"min/avg/max are not in order: {found['least']}/{found['mean']}/{found['most']}")
        return Statistics(found["host"], at, int(found["sent"]), int(found["received"]), *rtts_us)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the offset in the file and the text of each line outside hping3's statistics. Messages about
        name look-ups are removed from the text."""
        start = 0
        for line in self._rest.split("\n"):
            piece = bisect_right(self._starts, start) - 1
            yield self._offsets[piece] + start - self._starts[piece], _LOOKING_UP.sub("", line).rstrip()
            start += len(line) + 1

    def microseconds(self, text: str, at: int) -> int:
        if float(text) > _RTT_MAX_MS:
            self.refuse(at, f"an RTT of {text[:20]} ms: more than an hour")
        return round(float(text) * 1000)

    def address(self, text: str, at: int) -> str:
        """Return the IP address in `text` in canonical form. Raise UserError with the line of the offset `at`
        if it is none."""
        address = address_of(text)
        if not address:
            self.refuse(at, f"{printable(text)[:40]!r} is not one host's address; leave this run out")
        return address

    def refuse(self, at: int, why: str) -> NoReturn:
        """Raise UserError with the reason `why` and the number of the line at the offset `at` in the file."""
        number = self._text.count("\n", 0, at) + 1
        raise UserError(f"{self._where}:{number}: {why}")

    def refuse_all(self, why: str) -> NoReturn:
        raise UserError(f"{self._where}: {why}")


def address_of(text: str) -> str:
    """Return the IP address in `text` in canonical form, or '' if `text` is not an address."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""
