# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws tambuwal2018's figures from our runs in ns-3, and the quantiles of the web traffic generator."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import altair as alt
import numpy as np

from experiments.lib.pages import Figure
from experiments.tambuwal2018.cells import COLOURS, STANDARD, Array, Cell, data_s, far, percent, short
from experiments.tambuwal2018.measures import MEAN, MIXED, estimate, mix_lost
from experiments.tambuwal2018.published import Comparison, quantile_rows

Json = dict[str, Any]

#: Startups drawn as dashed lines, because their lines often coincide with another startup's.
DASHED = ("tsl", "tsl-feedback")
#: The startups in scatter plots and in figure 9: the standard, and TSL 3,16 (IW 3, ssthresh 16).
PAIR = (STANDARD, "tsl/3-16")
POINTS = 200  # the most points of a startup policy in a panel of a scatter plot
LOST, LATE = "SYN-ACK lost", "nothing lost, RTT above the timer"
SPACED = {"labelSeparation": 8}  # the distance between the numbers of a logarithmic axis
BARS = "bars are 95 % intervals"
PAPER = "a grey line or band is the number or range that tambuwal2018 prints"
DRAWN = {
    "arrival_ms": "between connections, ms",
    "client_rtt_ms": "client's part of the RTT, ms",
    "server_rtt_ms": "server's part of the RTT, ms",
    "server_wait_ms": "server's own time, ms",
    "request_bytes": "request, bytes",
    "file_bytes": "response: a file, bytes",
    "validation_bytes": "response: a validation, bytes",
}
#: The file of a figure by load, its measure, the title of its axis, and its title.
BY_LOAD = (
    ("figure-07.svg", "mean_rtts", "RTTs", "Figure 7: mean response times after a lost SYN-ACK"),
    (
        "figure-07-gain.svg",
        "gain_rtts",
        "RTTs",
        "Figure 7: by how many RTTs the mean response time after a lost SYN-ACK is shorter than under the "
        "standard (IW 1, ssthresh 2)",
    ),
    ("figure-08.svg", "loss_percent", "packets lost, %", "Figure 8: share of packets lost at the bottleneck"),
    (
        "figure-08-change.svg",
        "loss_change_percent",
        "over the standard's, %",
        "Table 2: by how many per cent the bottleneck's loss share under each startup policy is above that "
        "under the standard (IW 1, ssthresh 2)",
    ),
    ("figure-11.svg", "throughput_mbps", "Mbit/s", "Figure 11: mean throughput of the bottleneck"),
    (
        "figure-11-change.svg",
        "throughput_drop_percent",
        "below the standard's, %",
        "Table 3: by how many per cent the bottleneck's throughput under each startup policy is below that "
        "under the standard (IW 1, ssthresh 2)",
    ),
)
#: Where the paper prints what these figures show, beside the sections of its text.
PRINTED = ("Abstract", "Figure 7", "Table 2", "Table 3")


def draw(found: Comparison) -> Iterator[Figure]:
    """Yields the figures of the runs and of the traffic generator, in the order of their names."""
    for name, title, chart in sorted(charts(found), key=lambda one: one[0].removesuffix(".svg")):
        spec = chart.configure_view(stroke="#ddd").configure_axis(gridColor="#eee").to_dict()
        yield Figure(f"figures/{name}", title, spec)


def charts(found: Comparison) -> Iterator[tuple[str, str, Any]]:
    """Yields the file's name, the title and the chart of each figure for which there are runs."""
    if rows := list(quantile_rows(found.folder)):
        title = "Figures 2 and 3: quantiles of PackMime-HTTP (published) and of our generator (drawn)"
        yield "generator.svg", title, _generator(rows)
    if cells := [cell for cell in found.levels if len(cell.lost)]:
        yield from _of_connections(cells, found)
        for name, measure, axis, title in BY_LOAD:
            if rows := list(_load_rows(found, measure)):
                paper = f"; {PAPER}" if any("from" in row for row in rows) else ""
                yield name, f"{title}; {BARS}{paper}", _by_load(rows, axis)
        if rows := list(_second_rows(found)):
            title = (
                "Figure 9: loss share of each second of the first run or part; dashed: tambuwal2018's largest"
            )
            yield "figure-09.svg", title, _seconds(rows)
    if rows := list(_mix_rows(found)):
        title = f"Figure 12: mean responses of connections that lost a SYN-ACK, at 40 % load; {BARS}"
        yield "figure-12.svg", title, _mixes(rows)


def _of_connections(cells: Sequence[Cell], found: Comparison) -> Iterator[tuple[str, str, Any]]:
    pair = [cell for cell in cells if cell.startup in PAIR]
    of_pair = [(cell, short(cell.lost)) for cell in pair]
    by_size = [row for cell, of in of_pair for row in _points(cell, of["bytes"] / 1000, of["rtts"])]
    yield (
        "figure-04-06-by-size.svg",
        "Figures 4 and 6, left: response times by size of the object",
        _scatter(by_size, "kB", "RTTs"),
    )
    yield (
        "figure-04-06-ccdf.svg",
        "Figures 4 and 6, right: share of response times above x, for objects of 1 to 50 KB; "
        "tambuwal2018's numbers: cross (standard), diamond (TSL)",
        _ccdf(cells, lambda c: short(c.lost)["rtts"], "RTTs", paper=list(_printed(found))),
    )
    of_kind = [(cell, cell.lost, LOST) for cell in pair] + [(cell, cell.spurious, LATE) for cell in pair]
    by_rtt = [row for cell, of, what in of_kind for row in _points(cell, of["path_rtt_ms"], data_s(of), what)]
    yield (
        "figure-05-by-rtt.svg",
        "Figure 5, left: response times by RTT of the path, without the wait for the initial timer",
        _scatter(by_rtt, "RTT of the path, ms", "s", log_x=True),
    )
    yield (
        "figure-05-ccdf.svg",
        "Figure 5, right: share of response times above x, on paths with an RTT above 50 ms",
        _ccdf(cells, lambda c: data_s(far(c.lost)), "s, the initial timer left out"),
    )
    yield (
        "whole.svg",
        "Not in the paper: share of whole response times above x, the initial timer included",
        _ccdf(cells, lambda c: c.lost["whole_ms"] / 1000, "s"),
    )
    yield (
        "figure-10.svg",
        "Figure 10: share of seconds whose loss share is above x",
        _ccdf(
            cells,
            lambda c: 100 * np.concatenate([run.loss_shares for run in c.runs.values()]),
            "packets lost in a second, %",
            scale="linear",
        ),
    )


def _at(cell: Cell) -> Json:
    """Returns the panel and the name by which a chart's rows of `cell` are drawn."""
    return {"level": f"{percent(cell.level)} load", "e": cell.startup}


def _names(rows: Sequence[Json]) -> list[str]:
    """Returns the startup policies in the rows of a chart, in the order in which the page's tables list
    them."""
    return [name for name in COLOURS if name in {row["e"] for row in rows}]


def _colour(rows: Sequence[Json], legend: alt.Legend | None) -> Any:
    known = _names(rows)
    return alt.Color("e:N", legend=legend, sort=known).scale(domain=known, range=[COLOURS[n] for n in known])


def _legend(symbol: str = "stroke") -> alt.Legend:
    size = 300 if symbol == "stroke" else 60
    return alt.Legend(orient="top", title=None, symbolType=symbol, symbolSize=size, columns=9)


def _facet(chart: Any) -> Any:
    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    return chart.properties(width=230, height=170).facet(column=alt.Column("level:N", header=header))


def _generator(rows: Sequence[Json]) -> Any:
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
    panels = points.facet(facet=alt.Facet("q:N", header=alt.Header(title=None)), columns=4)
    return panels.resolve_scale(x="independent", y="independent")


def _points(cell: Cell, x: Array, y: Array, what: str = LOST) -> Iterator[Json]:
    for one_x, one_y in zip(x[:POINTS].tolist(), y[:POINTS].tolist(), strict=True):
        yield {**_at(cell), "x": one_x, "y": one_y, "what": what}


def _scatter(rows: Sequence[Json], x: str, y: str, *, log_x: bool = False) -> Any:
    kinds = [LOST, LATE] if any(row["what"] == LATE for row in rows) else [LOST]
    legend = alt.Legend(orient="top", title=None, labelLimit=300) if len(kinds) > 1 else None
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=12, opacity=0.6)
        .encode(
            x=alt.X("x:Q", title=x, axis=SPACED).scale(type="log" if log_x else "linear", nice=not log_x),
            y=alt.Y("y:Q", title=y, axis=SPACED).scale(type="log"),
            color=_colour(rows, _legend("circle")),
            shape=alt.Shape("what:N", legend=legend).scale(domain=kinds, range=["circle", "triangle-up"]),
        )
    )
    return _facet(points)


def _printed(found: Comparison) -> Iterator[Json]:
    """Yields the 90th and 99th percentiles of response times that tambuwal2018 prints, under the standard
    startup policy and under TSL, the policy that the paper proposes."""
    above = {"p90_rtts": 0.1, "p99_rtts": 0.01}
    for row in (one.row for one in found.rows):
        if row.measure in above and row.level in found.loads:
            name = "TSL" if row.startup == MEAN else row.startup
            yield {
                "level": f"{percent(row.level)} load",
                "x": row.low,
                "y": above[row.measure],
                "paper": name,
            }


def _above(cell: Cell, values: Array) -> Iterator[Json]:
    """Yields chart rows: about a hundred points of the complementary distribution function of `values`."""
    n, ordered = len(values), np.sort(values).tolist()
    step = max(1, n // 120)
    for i in sorted({*range(0, n, step), *range(max(0, n - 20), n)}):
        yield {**_at(cell), "x": ordered[i], "y": (n - i) / n}


def _ccdf(
    cells: Sequence[Cell],
    values: Callable[[Cell], Array],
    title: str,
    *,
    scale: Literal["log", "linear"] = "log",
    paper: Sequence[Json] = (),
) -> Any:
    """Returns a chart of the share of a cell's `values` above x, with the numbers that the paper prints."""
    rows = [row for cell in cells for row in _above(cell, values(cell))]
    known = _names(rows)
    dashes = [[4, 4] if name in DASHED else [1, 0] for name in known]
    lines = (
        alt.Chart()
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=alt.X("x:Q", title=title, axis=SPACED).scale(type=scale),
            y=alt.Y("y:Q", title="share above", axis=SPACED).scale(type="log"),
            color=_colour(rows, _legend()),
            strokeDash=alt.StrokeDash("e:N", legend=None, sort=known).scale(domain=known, range=dashes),
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


def _load_rows(found: Comparison, measure: str) -> Iterator[Json]:
    """Yields a chart row for each startup policy and load: our estimate of `measure` and, if tambuwal2018
    prints it, the paper's number."""
    rows = [one.row for one in found.rows if one.row.measure == measure and one.row.where in PRINTED]
    printed = {(row.level, row.startup): {"from": row.low, "to": row.high} for row in rows}
    for cell in found.levels:
        if ours := found.ours(measure, cell.level, cell.startup):
            low, high = (ours.value if math.isnan(end) else end for end in (ours.low, ours.high))
            paper = printed.get((cell.level, cell.startup), {})
            yield {**_at(cell), "y": ours.value, "low": low, "high": high, **paper}


def _by_load(rows: Sequence[Json], axis: str) -> Any:
    known = _names(rows)
    x = alt.X("e:N", title=None, sort=known, axis=alt.Axis(labelAngle=-50))
    base = alt.Chart().encode(x=x, color=_colour(rows, None))
    points = base.mark_point(filled=True, size=45).encode(y=alt.Y("y:Q", title=axis).scale(zero=False))
    layers = [base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q"), y2="high:Q"), points]
    if min(row["low"] for row in rows) < 0:
        zero = alt.Chart().mark_rule(color="#888", strokeDash=[4, 3])
        layers.insert(0, zero.encode(y=alt.YDatum(0)))
    if any("from" in row for row in rows):
        paper = alt.Chart().mark_bar(color="#bbb", stroke="#888", width=16)
        layers.insert(0, paper.encode(x=alt.X("e:N", sort=known), y=alt.Y("from:Q"), y2="to:Q"))
    return _facet(alt.layer(*layers, data=alt.InlineData(values=rows))).resolve_scale(y="independent")


def _second_rows(found: Comparison) -> Iterator[Json]:
    """Yields our loss share of each second and, as "peak", the largest that tambuwal2018 prints."""
    for cell in found.levels:
        if cell.startup in PAIR and cell.runs:
            for second, share in enumerate(cell.runs[min(cell.runs)].loss_shares.tolist()):
                yield {**_at(cell), "x": second, "y": 100 * share}
            for row in (one.row for one in found.rows if one.row.measure == "peak_loss_percent"):
                if (row.level, row.startup) == (cell.level, cell.startup):
                    yield {**_at(cell), "peak": row.low}


def _seconds(rows: Sequence[Json]) -> Any:
    colour = _colour(rows, _legend())
    x, y = alt.X("x:Q", title="s after the warm-up"), alt.Y("y:Q", title="packets lost, %")
    lines = alt.Chart().mark_line(strokeWidth=1, opacity=0.8).encode(x=x, y=y, color=colour)
    paper = alt.Chart().mark_rule(strokeDash=[5, 4]).encode(y="peak:Q", color=colour)
    chart = alt.layer(lines, paper, data=alt.InlineData(values=rows))
    return _facet(chart).resolve_scale(x="independent")


def _mix_rows(found: Comparison) -> Iterator[Json]:
    for share in found.mixed.cells:
        for kind in (MIXED, STANDARD):
            ours = estimate(functools.partial(mix_lost, share=share, kind=kind), found.mixed)
            if ours:
                row = {"level": f"mixed with {MIXED}", "e": kind, "x": 100 * share, "y": ours.value}
                yield row | {"low": ours.low, "high": ours.high}


def _mixes(rows: Sequence[Json]) -> Any:
    x = alt.X("x:Q", title="share of connections with TSL, %")
    base = alt.Chart().encode(x=x, color=_colour(rows, _legend()))
    lines = base.mark_line(point=True).encode(y=alt.Y("y:Q", title="RTTs").scale(zero=False))
    bars = base.mark_rule().encode(y="low:Q", y2="high:Q")
    return _facet(alt.layer(lines, bars, data=alt.InlineData(values=rows)))
