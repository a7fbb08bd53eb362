# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws tambuwal2018's figures from our runs in ns-3, and the quantiles of the web traffic generator."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.lib.pages import Figure
from experiments.tambuwal2018 import averages
from experiments.tambuwal2018.cells import STANDARD, Cell, Connection, is_short, level_of
from experiments.tambuwal2018.colours import COLOURS, DASHED
from experiments.tambuwal2018.measures import MEAN, MIXED, estimate, mix_lost
from experiments.tambuwal2018.published import Comparison

Json = dict[str, Any]

SCATTERED = (STANDARD, "tsl/3-16")
POINTS = 200  # the most points of a startup policy in a panel of a scatter plot
LOST, LATE = "SYN-ACK lost", "nothing lost, RTT above the timer"
SPACED = {"labelSeparation": 8}  # the distance between the numbers of a logarithmic axis
DRAWN = {
    "arrival_ms": "between connections, ms",
    "client_rtt_ms": "client's part of the RTT, ms",
    "server_rtt_ms": "server's part of the RTT, ms",
    "server_wait_ms": "server's own time, ms",
    "request_bytes": "request, bytes",
    "file_bytes": "response: a file, bytes",
    "validation_bytes": "response: a validation, bytes",
}


def draw(found: Comparison) -> Iterator[Figure]:
    """Yields the figures of the runs and of the traffic generator."""
    for name, title, chart in _charts(found):
        spec = chart.configure_view(stroke="#ddd").configure_axis(gridColor="#eee").to_dict()
        yield Figure(f"figures/{name}", title, spec)


def _charts(found: Comparison) -> Iterator[tuple[str, str, Any]]:
    rows = list(quantile_rows(found.folder))
    if rows:
        yield (
            "generator.svg",
            "Figures 2 and 3: quantiles of PackMime-HTTP (published) and of our generator (drawn)",
            _generator(rows),
        )
    cells = [c for c in found.levels if c.lost]
    if cells:
        charts = [*_of_connections(cells, _quantiles(found)), *averages.charts(found)]
        yield from sorted(charts, key=lambda chart: chart[0].removesuffix(".svg"))
    mixed = list(_mix_rows(found))
    if mixed:
        title = f"Figure 12: mean responses of connections that lost a SYN-ACK, at 40 % load; {averages.BARS}"
        yield "figure-12.svg", title, _mixes(mixed)


def _quantiles(found: Comparison) -> Iterator[Json]:
    """Yields the 90th and 99th percentiles of response times that tambuwal2018 prints, under the standard
    startup policy and under TSL, the policy that the paper proposes."""
    levels = {cell.level: level_of(cell) for cell in found.levels}
    for one in found.rows:
        row, above = one.row, {"p90_rtts": 0.1, "p99_rtts": 0.01}
        if row.measure in above and row.level in levels:
            name = "TSL" if row.startup == MEAN else row.startup
            yield {"level": levels[row.level], "x": row.low, "y": above[row.measure], "paper": name}


def _of_connections(cells: Sequence[Cell], paper: Iterator[Json]) -> Iterator[tuple[str, str, Any]]:
    pair = [c for c in cells if c.startup in SCATTERED]
    yield (
        "figure-04-06-by-size.svg",
        "Figures 4 and 6, left: response times by size of the object",
        _scatter(_points(pair, lambda k: (k.size_bytes / 1000, k.rtts) if is_short(k) else None), "kB"),
    )
    yield (
        "figure-04-06-ccdf.svg",
        "Figures 4 and 6, right: share of response times above x, for objects of 1 to 50 KB; "
        "tambuwal2018's numbers: cross (standard), diamond (TSL)",
        _ccdf(_ccdf_rows(cells, lambda c: c.rtts if is_short(c) else None), "RTTs", paper=list(paper)),
    )
    yield (
        "figure-05-by-rtt.svg",
        "Figure 5, left: response times by RTT of the path, without the wait for the initial timer",
        _scatter(_by_rtt(pair), "RTT of the path, ms", "s", log_x=True),
    )
    yield (
        "figure-05-ccdf.svg",
        "Figure 5, right: share of response times above x, on paths with an RTT above 50 ms",
        _ccdf(
            _ccdf_rows(cells, lambda c: c.data_s if c.path_rtt_ms > 50 else None),
            "s, the initial timer left out",
        ),
    )
    yield (
        "whole.svg",
        "Not in the paper: share of whole response times above x, the initial timer included",
        _ccdf(_ccdf_rows(cells, lambda c: c.whole_ms / 1000), "s"),
    )
    yield (
        "figure-10.svg",
        "Figure 10: share of seconds whose loss share is above x",
        _ccdf(list(_second_rows(cells)), "packets lost in a second, %", log=False),
    )


def quantile_rows(folder: Path) -> Iterator[Json]:
    files = {"published": folder / "quantiles.csv", "drawn": folder / "drawn.csv"}
    if not all(file.exists() for file in files.values()):
        return
    for source, file in files.items():
        with file.open(newline="") as lines:
            for row in csv.DictReader(lines):
                yield {"q": row["quantity"], "p": float(row["p"]), "y": float(row["value"]), "e": source}


def _colour(names: Sequence[str], symbol: str = "stroke") -> Any:
    import altair as alt

    known = [name for name in COLOURS if name in names]
    size = 300 if symbol == "stroke" else 60
    legend = alt.Legend(orient="top", title=None, symbolType=symbol, symbolSize=size, columns=9)
    return alt.Color("e:N", legend=legend, sort=known).scale(domain=known, range=[COLOURS[n] for n in known])


def _dash(names: Sequence[str]) -> Any:
    """Returns an Altair encoding for the lines of the startup policies `names`: some are dashed, so that they
    do not hide others."""
    import altair as alt

    known = [name for name in COLOURS if name in names]
    dashes = [[4, 4] if name in DASHED else [1, 0] for name in known]
    return alt.StrokeDash("e:N", legend=None, sort=known).scale(domain=known, range=dashes)


def _facet(chart: Any, columns: str = "level:N") -> Any:
    import altair as alt

    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    return chart.properties(width=230, height=170).facet(column=alt.Column(columns, header=header))


def _generator(rows: Sequence[Json]) -> Any:
    import altair as alt

    legend = alt.Legend(orient="top", title=None)
    names, colours, sizes = ["published", "drawn"], ["#6b6b6b", "#d55e00"], [110, 14]
    points = (
        alt.Chart(alt.InlineData(values=[{**row, "q": DRAWN.get(row["q"], row["q"])} for row in rows]))
        .mark_point()
        .encode(
            x=alt.X("p:Q", title="share below"),
            y=alt.Y("y:Q", title=None, axis=SPACED).scale(type="log"),
            size=alt.Size("e:N", legend=legend).scale(domain=names, range=sizes),
            color=alt.Color("e:N", legend=legend).scale(domain=names, range=colours),
        )
        .properties(width=190, height=130)
    )
    return points.facet(facet=alt.Facet("q:N", header=alt.Header(title=None)), columns=4).resolve_scale(
        x="independent", y="independent"
    )


def _points(cells: Sequence[Cell], value: Callable[[Connection], tuple[float, float] | None]) -> list[Json]:
    rows = []
    for cell in cells:
        found = [v for k in cell.lost if (v := value(k)) is not None][:POINTS]
        rows += [{"level": level_of(cell), "e": cell.startup, "x": x, "y": y} for x, y in found]
    return rows


def _by_rtt(cells: Sequence[Cell]) -> list[Json]:
    rows = _points(cells, lambda k: (k.path_rtt_ms, k.data_s))
    for cell in cells:
        late = [k for run in cell.runs.values() for k in run.spurious][:POINTS]
        rows += [
            {"level": level_of(cell), "e": cell.startup, "x": k.path_rtt_ms, "y": k.data_s, "what": LATE}
            for k in late
        ]
    return rows


def _scatter(rows: Sequence[Json], x: str, y: str = "RTTs", *, log_x: bool = False) -> Any:
    import altair as alt

    kinds = [LOST, LATE] if any("what" in row for row in rows) else [LOST]
    legend = alt.Legend(orient="top", title=None, labelLimit=300) if len(kinds) > 1 else None
    points = (
        alt.Chart(alt.InlineData(values=[{"what": LOST, **row} for row in rows]))
        .mark_point(size=12, opacity=0.6)
        .encode(
            x=alt.X("x:Q", title=x, axis=SPACED).scale(type="log" if log_x else "linear", nice=not log_x),
            y=alt.Y("y:Q", title=y, axis=SPACED).scale(type="log"),
            color=_colour([row["e"] for row in rows], "circle"),
            shape=alt.Shape("what:N", legend=legend).scale(domain=kinds, range=["circle", "triangle-up"]),
        )
    )
    return _facet(points)


def _ccdf_rows(cells: Sequence[Cell], value: Any) -> list[Json]:
    out = []
    for cell in cells:
        values = sorted(v for k in cell.lost if (v := value(k)) is not None)
        out += list(_above(values, level_of(cell), cell.startup))
    return out


def _above(values: Sequence[float], level: str, name: str) -> Iterator[Json]:
    """Yields chart rows: about a hundred points of the complementary distribution function of `values`, which
    must be sorted."""
    n = len(values)
    step = max(1, n // 120)
    for i in sorted({*range(0, n, step), *range(max(0, n - 20), n)}):
        yield {"level": level, "e": name, "x": values[i], "y": (n - i) / n}


def _second_rows(cells: Sequence[Cell]) -> Iterator[Json]:
    for cell in cells:
        seconds = sorted(100 * s for run in cell.runs.values() for s in run.seconds["loss_share"])
        yield from _above(seconds, level_of(cell), cell.startup)


def _ccdf(rows: Sequence[Json], title: str, *, log: bool = True, paper: Sequence[Json] = ()) -> Any:
    import altair as alt

    names = [row["e"] for row in rows]
    lines = (
        alt.Chart()
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X("x:Q", title=title, axis=SPACED).scale(type="log" if log else "linear"),
            y=alt.Y("y:Q", title="share above", axis=SPACED).scale(type="log"),
            color=_colour(names),
            strokeDash=_dash(names),
        )
    )
    shapes = alt.Shape("paper:N", legend=None).scale(domain=[STANDARD, "TSL"], range=["cross", "diamond"])
    points = (
        alt.Chart().mark_point(size=50, filled=True, color="black").encode(x="x:Q", y="y:Q", shape=shapes)
    )
    kept = [
        lines.transform_filter("datum.paper == null"),
        *([points.transform_filter("datum.paper != null")] if paper else []),
    ]
    return _facet(alt.layer(*kept, data=alt.InlineData(values=[*rows, *paper])))


def _mix_rows(found: Comparison) -> Iterator[Json]:
    for share in found.shares:
        for kind in (MIXED, STANDARD):
            ours = estimate(functools.partial(mix_lost, share=share, kind=kind), found.mixed)
            if ours:
                row = {"level": f"mixed with {MIXED}", "e": kind, "x": 100 * share, "y": ours.value}
                yield row | {"low": ours.low, "high": ours.high}


def _mixes(rows: Sequence[Json]) -> Any:
    import altair as alt

    base = alt.Chart().encode(
        x=alt.X("x:Q", title="share of connections with TSL, %"), color=_colour([row["e"] for row in rows])
    )
    lines = base.mark_line(point=True).encode(y=alt.Y("y:Q", title="RTTs").scale(zero=False))
    bars = base.mark_rule().encode(y="low:Q", y2="high:Q")
    return _facet(alt.layer(lines, bars, data=alt.InlineData(values=list(rows))))
