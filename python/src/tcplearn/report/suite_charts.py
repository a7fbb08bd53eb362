# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the pictures of the report of `tcplearn suite`. A series is a flow with enough samples."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from tcplearn.errors import printable
from tcplearn.output.rows import Record
from tcplearn.replay.results import Series
from tcplearn.report import charts, data
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


def _within(value: float) -> float:
    return min(max(value, RATIO_LOW), RATIO_HIGH)


def strip_rows(label: str, look: str, names: Iterable[str], values: Iterable[float]) -> Rows:
    """Return the marks of the chart's row `label`, one for each series: the ratios `values`, in the colour of
    the estimator `look`."""
    return [
        {"row": label, "e": look, "s": printable(name), "v": data.rounded(v), "x": _within(v)}
        for name, v in zip(names, values, strict=True)
    ]


def mean_row(label: str, look: str, row: Record, key: str) -> Rows:
    """Return the mark of the mean of the metric `key` in an estimator's result `row`, with its interval; []
    if it is unknown."""
    mean, low, high = row[key], row[f"{key}_low"], row[f"{key}_high"]
    if mean is None:
        return []
    a, b = (_within(mean if end is None else end) for end in (low, high))
    return [{"row": label, "e": look, "m": _within(mean), "a": a, "b": b, "v": data.rounded(mean)}]


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
    """Return a chart with a panel for each (name, marks, means) in `panels`. In each row of `order`, a tick
    shows the ratio of each series, and the mean with its interval is below the ticks. `band` is a range of
    ratios that is shaded."""
    every = [row for _, marks, means in panels for row in (*marks, *means)]
    seen = [row[key] for row in every for key in ("x", "a", "b") if key in row]
    low = max(RATIO_LOW, min([*seen, band[0] if band else 0.9]) / 1.06)
    high = min(RATIO_HIGH, max([*seen, 1.12, *(band or ())]) * 1.06)
    ticks = [t for t in _TICKS if low <= t <= high]
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    x = alt.X("x:Q", title=axis).scale(scale).axis(values=ticks, format="~g", labelOverlap="greedy")
    row = alt.Y("row:N", sort=list(order), title=None).scale(domain=list(order))
    colour = charts.colour(looks)
    tooltip = charts.tooltips({"row:N": "estimator", "s:N": "series", "v:Q": "ratio"})
    mean_tooltip = charts.tooltips({"row:N": "estimator", "v:Q": "geometric mean"})

    def panel(name: str, marks: Rows, means: Rows, *, first: bool) -> Any:
        y = row.axis(
            labels=first, ticks=False, domain=False, labelLimit=300, labelPadding=8, labelFontSize=12
        )
        inside = alt.Chart(alt.InlineData(marks)).transform_filter(f"!(datum.v > {high})")
        beyond = alt.Chart(alt.InlineData(marks)).transform_filter(f"datum.v > {high}")
        mean = alt.Chart(alt.InlineData(means)).transform_filter(f"datum.v <= {high}")
        few = len(marks) < 60 * max(1, len(order))
        layers = [
            _at_one().encode(x=x),
            inside.mark_tick(
                thickness=2,
                size=ROW_HEIGHT * 0.45,
                opacity=0.7 if few else 0.3,
                clip=True,
                yOffset=-LOWER / 2,
            ).encode(x=x, y=y, color=colour, tooltip=tooltip),
            beyond.mark_point(
                shape="triangle-right", filled=True, size=46, opacity=0.7, yOffset=-LOWER / 2
            ).encode(x=alt.datum(high, type="quantitative"), y=y, color=colour, tooltip=tooltip),
            mean.mark_rule(strokeWidth=2.4, color="#1f2329", clip=True, yOffset=LOWER).encode(
                x=alt.X("a:Q").scale(scale), x2="b:Q", y=y
            ),
            mean.mark_point(
                shape="diamond", filled=True, size=80, opacity=1, stroke="white", strokeWidth=1, yOffset=LOWER
            ).encode(x=alt.X("m:Q").scale(scale), y=y, color=alt.value("#1f2329"), tooltip=mean_tooltip),
        ]
        if band:
            shade = alt.Chart(alt.InlineData([{"x": band[0], "b": band[1]}]))
            layers.insert(0, shade.mark_rect(color="#eef1f4", clip=True).encode(x=x, x2="b:Q"))
        height = ROW_HEIGHT * max(1, len(order))
        titled = {"height": height, "title": charts.panel_title(name)}
        return alt.layer(*layers).properties(width=STRIP_WIDTH, **titled)

    chart = alt.hconcat(*(panel(*one, first=i == 0) for i, one in enumerate(panels)), spacing=18)
    return charts.finished(chart.properties(title=alt.Title(title, subtitle=[hint])))


def _at_one() -> Any:
    return alt.Chart(alt.InlineData([{"x": 1.0}])).mark_rule(color="#1f2329", strokeWidth=1.2)


def pareto(
    panels: Sequence[tuple[str, Rows, Rows]], looks: Mapping[str, Look], floor: float, subtitle: str
) -> Spec:
    """Return the chart of miss rate against excess wait (RTO - sample, at least 0), with a panel for each
    (name, points, curves). Points have e (estimator), x (excess wait divided by jacobson's) and y (miss rate
    in %); those of curves also `at` (the parameter's value)."""
    everything = [r for _, points, curves in panels for r in (*points, *curves)]
    xs, ys = [r["x"] for r in everything] or [1], [r["y"] for r in everything] or [1]
    x_domain = [min(xs) / 1.3, max(xs) * 1.3]
    y_domain = [max(floor, min(ys)) / 1.8, min(100.0, max(ys) * 1.8)]
    size = charts.SQUARE_WIDTH, charts.SQUARE_HEIGHT + 30
    x_scale, y_scale = (alt.Scale(type="log", domain=domain, nice=False) for domain in (x_domain, y_domain))
    x = alt.X("x:Q", title="excess wait, times jacobson's")
    x = x.scale(x_scale).axis(values=charts.ticks(x_domain), format="~g")
    places = alt.X("lx:Q").scale(x_scale), alt.Y("ly:Q").scale(y_scale)
    decades = [s * 10.0**k for k in range(-5, 3) for s in (1, 3) if s * 10.0**k < y_domain[1]]
    colour = charts.colour(looks)
    misses = {"miss:Q": "samples above the RTO, %", "x:Q": "excess wait, times jacobson's"}
    tooltip = charts.tooltips({"e:N": "estimator", **misses})
    curve_tooltip = charts.tooltips({"at:N": "parameter", "e:N": "estimator", **misses})

    def panel(name: str, points: Rows, curves: Rows, *, first: bool) -> Any:
        charts.add_places(points, "e", (x_domain, y_domain), size)
        y = (
            alt.Y("y:Q", title="samples above the RTO, %" if first else None)
            .scale(y_scale)
            .axis(
                values=[floor, *(d for d in decades if d > floor * 2)],
                labelExpr=f"datum.value < {floor * 1.5} ? 'none' : format(datum.value, '.6~g')",
                labels=first,
            )
        )
        curve, base = alt.Chart(alt.InlineData(curves)), alt.Chart(alt.InlineData(points))
        chart = alt.layer(
            curve.mark_line(strokeWidth=1.8, opacity=0.75).encode(x=x, y=y, color=colour, order="order:Q"),
            curve.mark_point(filled=True, size=18, opacity=0.9).encode(
                x=x, y=y, color=colour, tooltip=curve_tooltip
            ),
            curve.transform_filter("datum.named")
            .mark_text(align="center", dy=-9, fontSize=9.5)
            .encode(x=x, y=y, color=colour, text="at:N"),
            *charts.named_points(base, (x, y), places, looks, tooltip, "e:N", "#b0b6bd"),
        )
        return chart.properties(width=size[0], height=size[1], title=charts.panel_title(name))

    parts = [panel(*one, first=i == 0) for i, one in enumerate(panels)]
    title = alt.Title("Timers: how often too short, against how long they wait", subtitle=[subtitle])
    return charts.finished(alt.hconcat(*parts, spacing=16).properties(title=title))


def restarts(points: Rows, looks: Mapping[str, Look], subtitle: str) -> Spec:
    """Return the chart of prediction errors after estimators start anew. Each of `points` has e (estimator),
    n (samples since the start), x (error divided by the smaller of those of the estimators `jacobson` and
    `last`), and a and b (the ends of the interval of x)."""
    seen = {name: look for name, look in looks.items() if any(p["e"] == name for p in points)}
    lengths = sorted({p["n"] for p in points})
    base = alt.Chart(alt.InlineData(points))
    scale = alt.Scale(type="log", nice=False, padding=12, zero=False)
    x = alt.X("n:Q", title="samples after a fresh start").scale(type="log", nice=False, padding=30)
    x = x.axis(values=lengths, format="~g")
    y = alt.Y("x:Q", title="error, times the better of jacobson and last").scale(scale)
    y = y.axis(values=[t for t in _TICKS if t >= 0.1], format="~g")
    look = charts.encodings(seen, columns=3)
    tooltip = charts.tooltips({"e:N": "estimator", "n:Q": "samples", "x:Q": "ratio"})
    bars = base.mark_rule(strokeWidth=1, opacity=1)
    dots = base.mark_point(filled=True, size=45, opacity=1)
    chart = alt.layer(
        _at_one().encode(y=y),
        bars.encode(x=x, y=alt.Y("a:Q").scale(scale), y2="b:Q", color=look["color"]),
        base.mark_line(strokeWidth=1.8).encode(x=x, y=y, **look),
        dots.encode(x=x, y=y, color=look["color"], tooltip=tooltip),
    )
    title = alt.Title("Young connections: error after a fresh start", subtitle=[subtitle])
    return charts.finished(chart.properties(width=560, height=320, title=title))


def worst(series: Sequence[tuple[str, Series]], looks: Mapping[str, Look], title: str) -> Spec:
    """Return a chart with a panel for each (name, flow): RTT samples, and the predictions just before
    them."""
    parts = []
    for i, (name, one) in enumerate(series):
        columns = data.series_columns(one, WORST_POINTS)
        scale = charts.rtt_scale(*([v for v in columns[end] if v] for end in ("low", "high")))
        x = alt.X("t:Q", title="time, s").scale(domain=charts.span_of(columns), nice=False)
        y = alt.Y("low:Q", title="RTT, ms").scale(scale).axis(minExtent=44, format=".6~g")
        seen = {name: look for name, look in looks.items() if name in columns["prediction"]}
        rows = [{"t": r["t"], "e": r["e"], "p": r["p"]} for r in data.line_rows(columns)]
        band = alt.Chart(alt.InlineData(data.band_rows(columns)))
        lines = alt.Chart(alt.InlineData(rows)).mark_line(strokeWidth=1.3, clip=True)
        legend = charts.encodings(seen, columns=5 if i == 0 else 0)
        panel = alt.layer(
            band.mark_rule(color=SAMPLE, strokeWidth=3, strokeCap="round", clip=True).encode(
                x=x, y=y, y2="high:Q"
            ),
            lines.encode(x=x, y=alt.Y("p:Q").scale(scale), **legend),
        )
        titled = {"height": WORST_HEIGHT, "title": charts.panel_title(name)}
        parts.append(panel.properties(width=charts.WIDTH, **titled))
    heading = alt.Title(title, subtitle=["samples in grey, predictions in colour"])
    return charts.finished(alt.vconcat(*parts, spacing=10).properties(title=heading))


def floor_of(samples: int) -> float:
    """Return the height, in %, at which a miss rate of 0 is drawn: below the smallest rate that `samples`
    samples can show."""
    return 100 / max(samples, 1) / 3


def log_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))
