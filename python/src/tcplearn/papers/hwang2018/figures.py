# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: its figures 5 to 9 from our runs, as SVG."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcplearn.papers.hwang2018.runs import SENDERS, Estimate, Point, mean, of, ratio

Json = dict[str, Any]

PAPERS = ("newreno", "veno-5", "ml-hwang2018", "ml-wide", "ml-history", "oracle")
OTHERS = ("newreno", "westwood", "vegas", "cubic", "cubic-wide", "cubic-oracle", "bbr", "oracle")
THREE = ("newreno", "veno-5", "ml-hwang2018", "ml-wide", "oracle")
OVER_TIME = ("newreno", "veno-5", "ml-hwang2018")
#: Figure 6 is drawn of the first run's last stretch.
WINDOW_S = (40.0, 100.0)

_COLOURS = {
    "newreno": "#882255",
    "veno-5": "#ddaa33",
    "ml-hwang2018": "#0077bb",
    "ml-wide": "#009988",
    "ml-adaptive": "#66ccee",
    "ml-history": "#ee7733",
    "oracle": "#111111",
    "westwood": "#999933",
    "vegas": "#aa4499",
    "cubic": "#cc6677",
    "cubic-wide": "#117733",
    "cubic-history": "#117733",
    "cubic-adaptive": "#44aa99",
    "cubic-oracle": "#888888",
    "bbr": "#332288",
}
#: By the names on the pages.
NAMED = {name: _COLOURS[sender] for sender, name in SENDERS.items() if sender in _COLOURS}
_WIDTH, _HEIGHT = 420, 260


def draw(found: Sequence[Point], folder: Path, confidence: float) -> Iterator[tuple[str, str, str]]:
    """File, title and SVG of each figure that there are runs for."""
    import vl_convert

    for file, title, spec in _specs(found, folder, confidence):
        if spec is not None:
            yield file, title, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _specs(found: Sequence[Point], folder: Path, confidence: float) -> Iterator[tuple[str, str, Json | None]]:
    for file, senders, who in (
        ("figure-05.svg", PAPERS, "NewReno's kind"),
        ("figure-05-others.svg", OTHERS, "what else there is"),
    ):
        title = f"Figure 5: goodput against the loss rate, {who}"
        rows = _by_condition(found, "5", senders, "loss_rate", confidence)
        points = _printed(found, folder, senders, confidence)
        yield file, title, lines(rows, title, "loss rate", "goodput, Mbit/s", printed=points)
    title = "Figure 6: cwnd over time at a loss rate of 0.01"
    yield "figure-06.svg", title, _over_time(found, title)
    title = "Figure 7: goodput against the RTT at a loss rate of 0.01"
    rows = _by_condition(found, "7", THREE, "rtt_ms", confidence, loss_rate=1e-2)
    yield "figure-07.svg", title, lines(rows, title, "RTT, ms", "goodput, Mbit/s")
    title = "Figure 8: goodput over that of 30 ms at a loss rate of 0.01"
    yield "figure-08.svg", title, lines(_to_30ms(found, confidence), title, "RTT, ms", "ratio")
    title = "Figure 9: goodput beside UDP at a loss rate of 0.01"
    rows = _by_condition(found, "9", (*THREE, "bbr"), "udp_share", confidence, loss_rate=1e-2)
    yield "figure-09.svg", title, lines(rows, title, "UDP's share of 5 Mbit/s", "goodput, Mbit/s")


def _printed(found: Sequence[Point], folder: Path, senders: Collection[str], confidence: float) -> list[Json]:
    """The shares of the lossless goodput that the paper's text prints, of ours without loss."""
    with (folder / "published.csv").open(newline="") as file:
        printed = [row for row in csv.DictReader(file) if row["metric"] == "goodput_to_lossless"]
    out = []
    for row in printed:
        lossless = mean(of(found, "5", row["sender"], loss_rate=0.0), "goodput_mbps", confidence)
        if row["sender"] in senders and lossless:
            x = float(row["condition"].partition("=")[2])
            y = float(row["value"]) * lossless.value
            out.append({"x": f"{x:g}", "sender": SENDERS[row["sender"]], "y": y})
    return out


def row(x: Any, name: str, value: Estimate) -> Json:
    low = value.value if value.low is None else value.low
    high = value.value if value.high is None else value.high
    return {"x": f"{x:g}", "sender": name, "y": value.value, "low": max(0.0, low), "high": high}


def _values(found: Sequence[Point], scenario: str, key: str) -> list[float]:
    values = {p.short.get(key) for p in found if p.scenario == scenario}
    return sorted(v for v in values if v is not None)


def _by_condition(
    found: Sequence[Point], scenario: str, senders: Sequence[str], key: str, confidence: float, **at: float
) -> list[Json]:
    rows = []
    for x in _values(found, scenario, key):
        for sender in senders:
            value = mean(of(found, scenario, sender, **{key: x}, **at), "goodput_mbps", confidence)
            if value:
                rows.append(row(x, SENDERS[sender], value))
    return rows


def _to_30ms(found: Sequence[Point], confidence: float) -> list[Json]:
    rows = []
    for x in (30.0, 60.0, 120.0):
        for sender in THREE:
            here = of(found, "7", sender, rtt_ms=x, loss_rate=1e-2)
            near = of(found, "7", sender, rtt_ms=30.0, loss_rate=1e-2)
            value = ratio(here, near, "goodput_mbps", confidence)
            if value:
                rows.append(row(x, SENDERS[sender], value))
    return rows


def colour(senders: Collection[str], named: Mapping[str, str]) -> Any:
    import altair as alt

    known = {name: of for name, of in named.items() if name in senders}
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=300)
    return alt.Color("sender:N", legend=legend).scale(domain=list(known), range=list(known.values()))


def lines(
    rows: Sequence[Json],
    title: str,
    x_title: str,
    y_title: str,
    named: Mapping[str, str] = NAMED,
    printed: Sequence[Json] = (),
) -> Json | None:
    """A line a sender, with intervals: rows of `row`. printed: the paper's, as diamonds."""
    import altair as alt

    if not rows:
        return None
    order = list(dict.fromkeys(r["x"] for r in rows))
    by_sender = colour({str(r["sender"]) for r in rows}, named)
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        x=alt.X("x:N", title=x_title, sort=order, axis=alt.Axis(labelAngle=0)), color=by_sender
    )
    lines = base.mark_line(point=True).encode(y=alt.Y("y:Q", title=y_title).scale(zero=True))
    bars = base.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
    if not printed:
        return titled(alt.layer(bars, lines), title)
    theirs = (
        alt.Chart(alt.InlineData(values=list(printed)))
        .mark_point(shape="diamond", size=110, strokeWidth=2)
        .encode(x=alt.X("x:N", sort=order), y="y:Q", color=by_sender)
    )
    return titled(alt.layer(bars, lines, theirs), f"{title}; diamonds: the paper's text")


def _over_time(found: Sequence[Point], title: str) -> Json | None:
    import altair as alt

    rows = []
    for sender in OVER_TIME:
        for p in of(found, "5", sender, loss_rate=1e-2)[:1]:
            for i, value in enumerate(p.cwnd_bytes):
                at_s = (i + 0.5) * p.bin_s
                if value is not None and WINDOW_S[0] <= at_s < WINDOW_S[1]:
                    rows.append({"t": at_s, "y": value / 1e3, "sender": SENDERS[sender]})
    if not rows:
        return None
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line()
        .encode(
            x=alt.X("t:Q", title="time, s").scale(zero=False),
            y=alt.Y("y:Q", title="cwnd, kB, mean over a second"),
            color=colour({str(r["sender"]) for r in rows}, NAMED),
        )
    )
    return titled(alt.layer(lines), title)


def titled(layers: Any, title: str) -> Json:
    import altair as alt

    spec: Json = (
        layers.properties(width=_WIDTH, height=_HEIGHT, title=alt.Title(title, anchor="start", fontSize=14))
        .configure_view(stroke="#ddd")
        .to_dict()
    )
    return spec
