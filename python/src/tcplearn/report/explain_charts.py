# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The pictures of explained captures, as Vega-Lite specifications with their data in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from tcplearn.explain.causes import CAUSES, WORDS
from tcplearn.explain.model import of_slowest, slowest_first
from tcplearn.report.charts import WIDTH, Spec, finished

if TYPE_CHECKING:
    from tcplearn.explain.answers import Forecast, Outlook
    from tcplearn.explain.model import Explained
    from tcplearn.explain.sequence import Sequence as PacketSequence

#: Points and bars that a picture shows, the longest of all.
MOST_STALLS, MOST_BARS = 2000, 40
_BAR_HEIGHT, _PANEL = 13, 250
_BEFORE, _AFTER = "#6b6b6b", "#0072b2"


def _causes(of: Sequence[str], columns: int) -> Any:
    """Colours by cause, the same in every picture."""
    shown = [cause for cause in CAUSES if cause in set(of)]
    legend = alt.Legend(title=None, orient="top", columns=columns, labelLimit=320, symbolType="square")
    return alt.Color("cause:N", legend=legend).scale(
        domain=[WORDS[cause].label for cause in shown], range=[WORDS[cause].colour for cause in shown]
    )


def stalls(found: Explained) -> Spec | None:
    """Each stall at its time, as high as it was long."""
    longest = found.stalls.sort("duration_ms", descending=True).head(MOST_STALLS)
    longest = longest.filter(pl.col("duration_ms") > 0)
    if not longest.height:
        return None
    causes = longest["cause"].cast(pl.String).to_list()
    rows = [
        {"t": start, "ms": ms, "cause": WORDS[cause].label, "who": f"{client} > {server}"}
        for start, ms, cause, client, server in zip(
            longest["start_s"],
            longest["duration_ms"],
            causes,
            longest["client"],
            longest["server"],
            strict=True,
        )
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, opacity=0.75, size=36)
        .encode(
            x=alt.X("t:Q", title="since the first packet, s"),
            y=alt.Y("ms:Q", title="stall, ms").scale(type="log", padding=6),
            color=_causes(causes, 3),
            tooltip=[alt.Tooltip(f) for f in ("cause:N", "ms:Q", "t:Q", "who:N")],
        )
        .properties(width=WIDTH, height=300)
    )
    return finished(chart)


def slow_requests(found: Explained) -> Spec | None:
    """A bar for each of the slowest requests: its time, by cause."""
    times = found.requests["response_ms"].to_numpy()
    if not len(times):
        return None
    slow = slowest_first(times)[: max(len(of_slowest(times)), min(len(times), 10))][:MOST_BARS]
    rows, seen = [], []
    for place, row in enumerate(slow.tolist(), 1):
        request = found.requests.row(row, named=True)
        for order, cause in enumerate(CAUSES):
            if request[f"{cause}_ms"] > 0:
                label = f"{place}: {request['start_s']:.3f} s, {request['server']}"
                seen.append(cause)
                rows.append(
                    {
                        "r": label,
                        "n": place,
                        "ms": request[f"{cause}_ms"],
                        "order": order,
                        "cause": WORDS[cause].label,
                    }
                )
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("ms:Q", title="response time, ms", stack="zero"),
            y=alt.Y("r:N", title=None, sort=alt.SortField("n")).axis(labelLimit=230),
            color=_causes(seen, 3),
            order=alt.Order("order:Q", sort="descending"),
            tooltip=[alt.Tooltip("cause:N"), alt.Tooltip("ms:Q")],
        )
        .properties(width=WIDTH - 160, height=_BAR_HEIGHT * len(slow) + 20)
    )
    return finished(chart)


def before_and_after(forecast: Forecast, chosen: Outlook) -> Spec:
    """The share of requests that are slower than a time, as it was and as it is forecast."""
    names = ["as it was", f"forecast: {chosen.candidate.name}"]
    rows = []
    for name, one in zip(names, (forecast.seen, chosen), strict=True):
        rows += [
            {"s": name, "slower": s, "ms": ms, "low": low, "high": high} for s, ms, low, high in one.curve
        ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("slower:Q", title="share of requests that are slower").scale(type="log").axis(format="~%"),
        color=alt.Color("s:N", legend=alt.Legend(title=None, orient="top", labelLimit=320)).scale(
            domain=names, range=[_BEFORE, _AFTER]
        ),
    )
    scale = alt.Scale(type="log", nice=False, padding=6)
    band = base.mark_rule(opacity=0.25, strokeWidth=5).encode(
        x=alt.X("low:Q", title="response time, ms").scale(scale), x2="high:Q"
    )
    lines = base.mark_line(strokeWidth=2).encode(
        x=alt.X("ms:Q", title="response time, ms").scale(scale), order=alt.Order("slower:Q")
    )
    return finished(alt.layer(band, lines).properties(width=WIDTH, height=320))


def sequence(packets: PacketSequence) -> Spec:
    """The packets of a request: bytes over time, of both ends, what was sent again apart."""
    rows = [
        {"t": t, "kb": byte / 1000, "end": f"{end}{', again' if again else ''}"}
        for t, byte, end, again in packets.points
    ]
    names = ["client", "client, again", "server", "server, again", "client, ACK", "server, ACK"]
    hues = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#9ccbe8", "#a5dcc7"]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=26, opacity=0.9)
        .encode(
            x=alt.X("t:Q", title="ms since the request"),
            y=alt.Y("kb:Q", title="kB of its stream"),
            color=alt.Color("end:N", legend=alt.Legend(title=None, orient="bottom", columns=3)).scale(
                domain=names, range=hues
            ),
        )
        .properties(width=_PANEL, height=150, title={"text": packets.title, "fontSize": 11})
    )
    return finished(chart)
