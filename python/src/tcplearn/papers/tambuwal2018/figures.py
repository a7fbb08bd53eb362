# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018: its figures from our runs, and the generator's quantiles."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tcplearn.papers.tambuwal2018.cells import SHORT_BYTES, STANDARD, Cell

Json = dict[str, Any]

#: Okabe and Ito's, the standard in grey behind them.
COLOURS = {
    STANDARD: "#6b6b6b",
    "tsl/1-16": "#56b4e9",
    "tsl/1-1000": "#0072b2",
    "tsl/3-2": "#e69f00",
    "tsl/3-16": "#d55e00",
    "tsl/3-1000": "#882255",
    "tsl": "#009e73",
    "linux": "#cc79a7",
    "tsl-feedback": "#332288",
}
SCATTERED = (STANDARD, "tsl/3-16")
POINTS = 400  # of a scatter's panel


def draw(levels: Sequence[Cell], mixes: Sequence[Cell], folder: Path) -> Iterator[tuple[str, str, str]]:
    """Each that there are runs for: its file, what it shows, as SVG."""
    for name, title, chart in _charts(levels, mixes, folder):
        import vl_convert

        spec = chart.configure_view(stroke="#ddd").to_dict()
        yield name, title, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _charts(levels: Sequence[Cell], mixes: Sequence[Cell], folder: Path) -> Iterator[tuple[str, str, Any]]:
    rows = list(quantile_rows(folder))
    if rows:
        yield (
            "generator.svg",
            "Figures 2 and 3: the generator's quantiles, published and drawn",
            _generator(rows),
        )
    cells = [c for c in levels if c.lost]
    if cells:
        yield (
            "figure-04.svg",
            "Figures 4 and 6, left: response times by size",
            _scatter([c for c in cells if c.startup in SCATTERED]),
        )
        yield (
            "figure-06.svg",
            "Figures 4 and 6, right: share of response times above",
            _ccdf(_ccdf_rows(cells, lambda c: c.rtts), "RTTs"),
        )
        yield (
            "figure-05.svg",
            "Figure 5: the same where the RTT is above 50 ms, in seconds",
            _ccdf(
                _ccdf_rows(
                    cells,
                    lambda c: (c.rtts * c.path_rtt_ms / 1000) if c.path_rtt_ms > 50 else None,
                ),
                "s, the initial timer left out",
            ),
        )
        yield (
            "whole.svg",
            "Not in the paper: the whole response time, the initial timer included",
            _ccdf(_ccdf_rows(cells, lambda c: c.whole_ms / 1000), "s"),
        )
        yield (
            "figure-10.svg",
            "Figures 9 and 10: share of seconds whose loss is above",
            _ccdf(list(_second_rows(cells)), "packets lost in a second, %", log=False),
        )
    mixed = list(_mix_rows(mixes))
    if mixed:
        yield "figure-12.svg", "Figure 12: mixes at 40 % load", _mixes(mixed)


def quantile_rows(folder: Path) -> Iterator[Json]:
    files = {"published": folder / "quantiles.csv", "drawn": folder / "drawn.csv"}
    if not all(file.exists() for file in files.values()):
        return
    for source, file in files.items():
        with file.open(newline="") as lines:
            for row in csv.DictReader(lines):
                yield {"q": row["quantity"], "p": float(row["p"]), "y": float(row["value"]), "e": source}


def _colour(names: Sequence[str]) -> Any:
    import altair as alt

    known = [name for name in COLOURS if name in names]
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=300, columns=9)
    return alt.Color("e:N", legend=legend, sort=known).scale(domain=known, range=[COLOURS[n] for n in known])


def _level(cell: Cell) -> str:
    return f"{cell.level:.0%} load".replace("%", " %")


def _facet(chart: Any, columns: str = "level:N") -> Any:
    import altair as alt

    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    return chart.properties(width=230, height=170).facet(column=alt.Column(columns, header=header))


def _generator(rows: Sequence[Json]) -> Any:
    import altair as alt

    legend = alt.Legend(orient="top", title=None)
    shape = alt.Shape("e:N", legend=legend).scale(domain=["published", "drawn"], range=["circle", "cross"])
    colour = alt.Color("e:N", legend=legend).scale(
        domain=["published", "drawn"], range=["#6b6b6b", "#d55e00"]
    )
    points = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_point(size=60)
        .encode(
            x=alt.X("p:Q", title="share below"),
            y=alt.Y("y:Q", title=None).scale(type="log"),
            shape=shape,
            color=colour,
        )
        .properties(width=190, height=130)
    )
    return points.facet(facet=alt.Facet("q:N", header=alt.Header(title=None)), columns=4).resolve_scale(
        y="independent"
    )


def _scatter(cells: Sequence[Cell]) -> Any:
    import altair as alt

    rows = [
        {"level": _level(c), "e": c.startup, "x": k.size_bytes / 1000, "y": k.rtts}
        for c in cells
        for k in [k for k in c.lost if 1000 <= k.size_bytes <= SHORT_BYTES][:POINTS]
    ]
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=12, opacity=0.6)
        .encode(
            x=alt.X("x:Q", title="kB"),
            y=alt.Y("y:Q", title="RTTs").scale(type="log"),
            color=_colour([c.startup for c in cells]),
        )
    )
    return _facet(points)


def _ccdf_rows(cells: Sequence[Cell], value: Any) -> list[Json]:
    out = []
    for cell in cells:
        values = sorted(v for k in cell.lost if (v := value(k)) is not None)
        out += list(_above(values, _level(cell), cell.startup))
    return out


def _above(values: Sequence[float], level: str, name: str) -> Iterator[Json]:
    """At most some hundred points of a distribution, the last of them all kept."""
    n = len(values)
    step = max(1, n // 120)
    for i in sorted({*range(0, n, step), *range(max(0, n - 20), n)}):
        yield {"level": level, "e": name, "x": values[i], "y": (n - i) / n}


def _second_rows(cells: Sequence[Cell]) -> Iterator[Json]:
    for cell in cells:
        seconds = sorted(100 * s for run in cell.runs.values() for s in run.seconds["loss_share"])
        yield from _above(seconds, _level(cell), cell.startup)


def _ccdf(rows: Sequence[Json], title: str, *, log: bool = True) -> Any:
    import altair as alt

    lines = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X("x:Q", title=title).scale(type="log" if log else "linear"),
            y=alt.Y("y:Q", title="share above").scale(type="log"),
            color=_colour([row["e"] for row in rows]),
        )
    )
    return _facet(lines)


def _mix_rows(mixes: Sequence[Cell]) -> Iterator[Json]:
    for cell in mixes:
        for kind in (cell.startup, STANDARD):
            own = [k.rtts for k in cell.lost if k.startup == _base(kind)]
            if own:
                yield {
                    "level": f"mixed with {cell.startup}",
                    "e": kind,
                    "x": 100 * cell.share,
                    "y": sum(own) / len(own),
                }


def _base(startup: str) -> str:
    return startup.partition(":")[0]


def _mixes(rows: Sequence[Json]) -> Any:
    import altair as alt

    lines = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_line(point=True)
        .encode(
            x=alt.X("x:Q", title="share of connections with it, %"),
            y=alt.Y("y:Q", title="RTTs").scale(zero=False),
            color=_colour([row["e"] for row in rows]),
        )
    )
    return _facet(lines)
