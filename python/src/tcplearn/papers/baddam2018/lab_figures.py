# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The grid drawn as the paper's charts: time and resends of each download, by kernel and traffic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tcplearn.lab.scenario import Scenario
from tcplearn.papers.baddam2018 import cells
from tcplearn.papers.baddam2018.cells import Cell

#: Okabe and Ito's.
COLOURS = {"stock": "#000000", "without error": "#d55e00", "as written": "#e69f00", "corrected": "#0072b2"}
CHARTS = (
    ("lab-times.svg", "Time of each download", cells.TIME, "download, s"),
    (
        "lab-resent.svg",
        "Packets that the sender sent again, of each download",
        cells.RESENT_BY_KERNEL,
        "packets resent",
    ),
)

Part = tuple[Scenario, Sequence[Cell]]


def draw(parts: Sequence[Part]) -> Iterator[tuple[str, str, str]]:
    """A file's name, what it shows, and its SVG."""
    import vl_convert

    for name, title, metric, axis in CHARTS:
        spec = _chart(list(_points(parts, metric)), axis).configure_view(stroke="#ddd").to_dict()
        yield name, title, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _points(parts: Sequence[Part], metric: str) -> Iterator[dict[str, Any]]:
    for one, of in parts:
        for cell in of:
            end = {"": "stock", "sender": "at the sender", "receiver": "at the downloader"}[cell.at]
            where = {
                "traffic": one.title.rpartition("; ")[2],
                "kernel": cell.kernel,
                "version": cell.version,
                "at": end,
            }
            yield from ({**where, "value": value} for value in cell.values[metric])


def _chart(rows: list[dict[str, Any]], axis: str) -> Any:
    import altair as alt

    colour = alt.Color("version:N", legend=alt.Legend(orient="top", title=None)).scale(
        domain=list(COLOURS), range=list(COLOURS.values())
    )
    title = alt.Header(title=None)
    traffics = list(dict.fromkeys(row["traffic"] for row in rows))
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=30)
        .encode(
            x=alt.X("value:Q", title=axis),
            y=alt.Y("at:N", title=None, sort=["stock", "at the sender", "at the downloader"]),
            yOffset=alt.YOffset("version:N", sort=list(COLOURS)),
            color=colour,
        )
        .properties(width=220, height=100)
        .facet(
            row=alt.Row("kernel:N", sort=kernels, header=title),
            column=alt.Column("traffic:N", sort=traffics, header=title),
        )
        .resolve_scale(x="independent")
    )
