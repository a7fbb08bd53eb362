# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws tambuwal2018's figures 7 to 9 and 11 (mean response time, loss by load and over time, throughput)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from experiments.tambuwal2018.cells import (
    CONFIDENCE,
    STANDARD,
    Cell,
    Run,
    base_of,
    level_of,
    mean_rtts,
    relative,
    shared,
)
from experiments.tambuwal2018.colours import COLOURS
from tcplearn.simulate.interval import mean_interval

Json = dict[str, Any]

#: The startups in figure 9 (loss over time): the standard, and IW 3 with ssthresh 16 after a lost SYN-ACK.
OVER_TIME = (STANDARD, "tsl/3-16")


def charts(cells: Sequence[Cell]) -> Iterator[tuple[str, str, Any]]:
    """Yields the file name, the title and the chart of each figure."""
    for file, title, axis, value in (
        ("figure-07.svg", "Figure 7: average response times", "RTTs", mean_rtts),
        ("figure-08.svg", "Figure 8: average loss share of the link", "packets lost, %", _loss),
        ("figure-11.svg", "Figure 11: average throughput of the link", "Mbit/s", _throughput),
    ):
        bars = "bars are intervals of 95 % over the seeds"
        yield file, f"{title}; {bars}", _by_load(_means(cells, value), axis)
        changes = list(_changes(cells, value))
        if changes:
            over = f"{title}: change over the standard's in pairs of runs of one seed; {bars}"
            yield file.replace(".svg", "-change.svg"), over, _by_load(changes, "over the standard's, %")
    over_time = list(_over_time(cells))
    if over_time:
        yield "figure-09.svg", "Figure 9: loss share of each second, of the first seed", _seconds(over_time)


def _loss(run: Run) -> float:
    return 100 * run.metrics["link_loss_share"]


def _throughput(run: Run) -> float:
    return run.metrics["link_throughput_mbps"]


def _means(cells: Sequence[Cell], value: Callable[[Run], float]) -> Iterator[Json]:
    for cell in cells:
        mean, half = mean_interval([value(run) for run in cell.runs.values()], CONFIDENCE)
        yield _row(cell, mean, max(mean - (half or 0), 0), mean + (half or 0))


def _row(cell: Cell, mean: float, low: float, high: float) -> Json:
    return {"level": level_of(cell), "e": cell.startup, "y": mean, "low": low, "high": high}


def _changes(cells: Sequence[Cell], value: Callable[[Run], float]) -> Iterator[Json]:
    """Yields the mean change of `value` from the standard in %, in pairs of runs with the same seed."""
    for cell in cells:
        base = base_of(cell, cells)
        if base is None or base is cell or any(value(base.runs[s]) <= 0 for s in shared(cell, base)):
            continue
        change = relative(cell, base, value, CONFIDENCE)
        if change is not None and change[1] is not None:
            yield _row(cell, change[0], change[0] - change[1], change[0] + change[1])


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


def _seconds(rows: Sequence[Json]) -> Any:
    import altair as alt

    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    known = [name for name in OVER_TIME if name in {row["e"] for row in rows}]
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=300)
    return (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_line(strokeWidth=1, opacity=0.8)
        .encode(
            x=alt.X("x:Q", title="s after the warm-up"),
            y=alt.Y("y:Q", title="packets lost, %"),
            color=alt.Color("e:N", legend=legend).scale(domain=known, range=[COLOURS[n] for n in known]),
        )
        .properties(width=230, height=170)
        .facet(column=alt.Column("level:N", header=header))
        .resolve_scale(x="independent")
    )
