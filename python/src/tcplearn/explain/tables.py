# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the tables of explained captures for the terminal."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.explain import sentences
from tcplearn.explain.advice import MOST_SPURIOUS
from tcplearn.explain.answers import Forecast
from tcplearn.explain.candidates import STOCK
from tcplearn.explain.causes import HANDSHAKE, MEANINGS, WORDS
from tcplearn.explain.model import Explained, Summary, most_waiting_first
from tcplearn.output import numbers, terminal
from tcplearn.output.numbers import counted
from tcplearn.output.table import Cell, Column, Table, count, milliseconds, share, text

#: The most destinations in a table, unless all are requested.
SHOWN = 12
#: The fewest requests of which a percentile is shown.
LEAST_REQUESTS = {"p90_response_ms": 10, "p99_response_ms": 100, "p999_response_ms": 1000}


def causes(summary: Summary) -> Table:
    """Return the table of each cause's share in the response times of the slowest requests and of all. The
    legend explains the causes with most of the slowest requests' time."""
    out = Table(
        [
            Column("where the time went", words=True),
            Column("share of\nslowest 1 %", label="of the slowest 1 %"),
            Column("share\nof all", label="of all"),
            Column("stalls", keep=2),
            Column("mean\nstall, ms", label="mean stall, ms", keep=1),
            Column("longest\nstall, ms", label="longest stall, ms", keep=3),
        ],
        legend="A stall is a wait in which no data moved; waits for the server or the client count from 10 "
        "ms on. Shares are of response times; stalls are those of the whole capture."
        + "".join(f"\n{WORDS[c].label}: {MEANINGS[c]}." for c in _explained(summary)),
    )
    for part in summary.parts:
        mean_ms = part.stalled_ms / part.stalls if part.stalls else None
        # response times do not include handshakes
        shares = [Cell()] * 2 if part.cause in HANDSHAKE else [share(part.slow_share), share(part.share)]
        out.rows.append(
            [
                text(WORDS[part.cause].label),
                *shares,
                count(part.stalls) if part.stalls else Cell(),
                milliseconds(mean_ms),
                milliseconds(part.longest_ms if part.stalls else None),
            ]
        )
    return out


def _explained(summary: Summary) -> list[str]:
    return [p.cause for p in summary.parts if p.cause in HANDSHAKE or p.slow_share >= sentences.NAMED_SHARE]


def destinations(found: Explained, everything: bool) -> Table:
    """Return the table of response times by server; without `everything`, of the first `SHOWN` servers."""
    return _each("server", found.destinations, everything, by_waiting=True)


def files(found: Explained, everything: bool) -> Table:
    """Return the table of response times by capture; captures without requests are left out. If there are too
    many to show all, and `everything` is false, those with many and slow requests come first."""
    captures = [one for one in found.captures if one.requests]
    by_waiting = not everything and len(captures) > SHOWN
    captures = most_waiting_first(captures) if by_waiting else captures
    return _each("capture", captures, everything, by_waiting=by_waiting)


def _each(what: str, all_: Sequence[Summary], everything: bool, *, by_waiting: bool) -> Table:
    order = f"{what.capitalize()}s with many and slow requests come first (p99 multiplied by requests). "
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
        legend=f"{order if by_waiting else ''}The p99 is given from 100 requests on, the p99.9 from 1,000."
        + (f" And {more:,} more: --all, or --format csv." if more else ""),
    )
    for one in shown:
        most = max(one.parts, key=lambda part: part.slow_share, default=None)
        words = f"{WORDS[most.cause].label} {most.slow_share * 100:.0f} %" if most else ""
        # a percentile of fewer requests is but the longest of them
        times = (
            milliseconds(value if one.requests >= LEAST_REQUESTS.get(name, 1) else None)
            for name, value in one.response_ms.items()
        )
        out.rows.append([text(one.destination), count(one.requests), *times, text(words)])
    return out


def forecasts(forecast: Forecast) -> Table:
    """Return the table of response or handshake times: measured, then forecast for each setting."""
    of_handshakes = forecast.seen.what == "handshake"
    known, all_ = forecast.stalls, forecast.stalls + forecast.untold
    stalls = f"{known:,} of the {all_:,} stalls" if forecast.untold else counted(known, "stall")
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
        title=f"First RTO on the client, forecast of {counted(forecast.segments, 'handshake')}"
        if of_handshakes
        else f"What settings on the {' and the '.join(forecast.by)} would change, "
        f"forecast from {stalls} that the timer or its probe ended",
        legend=_how_learned(forecast) if of_handshakes else _how_well(forecast),
    )
    for one in [forecast.seen, *forecast.outlooks]:
        p50, p99, p999 = (one.figure(name) for name in ("median", "p99", "p999"))
        interval = f"{numbers.milliseconds(p99.low)} to {numbers.milliseconds(p99.high)}"
        cells = [milliseconds(p50.value), milliseconds(p99.value), text(interval), milliseconds(p999.value)]
        needless = Cell(numbers.permille(one.spurious_permille), one.spurious_permille)
        out.rows.append([text(one.candidate.name), *cells, milliseconds(one.slowest_ms), needless])
    return out


def _how_well(forecast: Forecast) -> str:
    parts = [f"The first row is measured, the others are forecasts; {STOCK} is an unchanged Linux kernel."]
    if forecast.fit == forecast.fit:  # it is not NaN
        parts.append(
            f"In the median stall the model of {forecast.in_force} waits {forecast.fit:.2f} times as long as "
            "the sender did; in half of the stalls the two differ by "
            f"{'less than 1' if forecast.fit_error < 0.005 else f'at most {forecast.fit_error * 100:.0f}'} %."
        )
        if forecast.in_force != STOCK:
            parts.append(f"So it is set already; stock would wait {forecast.stock_fit:.2f} times as long.")
    if forecast.untold:
        one = forecast.untold == 1
        kept = "has no forecast and counts as measured" if one else "have no forecast and count as measured"
        parts.append(f"{counted(forecast.untold, 'stall')} {kept}.")
    ends = "this end" if len(forecast.by) == 1 else "both ends"
    parts.append(
        "Spurious: segments sent again although they had arrived, of all that the hosts with such stalls at "
        f"{ends} send."
    )
    parts.append(f"A setting that adds more than {MOST_SPURIOUS:.0f} spurious ones in 1,000 is not advised.")
    parts.append("priced is set by tcplearn live, priced/spaced by tcplearn's kernel module.")
    return " ".join(parts)


def _how_learned(forecast: Forecast) -> str:
    held = counted(forecast.stalls + forecast.untold, "handshake")
    return (
        f"A shorter wait had been learned before {forecast.stalls:,} of {held} that were held up; the "
        "others count as measured. Spurious: SYNs sent again before the answer could be there, in 1,000 "
        "handshakes."
    )


def document(found: Explained, console: Console, *, everything: bool) -> RenderableType:
    """Return what `tcplearn explain` shows on `console`: sentences with the answer, then the tables. With
    `everything`, it has also tables and rows that are usually left out."""
    parts: list[RenderableType] = [Text(printable(line)) for line in sentences.of(found)]
    for lines in sentences.advice(found):
        parts += [Text(""), *(Text(line, style="bold" if line.startswith("  ") else "") for line in lines)]
    if found.total.parts:
        parts += [Text(""), terminal.titled(causes(found.total), console)]
    if len(found.destinations) > 1 or (everything and found.destinations):
        parts += [Text(""), terminal.titled(destinations(found, everything), console)]
    if found.captures and found.total.requests:
        parts += [Text(""), terminal.titled(files(found, everything), console)]
    for forecast, advice in ((found.forecast, found.advice), (found.handshakes, found.handshake_advice)):
        if forecast and advice and (everything or advice.chosen):
            parts += [Text(""), terminal.titled(forecasts(forecast), console)]
    return Group(*parts)
