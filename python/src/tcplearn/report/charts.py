# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build a replay's pictures as Vega-Lite specifications. Most of these contain only the names of their data
sets, and the caller adds the data."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from tcplearn.replay import verdict
from tcplearn.replay.row import Row
from tcplearn.report import data, labels
from tcplearn.report.palette import SAMPLE, Look

Spec = dict[str, Any]

WIDTH, RTT_HEIGHT, RTO_HEIGHT, OVERVIEW_HEIGHT = 900, 270, 230, 44
SQUARE_WIDTH, SQUARE_HEIGHT = 420, 340
LABEL_LIMIT = 260
#: The width of a plot on a phone, in pixels. Names beside points are placed for this width too.
NARROW_WIDTH = 290

#: If the largest RTT is over this many times the smallest, the axis of RTTs is logarithmic, else linear.
LOG_FROM = 20

#: Lines beyond these multiples of the samples are drawn at the edge, so that one bad estimator does not
#: flatten the others: NEAR for predictions (the axis may be linear), FAR for RTOs (the axis is logarithmic).
NEAR, FAR = 2.0, 300.0
#: A timer whose mean RTO is more than this many times the timers' median is drawn at this limit, with an
#: arrow.
WAIT_SHOWN = 30

#: A name of at least this many characters has its own line in the legend.
LONG_NAME = 36

_HINT = "click a name to show or hide it"

_CONFIG: Spec = {
    "font": "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif",
    "background": "white",
    "view": {"stroke": None},
    "axis": {
        "gridColor": "#e9ebee",
        "domainColor": "#8a9099",
        "tickColor": "#8a9099",
        "labelColor": "#3b4048",
        "titleColor": "#3b4048",
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 12,
    },
    "legend": {"labelFontSize": 12, "labelLimit": LABEL_LIMIT, "symbolSize": 260, "symbolStrokeWidth": 2.5},
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "subtitleFontSize": 12,
        "subtitleColor": "#5a616b",
        "offset": 8,
    },
}


def finished(chart: Any) -> Spec:
    # only the tests validate, because it takes as long as everything else
    spec: Spec = chart.to_dict(validate=False)
    spec["config"] = _CONFIG
    return spec


def encodings(looks: Mapping[str, Look], *, columns: int, hint: str | None = None) -> dict[str, Any]:
    """Return the Vega-Lite encodings of each estimator's colour and dash pattern. The legend has `columns`
    columns (0: no legend) and the title `hint`."""
    legend = alt.Legend(
        title=hint,
        titleFontWeight="normal",
        titleColor="#5a616b",
        orient="top",
        columns=columns,
        labelFontSize=12 if columns > 3 else 11,
        labelLimit=SQUARE_WIDTH if columns == 1 else LABEL_LIMIT,
        symbolType="stroke",
    )
    shown = legend if columns else None
    dashes = [look.dash for look in looks.values()]
    return {
        "color": colour(looks, shown),
        "strokeDash": alt.StrokeDash("e:N", legend=shown).scale(domain=list(looks), range=dashes),
    }


def colour(looks: Mapping[str, Look], legend: alt.Legend | None = None) -> alt.Color:
    hues = [look.colour for look in looks.values()]
    return alt.Color("e:N", legend=legend).scale(domain=list(looks), range=hues)


def _pick(chosen: Sequence[str]) -> alt.Parameter:
    """Return the selection by which clicks in the legend show or hide lines; at first those in `chosen`."""
    return alt.selection_point(
        name="pick",
        fields=["e"],
        bind="legend",
        toggle="true",
        value=[{"e": name} for name in chosen],
        empty=False,
    )


def over_time(
    columns: Mapping[str, Any],
    looks: Mapping[str, Look],
    chosen: Sequence[str],
    *,
    still: bool,
    title: str = "",
) -> Spec:
    """Return the chart of RTTs, predictions and RTOs over time. It reads the data sets `band` and `lines`
    (data.band_rows, data.line_rows). If `still`, it has no controls and shows only the estimators in
    `chosen`."""
    zoom = alt.selection_interval(name="zoom", encodings=["x"])
    pick = _pick(chosen)
    seen = {name: look for name, look in looks.items() if name in chosen} if still else looks
    lows, highs = ([v for v in columns[end] if v] for end in ("low", "high"))
    near, far = data.reach(lows, highs, NEAR), data.reach(lows, highs, FAR)
    span = span_of(columns)
    x = alt.X("t:Q", title="time, s").scale(domain=span if still else zoom, nice=False)

    def panel(what: str, field: str, scale: alt.Scale, reach: data.Reach, **properties: Any) -> Any:
        """Return a panel with the RTT samples and each estimator's line of `field`: p (predictions) or r
        (RTOs). Values outside `reach` are drawn at its ends. Only the panel "RTT" has a legend."""

        def y(field: str) -> alt.Y:
            return alt.Y(field, title=f"{what}, ms").scale(scale).axis(minExtent=44, format=".6~g")

        band = alt.Chart(alt.NamedData("band")).encode(x=x, y=y("low:Q"), y2="high:Q")
        band = band.mark_rule(color=SAMPLE, strokeWidth=3.5, strokeCap="round", clip=True)
        within = f"isValid(datum.{field}) ? clamp(datum.{field}, {reach[0]}, {reach[1]}) : null"
        legend = encodings(seen, columns=5 if what == "RTT" else 0, hint=None if still else _HINT)
        lines = alt.Chart(alt.NamedData("lines")).mark_line(clip=True, strokeWidth=1.6)
        lines = lines.transform_calculate(shown=within).encode(x=x, y=y("shown:Q"), **legend)
        if still:
            lines = lines.transform_filter(alt.FieldOneOfPredicate(field="e", oneOf=list(chosen)))
        else:
            band = band.transform_filter(zoom)
            lines = lines.transform_filter(pick).transform_filter(zoom)
            lines = lines.add_params(pick) if what == "RTT" else lines
        return alt.layer(band, lines).properties(width=WIDTH, **properties)

    scale = rtt_scale(lows, highs)
    rtt_title = "RTT: each sample (grey) and what was predicted just before it"
    rto_title = "RTO: the closer above the grey samples, the better; a sample above it outlasted it"
    log = alt.Scale(type="log", nice=False, padding=6)
    parts = [
        panel(
            "RTT", "p", scale, near, height=RTT_HEIGHT, title=_marked(rtt_title, columns["prediction"], near)
        ),
        panel("RTO", "r", log, far, height=RTO_HEIGHT, title=_marked(rto_title, columns["rto"], far)),
    ]
    if not still:
        drag = alt.X("t:Q", title="drag here to choose a span of time; double click for all of it")
        overview = (
            alt.Chart(alt.NamedData("band"))
            .mark_rule(color="#8a9099", strokeWidth=1.5, strokeCap="round")
            .encode(
                x=drag.scale(domain=span, nice=False),
                y=alt.Y("low:Q", title=None, axis=None).scale(scale),
                y2="high:Q",
            )
            .properties(width=WIDTH, height=OVERVIEW_HEIGHT)
            .add_params(zoom)
        )
        parts.append(overview)
    chart = alt.vconcat(*parts, spacing=14)
    return finished(chart.properties(title=alt.Title(title)) if title else chart)


def span_of(columns: Mapping[str, Any]) -> list[float]:
    return [columns["t"][0], columns["t"][-1]] if columns["t"] else [0, 1]


def rtt_scale(lows: Sequence[float], highs: Sequence[float]) -> alt.Scale:
    """Return the scale of an axis of RTTs: logarithmic if they differ by more than a factor of `LOG_FROM`."""
    if lows and max(highs) > LOG_FROM * min(lows):
        return alt.Scale(type="log", nice=False, padding=6)
    return alt.Scale(zero=False)


def _marked(title: str, lines: Mapping[str, Sequence[float | None]], reach: data.Reach) -> str:
    wild = any(v is not None and not reach[0] <= v <= reach[1] for values in lines.values() for v in values)
    return f"{title}; along the edge: beyond it" if wild else title


def errors(
    columns: Mapping[str, data.Columns],
    looks: Mapping[str, Look],
    chosen: Sequence[str],
    *,
    still: bool,
    title: str = "",
) -> Spec:
    """Return the chart of the distribution of prediction errors. It reads the data set `cdf`
    (data.cdf_rows)."""
    pick = _pick(chosen)
    xs = [x for c in columns.values() for x, y in zip(c["x"], c["y"], strict=True) if x and y >= 0.02]
    domain = [min(xs, default=data.ERROR_FLOOR_MS), max([x * 1.1 for x in xs], default=1)]
    seen = {name: look for name, look in looks.items() if name in columns}
    pointed: Any = alt.FieldOneOfPredicate(field="e", oneOf=list(chosen)) if still else pick
    chart = (
        alt.Chart(alt.NamedData("cdf"))
        .mark_line(clip=True)
        .encode(
            x=alt.X("x:Q", title="|prediction - sample|, ms")
            .scale(type="log", domain=domain, nice=False)
            .axis(format=".6~g", values=ticks(domain)),
            y=alt.Y("y:Q", title="share of samples").scale(domain=[0, 1]).axis(format="%"),
            opacity=alt.value(1) if still else alt.when(pointed).then(alt.value(1)).otherwise(alt.value(0.5)),
            strokeWidth=alt.when(pointed).then(alt.value(2.4)).otherwise(alt.value(1.1)),
            **encodings(
                seen,
                columns=3 if not still else 2 if max(map(len, seen), default=0) < LONG_NAME else 1,
                hint=None if still else _HINT,
            ),
        )
        .properties(
            width=SQUARE_WIDTH,
            height=SQUARE_HEIGHT,
            title=heading("Prediction error", "the further left and up, the better", title),
        )
    )
    return finished(chart if still else chart.add_params(pick))


def heading(what: str, hint: str, title: str = "") -> alt.Title:
    return alt.Title(what, subtitle=[hint, title] if title else [hint])


def timer(
    rows: Sequence[Row], looks: Mapping[str, Look], *, title: str = "", width: int = SQUARE_WIDTH
) -> Spec:
    """Return the chart of spurious timeouts against mean RTO, both of which should be small."""
    points = data.within(data.timer_rows(rows), WAIT_SHOWN)
    most = verdict.allowed(rows)
    xs = [p["x"] for p in points] or [1]
    x_domain = [min(xs) / 1.25, max(xs) * 1.25]
    y_domain = [data.NEVER / 1.8, max(10, most, *(p["y"] for p in points)) * 2]
    add_places(points, "name", (x_domain, y_domain), (width, SQUARE_HEIGHT))
    counts = [v for v in ticks([1, y_domain[1]]) if v == int(v)]
    log_x, log_y = (dict[str, Any](type="log", domain=d, nice=False) for d in (x_domain, y_domain))
    x = alt.X("x:Q", title="mean RTO: time until the timer alone notices a loss, ms").scale(**log_x)
    x = x.axis(format=".6~g", values=ticks(x_domain))
    y = alt.Y("y:Q", title="spurious timeouts").scale(**log_y)
    y = y.axis(
        values=[data.NEVER, *counts],
        labelExpr="datum.value < 1 ? 'none' : format(datum.value, ',.6~g')",
    )
    places = alt.X("lx:Q").scale(**log_x), alt.Y("ly:Q").scale(**log_y)
    tooltip = tooltips(
        {"e:N": "estimator", "fires:Q": "spurious timeouts after a probe", "wait:Q": "mean RTO, ms"}
    )
    base = alt.Chart(alt.NamedData("timer"))
    shade = alt.Color("shade:N", scale=None, legend=None)
    chart = alt.layer(
        alt.Chart(alt.NamedData("shades"))
        .mark_rect()
        .encode(y=alt.Y("low:Q").scale(alt.Scale(**log_y)), y2="high:Q", color=shade),
        alt.Chart(alt.NamedData("frontier"))
        .mark_line(color="#b0b6bd", strokeDash=[3, 3], interpolate="step-after", strokeWidth=1)
        .encode(x=x, y=y),
        *named_points(
            base, (x, y), places, looks, tooltip, "name:N", "#8a9099", stroke="white", strokeWidth=0.8
        ),
    )
    hint = "lower left is better; in the orange band a timer has too many spurious timeouts"
    size = {"width": width, "height": SQUARE_HEIGHT}
    spec = finished(chart.properties(**size, title=heading("Retransmission timer", hint, title)))
    spec["datasets"] = {
        "timer": points,
        "frontier": data.frontier(points),
        "shades": [
            {"low": y_domain[0], "high": 1 / 1.8, "shade": "#f1f3f5"},
            {"low": math.sqrt(most * (most + 1)), "high": y_domain[1], "shade": "#fff3e6"},
        ],
    }
    return spec


#: The ranges of a chart's x axis and y axis.
Domains = tuple[list[float], list[float]]


def add_places(points: list[dict[str, Any]], name: str, domains: Domains, size: tuple[int, int]) -> None:
    """Add to each of `points` the position (lx, ly) of the text in its field `name`. The axes are
    logarithmic; `size` has their lengths in pixels."""
    x, y = LogAxis(domains[0], size[0]), LogAxis(domains[1], -size[1])
    spots = [(x.pixel(p["x"]), y.pixel(p["y"])) for p in points]
    for point, label in zip(points, labels.place(spots, [p[name] for p in points], *size), strict=True):
        point["lx"], point["ly"] = x.value(label.x), y.value(label.y)
        point["end"], point["far"] = x.value(label.end), label.far


def named_points(
    base: Any,
    axes: tuple[alt.X, alt.Y],
    places: tuple[alt.X, alt.Y],
    looks: Mapping[str, Look],
    tooltip: list[alt.Tooltip],
    name: str,
    hue: str,
    **point: Any,
) -> list[Any]:
    """Return layers with a point for each estimator in the data of `base`, its name at `places` (from
    `add_places`), and a line of the colour `hue` to a name that is far."""
    (x, y), (name_x, name_y) = axes, places
    far = base.transform_filter("datum.far").mark_rule(color=hue, strokeWidth=0.8)
    shapes = [look.shape for look in looks.values()]
    points = base.mark_point(filled=True, size=90, opacity=1, **point).encode(
        x=x,
        y=y,
        color=colour(looks),
        shape=alt.Shape("e:N", legend=None).scale(domain=list(looks), range=shapes),
        tooltip=tooltip,
    )
    words = [
        base.mark_text(align="left", baseline="middle", fontSize=11, **style).encode(
            x=name_x, y=name_y, text=name
        )
        for style in ({"stroke": "white", "strokeWidth": 3.5, "strokeOpacity": 0.85}, {"color": "#1f2329"})
    ]
    return [far.encode(x=x, y=y, x2="end:Q", y2="ly:Q"), points, *words]


def tooltips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    return [alt.Tooltip(field, title=title) for field, title in titles.items()]


def panel_title(name: str) -> alt.Title:
    return alt.Title(name, fontSize=12, fontWeight="normal", color="#3b4048")


def ticks(domain: Sequence[float]) -> list[float]:
    """Return the powers of ten within `domain` and, if it is narrow, values between them."""
    low, high = domain
    steps = (1,) if high / low > 3e3 else (1, 2, 5) if high / low > 5 else (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
    ticks = (
        s * 10.0**k
        for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for s in steps
    )
    return [t for t in ticks if low <= t <= high]


class LogAxis:
    """A logarithmic axis. If `pixels` is negative, pixels are counted from the high end."""

    def __init__(self, domain: Sequence[float], pixels: float) -> None:
        self.low, self.high = (math.log(v) for v in domain)
        self.pixels = pixels

    def pixel(self, value: float) -> float:
        share = (math.log(value) - self.low) / (self.high - self.low)
        return share * self.pixels if self.pixels > 0 else (share - 1) * self.pixels

    def value(self, pixel: float) -> float:
        share = pixel / self.pixels if self.pixels > 0 else 1 + pixel / self.pixels
        return math.exp(self.low + share * (self.high - self.low))
