# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws the results of tambuwal2018's startup policies (IW and ssthresh after a lost SYN-ACK) on a real
kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from experiments.lib.pages import Figure
from experiments.tambuwal2018.colours import COLOURS
from experiments.tambuwal2018.lab_cells import Part, after_handshake_ms, ratio, whole_ms
from tcplearn.lab.scenario import STOCK

Json = dict[str, Any]

SHOWN = {STOCK: "#000000", **{name: COLOURS[name] for name in ("standard", "tsl", "tsl/3-16", "tsl/3-1000")}}


def draw(parts: Sequence[Part]) -> Iterator[Figure]:
    """Yields the figures for which there are fetched web pages."""
    every = [p for p in parts if all(page.is_lost for cell in p.fetched.values() for page in cell)]
    firsts = [p for i, p in enumerate(every) if _path(p) not in map(_path, every[:i])]
    charts = (
        ("lab-gains.svg", "Time of a page after the handshake, relative to stock's", _gains(every)),
        ("lab-whole.svg", "Share of pages whose time from the first SYN is below x", _whole(firsts)),
    )
    for name, title, chart in charts:
        if chart is not None:
            yield Figure(f"figures/{name}", title, chart.configure_view(stroke="#ddd").to_dict())


def _path(part: Part) -> str:
    return part.title.partition(";")[0]


def _size(size: int) -> str:
    return f"{size / 1000:g} kB"


def _gain_rows(part: Part) -> Iterator[Json]:
    for size in part.sizes:
        base = part.cell(STOCK, size)
        for startup in part.fetched:
            if startup != STOCK and base:
                value, low, high = ratio(part.cell(startup, size), base, after_handshake_ms)
                where = {"path": _path(part), "size": _size(size), "startup": startup}
                yield {**where, "ratio": value, "low": low, "high": high}


def _gains(parts: Sequence[Part]) -> Any:
    import altair as alt

    rows = [row for part in parts for row in _gain_rows(part)]
    if not rows:
        return None
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    startups = list(dict.fromkeys(row["startup"] for row in rows))
    colour = alt.Color("size:N", sort=sizes, legend=alt.Legend(orient="top", title=None)).scale(
        domain=sizes, range=["#56b4e9", "#d55e00", "#332288", "#009e73"][: len(sizes)]
    )
    y = alt.Y("startup:N", sort=startups, title=None)
    offset = alt.YOffset("size:N", sort=sizes)
    base = alt.Chart().encode(y=y, yOffset=offset, color=colour)
    ends = [0.95 * min(row["low"] for row in rows), 1.05 * max(row["high"] for row in rows)]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    x = alt.X("ratio:Q", title="time after the handshake, over stock's", scale=scale)
    bars = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    points = base.mark_point(size=40, filled=True).encode(x=x)
    one = alt.Chart().mark_rule(color="#999", strokeDash=[3, 3]).encode(x=alt.datum(1))
    layers = alt.layer(one, bars, points, data=alt.InlineData(values=rows))
    return _faceted(layers.properties(width=300, height=34 * len(startups)))


def _whole_rows(part: Part) -> Iterator[Json]:
    for size in part.sizes:
        for startup in SHOWN:
            if startup not in part.fetched:
                continue
            values = sorted(whole_ms(page) / 1000 for page in part.cell(startup, size))
            for i, value in enumerate(values):
                share = (i + 1) / len(values)
                where = {"path": _path(part), "size": _size(size), "startup": startup}
                yield {**where, "s": value, "share": share}


def _whole(parts: Sequence[Part]) -> Any:
    import altair as alt

    rows = [row for part in parts for row in _whole_rows(part)]
    if not rows:
        return None
    names = [name for name in SHOWN if any(row["startup"] == name for row in rows)]
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    colour = alt.Color("startup:N", sort=names, legend=alt.Legend(orient="top", title=None)).scale(
        domain=names, range=[SHOWN[name] for name in names]
    )
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X("s:Q", title="s").scale(zero=False),
            y=alt.Y("share:Q", title="share of pages below"),
            color=colour,
        )
        .properties(width=230, height=150)
    )
    title = alt.Header(title=None)
    rows_of, columns = alt.Row("path:N", header=title), alt.Column("size:N", sort=sizes, header=title)
    return lines.facet(row=rows_of, column=columns).resolve_scale(x="independent")


def _faceted(chart: Any) -> Any:
    import altair as alt

    return chart.facet(column=alt.Column("path:N", header=alt.Header(title=None, labelFontWeight="bold")))
