# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the pictures of `tcplearn explain`'s report as Vega-Lite specifications that contain their data."""

import json
from collections.abc import Iterable
from typing import Any

import altair as alt
import polars as pl

from tcplearn.explain.answers import Outlook
from tcplearn.explain.causes import CAUSES, WORDS
from tcplearn.explain.model import Explained, of_slowest, slowest_first
from tcplearn.explain.sequence import Sequence as PacketSequence
from tcplearn.report.charts import NARROW_WIDTH, WIDTH, Spec, finished

#: The most points and bars that a picture shows. If there are more, the longest are shown.
MOST_STALLS, MOST_BARS = 2000, 40
_BAR_HEIGHT, _PANEL = 13, 250
_BEFORE, _AFTER = "#6b6b6b", "#0072b2"


#: Extra space between labels, in pixels, because a reader's fonts may be wider than those measured here.
_WIDER_PX = 36


def _legend(columns: int) -> Any:
    return alt.Legend(
        title=None,
        orient="top",
        columns=columns,
        columnPadding=_WIDER_PX,
        labelLimit=0,
        symbolType="square",
        symbolOpacity=1,
    )


def _causes(of: Iterable[str], columns: int) -> Any:
    """Return the encoding of causes as colours, with a legend of those in `of`."""
    known = set(of)
    shown = [cause for cause in CAUSES if cause in known]
    return alt.Color("cause:N", legend=_legend(columns)).scale(
        domain=[WORDS[cause].label for cause in shown], range=[WORDS[cause].colour for cause in shown]
    )


def stalls(found: Explained) -> Spec | None:
    """Return the chart of the starts and durations of the longest stalls, or None if there are none."""
    longest = found.stalls.sort("duration_ms", descending=True).head(MOST_STALLS)
    longest = longest.filter(pl.col("duration_ms") > 0)
    if not longest.height:
        return None
    rows = [
        {"t": start, "ms": ms, "cause": WORDS[cause].label, "who": f"{client} > {server}"}
        for start, ms, cause, client, server in longest.select(
            "start_s", "duration_ms", "cause", "client", "server"
        ).iter_rows()
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, opacity=0.75, size=36)
        .encode(
            x=alt.X("t:Q", title="since the first packet, s"),
            y=alt.Y("ms:Q", title="stall, ms").scale(type="log", padding=6),
            color=_causes(longest["cause"], 3),
            tooltip=[alt.Tooltip(f) for f in ("cause:N", "ms:Q", "t:Q", "who:N")],
        )
        .properties(width=WIDTH, height=300)
    )
    return finished(chart)


def answer(found: Explained, *, narrow: bool = False) -> Spec | None:
    """Return the picture of why requests were slow, or None without requests: the slowest requests by cause,
    and the response times as measured and as forecast. The forecast is for the advised setting or, if none is
    advised, for the one that would gain most."""
    if not found.requests.height:
        return None
    width = NARROW_WIDTH if narrow else WIDTH - 160
    parts = [_slow_requests(found, width, narrow=narrow)]
    if found.forecast and found.advice:
        chosen = found.advice.chosen
        best = chosen or min(found.forecast.outlooks, key=lambda one: one.slowest_ms)
        name = f"forecast: {best.candidate.name}{'' if chosen else ', which is not advised'}"
        parts.append(_before_and_after(found.forecast.seen, best, name, width))
    left = 5 if narrow else _WIDER_PX // 2
    both = alt.vconcat(*parts, spacing=28, padding={"left": left, "top": 5, "right": 5, "bottom": 5})
    return finished(both.resolve_scale(color="independent"))


def _slow_requests(found: Explained, width: int, *, narrow: bool) -> Any:
    """Return a chart with a bar for each of the slowest requests: its response time, divided by cause."""
    times = found.requests["response_ms"].to_numpy()
    slow = slowest_first(times)[: max(len(of_slowest(times)), min(len(times), 10))][:MOST_BARS]
    several = len(found.destinations) > 1 and not narrow
    rows, seen = [], []
    for place, row in enumerate(slow.tolist(), 1):
        request = found.requests.row(row, named=True)
        label = f"at {request['start_s']:.3f} s" + (f", {request['server']}" if several else "")
        for order, cause in enumerate(CAUSES):
            if (ms := request[f"{cause}_ms"]) > 0:
                seen.append(cause)
                rows.append({"r": label, "n": place, "ms": ms, "order": order, "cause": WORDS[cause].label})
    title = "The slowest request" if len(slow) == 1 else f"The {len(slow)} slowest requests"
    # bars have numbers, because labels may be equal
    labels = f"{json.dumps({row['n']: row['r'] for row in rows})}[datum.value]"
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("ms:Q", title="response time, ms", stack="zero"),
            y=alt.Y("n:O", title=None).axis(labelLimit=0, labelExpr=labels),
            color=_causes(seen, 1 if narrow else 3),
            order=alt.Order("order:Q", sort="descending"),
            tooltip=[alt.Tooltip(f) for f in ("r:N", "cause:N", "ms:Q")],
        )
        .properties(width=width, height=_BAR_HEIGHT * len(slow) + 20, title=f"{title}, by cause")
    )


def _before_and_after(seen: Outlook, after: Outlook, name: str, width: int) -> Any:
    """Return the chart of the share of requests that took longer than each time, `seen` and `after`."""
    names = [seen.candidate.name, name]
    rows = []
    for of, one in zip(names, (seen, after), strict=True):
        rows += [{"s": of, "slower": s, "ms": ms, "low": low, "high": high} for s, ms, low, high in one.curve]
    y = alt.Y("slower:Q", title="share of requests that are slower")
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=y.scale(type="log", nice=False).axis(format="~%", values=[1, 0.1, 0.01, 0.001, 0.0001]),
        color=alt.Color("s:N", legend=_legend(1)).scale(domain=names, range=[_BEFORE, _AFTER]),
    )
    scale = alt.Scale(type="log", nice=False, padding=6)
    band = base.mark_area(orient="horizontal", opacity=0.25).encode(
        x=alt.X("low:Q", title="response time, ms").scale(scale), x2="high:Q"
    )
    lines = base.mark_line(strokeWidth=2).encode(
        x=alt.X("ms:Q", title="response time, ms").scale(scale), order=alt.Order("slower:Q")
    )
    title = "Response times before and after"
    return alt.layer(band, lines).properties(width=width, height=240, title=title)


#: The end whose data a packet has or acknowledges: an ACK counts the bytes of the other end.
_STREAM = {"client": "client", "server, ACK": "client", "server": "server", "client, ACK": "server"}


#: The colour of each kind of packet in the pictures of packets.
PACKETS = {
    "client": "#0072b2",
    "client, again": "#d55e00",
    "server": "#009e73",
    "server, again": "#cc79a7",
    "client, ACK": "#9ccbe8",
    "server, ACK": "#a5dcc7",
}


def sequence(packets: PacketSequence) -> Spec:
    """Return the chart of a request's `packets`: the bytes that each end has sent and acknowledged, over
    time. Retransmissions are marked."""
    first: dict[str, int] = {}
    for point in packets.points:
        begins = point.byte - point.bytes
        first[_STREAM[point.end]] = min(begins, first.get(_STREAM[point.end], begins))
    ends = [point.byte - first[_STREAM[point.end]] for point in packets.points]
    unit, of_unit = ("kB", 1000) if max(ends, default=0) > 2000 else ("bytes", 1)
    rows = [
        {
            "t": point.ms,
            "from": (end - point.bytes) / of_unit,
            "to": end / of_unit,
            "end": f"{point.end}, again" if point.again else point.end,
        }
        for point, end in zip(packets.points, ends, strict=True)
    ]
    names = [name for name in PACKETS if any(row["end"] == name for row in rows)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("t:Q", title="ms since the request").scale(nice=False, padding=6),
        color=alt.Color("end:N", title=None).scale(domain=names, range=[PACKETS[name] for name in names]),
    )
    title = f"{unit} sent or acknowledged"
    points = base.mark_point(filled=True, size=26, opacity=0.9).encode(y=alt.Y("to:Q", title=title))
    data = base.mark_rule(strokeWidth=2.5).encode(y=alt.Y("from:Q", title=title), y2="to:Q")
    heading = {"text": packets.title, "fontSize": 11}
    spec = finished(alt.layer(data, points).properties(width=_PANEL, height=150, title=heading))
    legend = {**spec["config"]["legend"], "orient": "bottom", "columns": 3}
    return {**spec, "config": {**spec["config"], "legend": legend}}
