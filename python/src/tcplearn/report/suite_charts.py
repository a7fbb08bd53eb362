# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the pictures of the report of `tcplearn suite`. A series is a flow with enough samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from tcplearn.replay.results import Series
from tcplearn.report import charts, data, labels
from tcplearn.report.charts import Spec
from tcplearn.report.palette import SAMPLE, Look

STRIP_WIDTH, ROW_HEIGHT = 390, 30
#: Pixels by which the mean is drawn below the middle of its row, so that it hides no series.
LOWER = 8
WORST_HEIGHT, WORST_POINTS = 150, 700

#: Ratios beyond these limits are drawn at the edge.
RATIO_LOW, RATIO_HIGH = 0.4, 5.0
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3, 5, 10, 20, 50)

#: Timers whose excess wait is over this many times jacobson's are not drawn but named below the picture.
WAIT_MOST = 60.0

Rows = list[dict[str, Any]]


def _colour(looks: Mapping[str, Look], field: str = "e:N") -> alt.Color:
    names = list(looks)
    return alt.Color(field, legend=None).scale(domain=names, range=[looks[n].colour for n in names])


def strip_rows(label: str, look: str, names: Sequence[str], values: Sequence[float]) -> Rows:
    """Return marks for the row `label`, one for each series, in the colour of the estimator `look`."""
    return [
        {"row": label, "e": look, "s": name, "v": data.rounded(v), "x": min(max(v, RATIO_LOW), RATIO_HIGH)}
        for name, v in zip(names, values, strict=True)
    ]


def mean_row(label: str, look: str, mean: float | None, low: float | None, high: float | None) -> Rows:
    if mean is None:
        return []
    ends = (low if low is not None else mean, high if high is not None else mean)
    a, m, b = (min(max(v, RATIO_LOW), RATIO_HIGH) for v in (ends[0], mean, ends[1]))
    return [{"row": label, "e": look, "m": m, "a": a, "b": b, "v": data.rounded(mean)}]


def strips(
    panels: Sequence[tuple[str, Rows, Rows]],
    order: Sequence[str],
    looks: Mapping[str, Look],
    *,
    title: str,
    hint: str,
    axis: str,
    band: tuple[float, float] | None = None,
) -> Spec:
    """Return a chart with a panel for each of (name, marks, means). Each series has a tick; below them is
    the mean with its interval. `band` is a shaded range."""
    seen = [r["x"] for _, marks, _ in panels for r in marks] + [r["a"] for _, _, ms in panels for r in ms]
    low = max(RATIO_LOW, min([*seen, 0.9 if band is None else band[0]]) / 1.06)
    high = min(
        RATIO_HIGH, max([*seen, *(r["b"] for _, _, ms in panels for r in ms), 1.12, *(band or ())]) * 1.06
    )
    charts_ = [
        _strip(name, marks, means, order, looks, (low, high), axis, band, first=i == 0)
        for i, (name, marks, means) in enumerate(panels)
    ]
    chart = alt.hconcat(*charts_, spacing=18).properties(title=alt.Title(title, subtitle=[hint]))
    return charts.finished(chart)


def _strip(
    name: str,
    marks: Rows,
    means: Rows,
    order: Sequence[str],
    looks: Mapping[str, Look],
    domain: tuple[float, float],
    axis: str,
    band: tuple[float, float] | None,
    *,
    first: bool,
) -> Any:
    ticks = [t for t in _TICKS if domain[0] <= t <= domain[1]]
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    x = alt.X("x:Q", title=axis).scale(scale).axis(values=ticks, format="~g", labelOverlap="greedy")
    y = alt.Y("row:N", sort=list(order), title=None).scale(domain=list(order))
    y = y.axis(labels=first, ticks=False, domain=False, labelLimit=300, labelPadding=8, labelFontSize=12)
    edge = f"datum.v > {domain[1]}"
    inside = alt.Chart(alt.InlineData(marks)).transform_filter(f"!({edge})")
    beyond = alt.Chart(alt.InlineData(marks)).transform_filter(edge)
    tooltip = [
        alt.Tooltip("row:N", title="estimator"),
        alt.Tooltip("s:N", title="series"),
        alt.Tooltip("v:Q", title="ratio"),
    ]
    few = len(marks) < 60 * max(1, len(order))
    colour = _colour(looks)
    line = alt.Chart(alt.InlineData([{"x": 1.0}])).mark_rule(color="#1f2329", strokeWidth=1.2)
    layers: list[Any] = []
    if band:
        shade = alt.Chart(alt.InlineData([{"x": band[0], "b": band[1]}])).mark_rect(
            color="#eef1f4", clip=True
        )
        layers.append(shade.encode(x=x, x2="b:Q"))
    layers += [
        line.encode(x=x),
        inside.mark_tick(
            thickness=2, size=ROW_HEIGHT * 0.45, opacity=0.7 if few else 0.3, clip=True, yOffset=-LOWER / 2
        ).encode(x=x, y=y, color=colour, tooltip=tooltip),
        beyond.mark_point(
            shape="triangle-right", filled=True, size=46, opacity=0.7, yOffset=-LOWER / 2
        ).encode(x=alt.datum(domain[1], type="quantitative"), y=y, color=colour, tooltip=tooltip),
    ]
    mean = alt.Chart(alt.InlineData(means)).transform_filter(f"datum.v <= {domain[1]}")
    layers += [
        mean.mark_rule(strokeWidth=2.4, color="#1f2329", clip=True, yOffset=LOWER).encode(
            x=alt.X("a:Q").scale(scale), x2="b:Q", y=y
        ),
        mean.mark_point(
            shape="diamond", filled=True, size=80, opacity=1, stroke="white", strokeWidth=1, yOffset=LOWER
        ).encode(
            x=alt.X("m:Q").scale(scale),
            y=y,
            color=alt.value("#1f2329"),
            tooltip=[alt.Tooltip("row:N", title="estimator"), alt.Tooltip("v:Q", title="geometric mean")],
        ),
    ]
    return alt.layer(*layers).properties(
        width=STRIP_WIDTH,
        height=ROW_HEIGHT * max(1, len(order)),
        title=alt.Title(name, fontSize=12, fontWeight="normal", color="#3b4048"),
    )


def pareto(
    panels: Sequence[tuple[str, Rows, Rows]], looks: Mapping[str, Look], floor: float, subtitle: str
) -> Spec:
    """Return the chart of miss rate against excess wait, with a panel for each of (name, points, curves).
    Points have e (estimator), x (excess wait divided by jacobson's) and y (miss rate in %); those of
    curves also `at` (the parameter's value)."""
    everything = [r for _, points, curves in panels for r in (*points, *curves)]
    xs, ys = [r["x"] for r in everything] or [1], [r["y"] for r in everything] or [1]
    domain = [min(xs) / 1.3, max(xs) * 1.3]
    heights = [max(floor, min(ys)) / 1.8, min(100.0, max(ys) * 1.8)]
    parts = [
        _pareto(n, p, c, looks, domain, heights, floor, first=i == 0) for i, (n, p, c) in enumerate(panels)
    ]
    chart = alt.hconcat(*parts, spacing=16).properties(
        title=alt.Title("Timers: how often too short, against how long they wait", subtitle=[subtitle])
    )
    return charts.finished(chart)


def _pareto(
    name: str,
    points: Rows,
    curves: Rows,
    looks: Mapping[str, Look],
    domain: list[float],
    heights: list[float],
    floor: float,
    *,
    first: bool,
) -> Any:
    width, height = charts.SQUARE_WIDTH, charts.SQUARE_HEIGHT + 30
    wide, high = charts.LogAxis(domain, width), charts.LogAxis(heights, -height)
    spots = [(wide.pixel(p["x"]), high.pixel(p["y"])) for p in points]
    for point, label in zip(
        points, labels.place(spots, [p["e"] for p in points], width, height), strict=True
    ):
        point["lx"], point["ly"] = wide.value(label.x), high.value(label.y)
        point["end"], point["far"] = wide.value(label.end), label.far
    x_scale = alt.Scale(type="log", domain=domain, nice=False)
    y_scale = alt.Scale(type="log", domain=heights, nice=False)
    x = alt.X("x:Q", title="excess wait, times jacobson's").scale(x_scale)
    x = x.axis(values=charts.ticks(domain), format="~g")
    decades = [s * 10.0**k for k in range(-5, 3) for s in (1, 3) if s * 10.0**k < heights[1]]
    y = alt.Y("y:Q", title="samples above the RTO, %" if first else None).scale(y_scale)
    y = y.axis(
        values=[floor, *(d for d in decades if d > floor * 2)],
        labelExpr=f"datum.value < {floor * 1.5} ? 'none' : format(datum.value, '.6~g')",
        labels=first,
    )
    colour = _colour(looks)
    shape = alt.Shape("e:N", legend=None).scale(
        domain=list(looks), range=[look.shape for look in looks.values()]
    )
    curve, base = alt.Chart(alt.InlineData(curves)), alt.Chart(alt.InlineData(points))
    tooltip = [
        alt.Tooltip("e:N", title="estimator"),
        alt.Tooltip("miss:Q", title="samples above the RTO, %"),
        alt.Tooltip("x:Q", title="excess wait, times jacobson's"),
    ]
    halo = {"stroke": "white", "strokeWidth": 3.5, "strokeOpacity": 0.85}
    words = {"x": alt.X("lx:Q").scale(x_scale), "y": alt.Y("ly:Q").scale(y_scale), "text": "e:N"}
    layers = [
        curve.mark_line(strokeWidth=1.8, opacity=0.75).encode(x=x, y=y, color=colour, order="order:Q"),
        curve.mark_point(filled=True, size=18, opacity=0.9).encode(
            x=x, y=y, color=colour, tooltip=[alt.Tooltip("at:N", title="parameter"), *tooltip]
        ),
        curve.transform_filter("datum.named")
        .mark_text(align="center", dy=-9, fontSize=9.5)
        .encode(x=x, y=y, color=colour, text="at:N"),
        base.transform_filter("datum.far")
        .mark_rule(color="#b0b6bd", strokeWidth=0.8)
        .encode(x=x, y=y, x2="end:Q", y2="ly:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tooltip
        ),
        *(
            base.mark_text(align="left", baseline="middle", fontSize=11, **style).encode(**words)
            for style in (halo, {"color": "#1f2329"})
        ),
    ]
    return alt.layer(*layers).properties(
        width=width, height=height, title=alt.Title(name, fontSize=12, fontWeight="normal", color="#3b4048")
    )


def restarts(points: Rows, looks: Mapping[str, Look], subtitle: str) -> Spec:
    """Return the chart of prediction errors after estimators start anew. Points have e (estimator), n
    (number of first samples), x (error ratio), and a and b (its interval)."""
    seen = {name: look for name, look in looks.items() if any(p["e"] == name for p in points)}
    lengths = sorted({p["n"] for p in points})
    base = alt.Chart(alt.InlineData(points))
    scale = alt.Scale(type="log", nice=False, padding=12, zero=False)
    x = alt.X("n:Q", title="samples after a fresh start").scale(type="log", nice=False, padding=30)
    x = x.axis(values=lengths, format="~g")
    y = alt.Y("x:Q", title="error, times the better of jacobson and last").scale(scale)
    y = y.axis(values=[t for t in _TICKS if t >= 0.1], format="~g")
    chart = alt.layer(
        alt.Chart(alt.InlineData([{"x": 1.0}])).mark_rule(color="#1f2329", strokeWidth=1.2).encode(y=y),
        base.mark_rule(strokeWidth=1, opacity=1).encode(
            x=x, y=alt.Y("a:Q").scale(scale), y2="b:Q", color=charts.encodings(seen, columns=3)["color"]
        ),
        base.mark_line(strokeWidth=1.8).encode(x=x, y=y, **charts.encodings(seen, columns=3)),
        base.mark_point(filled=True, size=45, opacity=1).encode(
            x=x,
            y=y,
            color=charts.encodings(seen, columns=3)["color"],
            tooltip=[
                alt.Tooltip("e:N", title="estimator"),
                alt.Tooltip("n:Q", title="samples"),
                alt.Tooltip("x:Q", title="ratio"),
            ],
        ),
    )
    return charts.finished(
        chart.properties(
            width=560,
            height=320,
            title=alt.Title("Young connections: error after a fresh start", subtitle=[subtitle]),
        )
    )


def worst(series: Sequence[tuple[str, Series]], looks: Mapping[str, Look], title: str) -> Spec:
    """Return a chart with a panel for each of (name, series): samples, and predictions just before them."""
    parts = []
    for i, (name, one) in enumerate(series):
        columns = data.series_columns(one, WORST_POINTS)
        lows = [v for v in columns["low"] if v] or [1]
        highs = [v for v in columns["high"] if v] or [1]
        wide = max(highs) > charts.LOG_FROM * min(lows)
        scale = alt.Scale(type="log", nice=False, padding=6) if wide else alt.Scale(zero=False)
        span = [columns["t"][0], columns["t"][-1]] if columns["t"] else [0, 1]
        x = alt.X("t:Q", title="time, s").scale(domain=span, nice=False)
        seen = {name: look for name, look in looks.items() if name in columns["prediction"]}
        y = alt.Y("low:Q", title="RTT, ms").scale(scale).axis(minExtent=44, format=".6~g")
        band = alt.Chart(alt.InlineData(data.band_rows(columns))).mark_rule(
            color=SAMPLE, strokeWidth=3, strokeCap="round", clip=True
        )
        rows = [{"t": r["t"], "e": r["e"], "p": r["p"]} for r in data.line_rows(columns)]
        lines = alt.Chart(alt.InlineData(rows)).mark_line(strokeWidth=1.3, clip=True)
        parts.append(
            alt.layer(
                band.encode(x=x, y=y, y2="high:Q"),
                lines.encode(
                    x=x,
                    y=alt.Y("p:Q").scale(scale),
                    **charts.encodings(seen, columns=5 if i == 0 else 0),
                ),
            ).properties(
                width=charts.WIDTH,
                height=WORST_HEIGHT,
                title=alt.Title(name, fontSize=12, fontWeight="normal", color="#3b4048"),
            )
        )
    chart = alt.vconcat(*parts, spacing=10)
    return charts.finished(
        chart.properties(title=alt.Title(title, subtitle=["samples in grey, predictions in colour"]))
    )


def floor_of(samples: int) -> float:
    """Return where a miss rate of 0 is drawn, in %: below the smallest that `samples` samples can show."""
    return 100 / max(samples, 1) / 3


def log_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))
