# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014: figures 2 to 20 and 22 to 25, and three each of the scenarios beyond the paper."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcplearn.papers.nunes2014.simulated_runs import BASE, LEARNED, Point, by_place, name
from tcplearn.report.palette import DASHES, looks
from tcplearn.simulate.interval import mean_interval

Json = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    label: str  # the paper's number, or ours
    scenario: str
    metric: str
    title: str
    scale: float = 1.0

    @property
    def most(self) -> float:
        return 100 if self.scale == 100 else math.inf

    @property
    def file(self) -> str:
        return f"figure-{self.label.zfill(2)}.svg"


_SHARE, _RATIO = "retransmitted packets, %", "delivery ratio, %"
_ERROR, _CWND, _GOODPUT = "mean error, ticks", "mean cwnd, bytes", "goodput, packets/s"
_DELIVERED = "packets delivered"  # what section 5.1 calls goodput
_MANET = {"I": (2, 3, 4, 5, 7), "II": (8, 9, 12, 11, 10)}  # error, retransmitted, delivered, cwnd, delivery

OVER_TIME = Figure("6", "I", "mean_cwnd_bytes", _CWND)
_PAPERS = (
    OVER_TIME,
    *(Figure(str(n[0]), s, "mean_abs_error_ticks", _ERROR) for s, n in _MANET.items()),
    *(Figure(str(n[1]), s, "retransmitted_share", _SHARE, 100) for s, n in _MANET.items()),
    *(Figure(str(n[2]), s, "delivered_packets", _DELIVERED) for s, n in _MANET.items()),
    *(Figure(str(n[3]), s, "mean_cwnd_bytes", _CWND) for s, n in _MANET.items()),
    *(Figure(str(n[4]), s, "delivery_ratio", _RATIO, 100) for s, n in _MANET.items()),
    Figure("13", "III", "mean_abs_error_ticks", _ERROR),
    Figure("14", "III", "mean_queue_bytes", "mean queue, bytes"),
    Figure("14-mobile", "I", "mean_queue_bytes", "mean queue, bytes"),
    Figure("15", "III", "retransmitted_share", _SHARE, 100),
    Figure("16", "III", "mean_cwnd_bytes", _CWND),
    Figure("17", "IV", "mean_abs_error_ticks", _ERROR),
    Figure("18", "IV", "retransmitted_share", _SHARE, 100),
    Figure("19", "IV", "delivered_packets", _DELIVERED),
    Figure("20", "IV", "delivery_ratio", _RATIO, 100),
    Figure("22", "V", "mean_abs_error_ticks", _ERROR),
    Figure("23", "V", "retransmitted_share", _SHARE, 100),
    Figure("24", "V", "delivery_ratio", _RATIO, 100),
    Figure("25", "V", "delivered_packets", _DELIVERED),
)
BEYOND = tuple(
    Figure(f"{s}-{word}", s, metric, title, scale)
    for s in ("VI", "VII")
    for word, metric, title, scale in (
        ("error", "mean_abs_error_ms", "mean error, ms", 1.0),
        ("retransmitted", "retransmitted_share", _SHARE, 100),
        ("goodput", "goodput_pps", _GOODPUT, 1.0),
    )
)
FIGURES = (*sorted(_PAPERS, key=lambda f: (int(f.label.partition("-")[0]), f.label)), *BEYOND)

_WIDTH, _HEIGHT = 210, 120


def comparable(found: Sequence[Point]) -> list[Point]:
    """Of the conditions under which all of the main algorithms ran, their runs."""
    out = []
    for by in by_place(p for p in found if p.is_main).values():
        if by.keys() >= {BASE, LEARNED} and len(by) > 2:
            out += [p for seeds in by.values() for p in seeds.values()]
    return out


def rows_of(figure: Figure, found: Sequence[Point]) -> list[Json]:
    rows = []
    for (_, variant, timing, condition), by in by_place(found).items():
        for algorithm, seeds in by.items():
            values = [
                p.metrics[figure.metric] * figure.scale for p in seeds.values() if figure.metric in p.metrics
            ]
            if not values:
                continue
            confidence = next(iter(seeds.values())).confidence
            row = {"variant": variant, "timing": timing, "x": condition, "e": name(algorithm)}
            rows.append({**row, **mean_and_ends(values, confidence, figure.most)})
    return rows


def mean_and_ends(values: Sequence[float], confidence: float, most: float = math.inf) -> Json:
    """Of an interval: a share or a size is not below zero, nor a percentage above a hundred."""
    mean, half = mean_interval(values, confidence)
    return {"y": mean, "low": max(0.0, mean - (half or 0)), "high": min(mean + (half or 0), most)}


def over_time_rows(found: Sequence[Point], algorithms: Sequence[str] = (BASE, LEARNED)) -> list[Json]:
    bins: dict[tuple[str, ...], list[float]] = defaultdict(list)
    width, confidence = 20.0, 0.9
    for p in found:
        width, confidence = p.bin_s, p.confidence
        for i, value in enumerate(p.cwnd):
            if value is not None and p.algorithm in algorithms:
                bins[*p.where[1:], name(p.algorithm), str(i)].append(value)
    return [
        {
            "variant": v,
            "timing": t,
            "x": f"{x} flows",
            "e": e,
            "t": (int(i) + 0.5) * width,
            **mean_and_ends(y, confidence),
        }
        for (v, t, x, e, i), y in bins.items()
    ]


def _colour_and_dash(field: str, look: Mapping[str, tuple[str, list[int]]], columns: int = 0) -> Json:
    """Channels with one legend of both, or a dash would have no line there."""
    import altair as alt

    names = list(look)
    legend = alt.Legend(
        orient="top",
        title=None,
        symbolType="stroke",
        symbolSize=400,
        symbolOpacity=1,
        symbolStrokeWidth=2,
        columnPadding=16,
        columns=columns,
    )
    colours, dashes = ([one[i] for one in look.values()] for i in (0, 1))
    return {
        "color": alt.Color(f"{field}:N", legend=legend, sort=names).scale(domain=names, range=colours),
        "strokeDash": alt.StrokeDash(f"{field}:N", legend=legend, sort=names).scale(
            domain=names, range=dashes
        ),
    }


def _side_by_side(rows: Sequence[Json]) -> tuple[list[Json], Any]:
    """Rows with a place on the x axis, apart where algorithms would hide each other; and that axis."""
    import altair as alt

    conditions = list(dict.fromkeys(r["x"] for r in rows))
    algorithms = list(dict.fromkeys(r["e"] for r in rows))
    numeric = all(c.isdigit() for c in conditions)
    places = {c: math.log(int(c)) if numeric else float(i) for i, c in enumerate(conditions)}
    span = max(places.values()) - min(places.values()) or 1.0
    step = 0.014 * span
    shift = {e: step * (i - (len(algorithms) - 1) / 2) for i, e in enumerate(algorithms)}
    values = [{**r, "place": places[r["x"]] + shift[r["e"]]} for r in rows]
    names = " : ".join(f"abs(datum.value - {at}) < 1e-6 ? '{c}'" for c, at in places.items())
    axis = alt.Axis(values=list(places.values()), labelExpr=f"{names} : ''", labelAngle=0)
    domain = [min(places.values()) - 0.08 * span, max(places.values()) + 0.08 * span]
    title = "flows (logarithmic)" if numeric else "speed, m/s"
    return values, alt.X("place:Q", title=title, axis=axis).scale(domain=domain, nice=False, zero=False)


def chart(rows: Sequence[Json], title: str) -> Json:
    import altair as alt

    look = looks(dict.fromkeys(r["e"] for r in rows))
    drawn = _colour_and_dash("e", {e: (k.colour, k.dash) for e, k in look.items()})
    values, x = _side_by_side(rows)
    base = alt.Chart(alt.InlineData(values=values)).encode(x=x, color=drawn["color"])
    lines = base.mark_line(point=True).encode(y=alt.Y("y:Q", title=None), strokeDash=drawn["strokeDash"])
    bars = base.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    return _faceted(alt.layer(bars, lines), rows, title)


def over_time_chart(rows: Sequence[Json], title: str) -> Json:
    import altair as alt

    loads = sorted({r["x"] for r in rows}, key=lambda x: int(x.split()[0]))
    look = looks(dict.fromkeys(r["e"] for r in rows))
    series = {
        f"{e}, {x}": (look[e].colour, dash) for e in look for x, dash in zip(loads, DASHES, strict=False)
    }
    values = [{**r, "of": f"{r['e']}, {r['x']}"} for r in rows]
    drawn = _colour_and_dash("of", series, columns=2)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("t:Q", title="time, s").scale(zero=True), color=drawn["color"]
    )
    lines = base.mark_line(point=True).encode(y=alt.Y("y:Q", title=None), strokeDash=drawn["strokeDash"])
    bars = base.mark_rule(opacity=0.4).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    return _faceted(alt.layer(bars, lines), values, title)


def _faceted(layers: Any, rows: Sequence[Json], title: str) -> Json:
    """A row of panels for each variant, each with a scale of its own: they differ by orders of magnitude."""
    import altair as alt

    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    has_variants = any(r["variant"] for r in rows)
    timings = list(dict.fromkeys(r["timing"] for r in rows))
    facets: Json = {"column": alt.Column("timing:N", header=header, sort=timings)}
    if has_variants:
        facets["row"] = alt.Row(
            "variant:N", header=header, sort=list(dict.fromkeys(r["variant"] for r in rows))
        )
    faceted = layers.properties(width=_WIDTH, height=_HEIGHT).facet(**facets).resolve_scale(y="independent")
    spec: Json = (
        faceted.properties(title=alt.Title(title, anchor="start", fontSize=14))
        .configure_view(stroke="#ddd")
        .to_dict()
    )
    return spec


def draw(found: Sequence[Point], titles: Mapping[str, str]) -> Iterator[tuple[Figure, str]]:
    """Each figure that there are runs for, as SVG, in the paper's order."""
    import vl_convert

    main = comparable(found)
    for figure in FIGURES:
        here = [p for p in main if p.where[0] == figure.scenario]
        over_time = figure is OVER_TIME
        rows = over_time_rows(here) if over_time else rows_of(figure, here)
        if rows:
            spec = (over_time_chart if over_time else chart)(rows, headline(figure, titles))
            yield figure, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def headline(figure: Figure, titles: Mapping[str, str]) -> str:
    number = f"Figure {figure.label.partition('-')[0]}: " if figure.label[0].isdigit() else ""
    return f"{number}{figure.title}. {figure.scenario}: {titles[figure.scenario]}"
