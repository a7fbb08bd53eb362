# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Parse the header line of a CSV file with RTT samples. It gives the meaning and unit of each column."""

import csv
import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tcplearn.errors import printable

from .base import TraceError, number, shown

TO_US = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
#: What a column has, by its name: with a unit after the name, and without.
_TIMED = {"rtt": "rtt", "sent": "sent", "sent_time": "sent"}
_TIMED |= dict.fromkeys(("t", "time", "timestamp", "ack"), "time")
_LARGEST = {"ttl": 255, "in_flight_bytes": 2**32 - 1, "flight_segments": 2**32 - 1, "acked_bytes": 2**32 - 1}
_PLAIN = {name: name for name in ("flow", *_LARGEST)}
_PLAIN |= {"is_rtx": "resent", "retransmitted": "resent", "in_flight": "in_flight_bytes"}
_NAMED = 10  # unused columns that a warning names
#: The beginning of the error message for a text in which nothing looks like a column of a series of RTTs.
NOT_RTTS = "neither a capture nor a series of RTTs"
_ALLOWED = {
    "rtt": "rtt_s, rtt_ms, rtt_us or rtt_ns",
    "time": "t_s, t_ms, t_us or t_ns (also time_..., timestamp_...)",
    "sent": "sent_s, sent_ms, sent_us or sent_ns",
}


@dataclass
class Header:
    """The columns of a CSV file with RTT samples. `used` has the positions of the numeric columns in a
    line. `time`, `sent`, `rtt`, `resent` and `extras` are indices into `used`."""

    delimiter: str
    width: int
    used: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    to_us: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    time: int | None = None
    sent: int | None = None
    rtt: int | None = None
    resent: int | None = None
    flow: int | None = None  # position in the line, because a flow need not be a number
    extras: dict[str, tuple[int, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def split_fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of `line`; quotes are respected. Raise ValueError."""
    try:
        return [text.strip() for text in next(csv.reader([line], delimiter=delimiter, strict=True))]
    except (csv.Error, StopIteration) as error:
        raise ValueError(f"it is not CSV: {printable(error)}") from None


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def parse_header(where: str, line: str, unit: str = "") -> Header:
    """Parse the header `line`. Messages name the file as `where`; columns without a unit in their names
    have `unit`. Raise TraceError, whose message lists the known names."""
    delimiter = max(",", "\t", ";", key=line.count)
    try:
        titles = [title.lower() for title in split_fields(line, delimiter)]
    except ValueError as error:
        raise TraceError(f"{where}: {error}") from None
    if all(_is_number(title) for title in titles):
        raise TraceError(
            f"{where}: there is no header; the first line must name the columns, as in: t_s,rtt_ms"
        )

    header = Header(delimiter, len(titles))
    scales: list[float] = []
    found: dict[str, str] = {}
    unclear: dict[str, str] = {}
    unused: list[str] = []
    for index, title in enumerate(titles):
        role, scale = _PLAIN.get(title), 1.0
        if role is None:
            match = re.fullmatch(r"(.+)_(s|ms|us|ns)", title)
            if match and match[1] in _TIMED:
                role, scale = _TIMED[match[1]], TO_US[match[2]]
        if role is None and unit and title in _TIMED:
            role, scale = _TIMED[title], TO_US[unit]
        if role is None:
            base = re.match(r"(sent_time|sent|rtt|timestamp|time|t|ack)(?:_|$|\b)", title)
            if base:
                unclear.setdefault(_TIMED[base[1]], title)
            unused.append(title)
            continue
        if role in found:
            raise TraceError(
                f"{where}: columns {shown(found[role])} and {shown(title)} say the same; leave one out"
            )
        found[role] = title
        if role == "flow":
            header.flow = index
            continue
        if role in _LARGEST:
            header.extras[role] = (len(header.used), _LARGEST[role])
        else:
            setattr(header, role, len(header.used))
        header.used.append(index)
        header.names.append(title)
        scales.append(scale)
    header.to_us = np.array(scales)

    for role, title in unclear.items():
        if role not in found and not (role == "time" and "sent" in found):
            otherwise = " (or say it: --unit)" if title in _TIMED and not unit else ""
            raise TraceError(
                f'{where}: column "{shown(title)}" has no known unit; allowed are {_ALLOWED[role]}{otherwise}'
            )
    if "rtt" not in found and not {"time", "sent"} <= found.keys():
        what = "" if found else f"{NOT_RTTS}: "
        raise TraceError(f"{where}: {what}no column holds the round-trip time; allowed are {_ALLOWED['rtt']}")
    if "time" not in found and "sent" not in found:
        header.warnings.append("there is no column with times: they are made from the sum of the round trips")
    if unused:
        more = f" and {len(unused) - _NAMED} more" if len(unused) > _NAMED else ""
        header.warnings.append("columns not used: " + ", ".join(map(shown, unused[:_NAMED])) + more)
    return header
