# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws figures 7 to 9 and 11 of the paper tambuwal2018 (mean response time, loss by load and over time,
throughput) from our runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from experiments.tambuwal2018.cells import STANDARD, Cell, level_of
from experiments.tambuwal2018.colours import COLOURS
from experiments.tambuwal2018.published import Comparison

Json = dict[str, Any]

#: The startups in figure 9 (loss over time): the standard, and IW 3 with ssthresh 16 after a lost SYN-ACK.
OVER_TIME = (STANDARD, "tsl/3-16")
BARS = "bars are 95 % intervals"
PAPER = "a grey line or band is the number or range that tambuwal2018 prints"
#: The file of a figure, its title, the title of its axis, the measure, and where the paper prints it.
BY_LOAD = (
    ("figure-07.svg", "Figure 7: mean response times after a lost SYN-ACK", "RTTs", "mean_rtts", ""),
    (
        "figure-07-gain.svg",
        "Figure 7: by how many RTTs the mean response time after a lost SYN-ACK is shorter than under the "
        "standard (IW 1, ssthresh 2)",
        "RTTs",
        "gain_rtts",
        "Figure 7",
    ),
    (
        "figure-08.svg",
        "Figure 8: share of packets lost at the bottleneck",
        "packets lost, %",
        "loss_percent",
        "Abstract",
    ),
    (
        "figure-08-change.svg",
        "Table 2: by how many per cent the bottleneck's loss share under each startup policy is above that "
        "under the standard (IW 1, ssthresh 2)",
        "over the standard's, %",
        "loss_change_percent",
        "Table 2",
    ),
    ("figure-11.svg", "Figure 11: mean throughput of the bottleneck", "Mbit/s", "throughput_mbps", ""),
    (
        "figure-11-change.svg",
        "Table 3: by how many per cent the bottleneck's throughput under each startup policy is below that "
        "under the standard (IW 1, ssthresh 2)",
        "below the standard's, %",
        "throughput_drop_percent",
        "Table 3",
    ),
)
#: The measures that are 0 for the standard startup policy, because they are differences from it.
OVER_STANDARD = ("gain_rtts", "loss_change_percent", "throughput_drop_percent")


def charts(found: Comparison) -> Iterator[tuple[str, str, Any]]:
    """Yields the file name, the title and the chart of each of tambuwal2018's figures 7 to 9 and 11."""
    for file, title, axis, measure, where in BY_LOAD:
        rows = list(_rows(found, measure, where))
        if rows:
            text = f"{title}; {BARS}" + (f"; {PAPER}" if any("from" in row for row in rows) else "")
            yield file, text, _by_load(rows, axis)
    over_time = list(_over_time(found.levels))
    if over_time:
        peaks = [
            {"level": level_of(cell), "e": one.row.startup, "y": one.row.low}
            for one in found.rows
            for cell in found.levels
            if one.row.measure == "peak_loss_percent"
            and (one.row.level, one.row.startup) == (cell.level, cell.startup)
        ]
        title = "Figure 9: loss share of each second of the first run or part; dashed: tambuwal2018's largest"
        yield "figure-09.svg", title, _seconds(over_time, peaks)


def _rows(found: Comparison, measure: str, where: str) -> Iterator[Json]:
    """Yields a chart row for each startup policy and load: our estimate of `measure` and, if tambuwal2018
    prints the measure in `where` (for example "Table 2"), the paper's number."""
    printed = {
        (one.row.level, one.row.startup): one.row
        for one in found.rows
        if (one.row.where, one.row.measure) == (where, measure)
    }
    for cell in found.levels:
        if cell.startup == STANDARD and measure in OVER_STANDARD:
            continue
        ours = found.ours(measure, cell.level, cell.startup)
        if not ours:
            continue
        low, high = (ours.value if math.isnan(end) else end for end in (ours.low, ours.high))
        row = {"level": level_of(cell), "e": cell.startup, "y": ours.value, "low": low, "high": high}
        theirs = printed.get((cell.level, cell.startup))
        yield row if theirs is None else {**row, "from": theirs.low, "to": theirs.high}


def _by_load(given: Iterable[Json], axis: str) -> Any:
    import altair as alt

    rows = list(given)
    known = [name for name in COLOURS if name in {row["e"] for row in rows}]
    base = alt.Chart().encode(
        x=alt.X("e:N", title=None, sort=known, axis=alt.Axis(labelAngle=-50)),
        color=alt.Color("e:N", legend=None).scale(domain=known, range=[COLOURS[n] for n in known]),
    )
    points = base.mark_point(filled=True, size=45).encode(y=alt.Y("y:Q", title=axis).scale(zero=False))
    bars = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q"), y2="high:Q")
    zero = alt.Chart().mark_rule(color="#888", strokeDash=[4, 3]).encode(y=alt.YDatum(0))
    layers = [zero, bars, points] if min(row["low"] for row in rows) < 0 else [bars, points]
    if any("from" in row for row in rows):
        paper = alt.Chart().mark_bar(color="#bbb", stroke="#888", width=16)
        layers.insert(0, paper.encode(x=alt.X("e:N", sort=known), y=alt.Y("from:Q"), y2="to:Q"))
    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    return (
        alt.layer(*layers, data=alt.InlineData(values=rows))
        .properties(width=230, height=170)
        .facet(column=alt.Column("level:N", header=header))
        .resolve_scale(y="independent")
    )


def _over_time(cells: Sequence[Cell]) -> Iterator[Json]:
    for cell in cells:
        if cell.startup not in OVER_TIME or not cell.runs:
            continue
        run = cell.runs[min(cell.runs)]
        for second, share in enumerate(run.seconds["loss_share"]):
            yield {"level": level_of(cell), "e": cell.startup, "x": second, "y": 100 * share}


def _seconds(rows: Sequence[Json], peaks: Sequence[Json]) -> Any:
    import altair as alt

    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    known = [name for name in OVER_TIME if name in {row["e"] for row in rows}]
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=300)
    colour = alt.Color("e:N", legend=legend).scale(domain=known, range=[COLOURS[n] for n in known])
    lines = (
        alt.Chart()
        .mark_line(strokeWidth=1, opacity=0.8)
        .encode(
            x=alt.X("x:Q", title="s after the warm-up"), y=alt.Y("y:Q", title="packets lost, %"), color=colour
        )
    )
    paper = alt.Chart().mark_rule(strokeDash=[5, 4]).encode(y="peak:Q", color=colour)
    every = [*rows, *({"level": p["level"], "e": p["e"], "peak": p["y"]} for p in peaks)]
    return (
        alt.layer(lines, paper, data=alt.InlineData(values=every))
        .properties(width=230, height=170)
        .facet(column=alt.Column("level:N", header=header))
        .resolve_scale(x="independent")
    )
