# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The tables of explained captures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tcplearn.explain import sentences
from tcplearn.explain.causes import WORDS
from tcplearn.explain.model import Explained, Summary
from tcplearn.output import numbers
from tcplearn.output.numbers import counted
from tcplearn.output.table import Cell, Column, Table, count, milliseconds, share, text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tcplearn.explain.answers import Forecast

#: Destinations that a table has room for, unless all are wanted.
SHOWN = 12


def causes(summary: Summary) -> Table:
    """Where the time of the slowest requests went, and that of all."""
    out = Table(
        [
            Column("where the time went", words=True),
            Column("slowest\n1 %", label="of the slowest 1 %"),
            Column("all", label="of all"),
            Column("stalls", keep=2),
            Column("mean,\nms", label="mean stall, ms", keep=1),
            Column("longest,\nms", label="longest stall, ms", keep=3),
        ],
        legend="Shares of response times. Stalls: all of the capture, of hosts from 10 ms on.",
    )
    for part in summary.parts:
        mean_ms = part.stalled_ms / part.stalls if part.stalls else None
        out.rows.append(
            [
                text(WORDS[part.cause].label),
                share(part.slow_share),
                share(part.share),
                count(part.stalls) if part.stalls else Cell(),
                milliseconds(mean_ms),
                milliseconds(part.longest_ms if part.stalls else None),
            ]
        )
    return out


def destinations(found: Explained, everything: bool) -> Table:
    """Response times by server, and what held up its slowest requests."""
    return _each("server", found.destinations, everything)


def files(found: Explained, everything: bool) -> Table:
    """The same by capture, of those with requests."""
    return _each("capture", [one for one in found.captures if one.requests], everything)


def _each(what: str, all_: Sequence[Summary], everything: bool) -> Table:
    shown = all_ if everything else all_[:SHOWN]
    more = len(all_) - len(shown)
    out = Table(
        [
            Column(what, words=True),
            Column("requests"),
            Column("p50,\nms"),
            Column("p90,\nms", keep=1),
            Column("p99,\nms"),
            Column("p99.9,\nms", keep=2),
            Column("longest,\nms", keep=3),
            Column("slowest 1 %: most time", words=True),
        ],
        legend=f"And {more:,} more: --all, or --format csv." if more else "",
    )
    for one in shown:
        most = max(one.parts, key=lambda part: part.slow_share)
        words = f"{WORDS[most.cause].label} {most.slow_share * 100:.0f} %"
        times = (milliseconds(value) for value in one.response_ms.values())
        out.rows.append([text(one.destination), count(one.requests), *times, text(words)])
    return out


def forecasts(forecast: Forecast) -> Table:
    """What each setting would have given, beside what was."""
    rows = [forecast.seen, *forecast.outlooks]
    out = Table(
        [
            Column("setting", words=True),
            Column("p50,\nms", keep=1),
            Column("p99,\nms"),
            Column("95 % interval", keep=3),
            Column("p99.9,\nms", keep=2),
            Column("slowest 2 %:\nmean, ms"),
            Column("spurious\nin 1,000"),
        ],
        title=f"Settings on the {forecast.by}, forecast of {counted(forecast.stalls, 'stall')}",
        legend=_how_well(forecast),
    )
    for one in rows:
        p50, p99, p999, _ = one.figures.values()
        interval = f"{numbers.milliseconds(p99.low)} to {numbers.milliseconds(p99.high)}"
        cells = [milliseconds(p50.value), milliseconds(p99.value), text(interval), milliseconds(p999.value)]
        needless = Cell(f"{one.spurious_permille:.2g}", one.spurious_permille)
        out.rows.append([text(one.candidate.name), *cells, milliseconds(one.slowest_ms), needless])
    return out


def _how_well(forecast: Forecast) -> str:
    parts = []
    if forecast.fit == forecast.fit:  # a number
        parts.append(
            f"The model of stock waits {forecast.fit:.2f} times what the sender did, within "
            f"{forecast.fit_error * 100:.0f} % in half of the stalls."
        )
    if forecast.untold:
        parts.append(f"{counted(forecast.untold, 'stall')} without a forecast count as they were.")
    parts.append("Spurious: segments sent again that had arrived, of those that this end sends.")
    return " ".join(parts)


def document(found: Explained, console: Console, *, everything: bool) -> RenderableType:
    """The first screen: what to know, then the tables behind it."""
    from rich.console import Group
    from rich.text import Text

    from tcplearn.errors import printable
    from tcplearn.output import terminal

    parts: list[RenderableType] = [Text(printable(line)) for line in sentences.of(found)]
    if found.advice:
        parts += [
            Text(""),
            *(Text(line, style="bold" if line.startswith("  ") else "") for line in found.advice.sentences),
        ]
    if found.total.parts:
        parts += [Text(""), terminal.titled(causes(found.total), console)]
    if len(found.destinations) > 1 or (everything and found.destinations):
        parts += [Text(""), terminal.titled(destinations(found, everything), console)]
    if found.captures and found.total.requests:
        parts += [Text(""), terminal.titled(files(found, everything), console)]
    if found.forecast and found.advice and (everything or found.advice.chosen):
        parts += [Text(""), terminal.titled(forecasts(found.forecast), console)]
    return Group(*parts)
