# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Misses and timeouts, flow by flow: a thin flow pays nearly every miss, a bulk flow few of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from tcplearn.errors import printable
from tcplearn.output import plain
from tcplearn.report import charts, data
from tcplearn.report.summary import BASELINE
from tcplearn.results import Replay, Row
from tcplearn.tables import counted, flows
from tcplearn.views import Cell, View, count, rate, text

ABOUT = (
    "A timer with a chosen miss rate counts samples above the RTO that stood just before them. That is not "
    "how often it fires: each ACK restarts it, so in a bulk flow the packets of a flight wait behind one "
    "another and few misses become timeouts. With one packet in flight every miss is one. At the sending of "
    "a segment the RTO was a flight older, and more samples outlast that."
)

#: Stem of the picture's file.
FILE = "total-misses"

#: What is counted, as a share of the samples.
BEFORE, SEND, TIMEOUTS = "above the RTO just before", "above the RTO at send", "spurious timeouts"
_COLOURS = {BEFORE: "#0072b2", SEND: "#8a9099", TIMEOUTS: "#d55e00"}
_ASIDE = {BEFORE: 0.95, SEND: 1.0, TIMEOUTS: 1 / 0.95}  # marks of one height stand beside each other
_SHAPES = {BEFORE: "circle", SEND: "triangle-up", TIMEOUTS: "cross"}

#: A flow of one packet a round trip has this much in flight.
_THIN = 1.5


def judged(replay: Replay) -> list[list[Row]]:
    """Flows that are judged, the most samples first."""
    groups = [rows for rows in flows(replay.rows).values() if any(r.judged for r in rows)]
    return sorted(groups, key=lambda rows: -rows[0].samples)


def timer(rows: Iterable[Row]) -> str | None:
    """The first estimator whose miss rate was chosen."""
    return next((r.estimator for r in rows if r.rto_miss_rate_asked), None)


def shares(row: Row) -> dict[str, float | None]:
    timeouts = row.spurious_timeouts / row.samples if row.samples else None
    return {BEFORE: plain(row.rto_miss_rate_before), SEND: plain(row.rto_miss_rate), TIMEOUTS: timeouts}


def sentence(row: Row) -> str:
    """What the miss rate came to in the flow with most samples."""
    asked, known = row.rto_miss_rate_asked or 0.0, shares(row)
    kind = "thin" if (row.flight_segments or 0) < _THIN else "bulk"
    flight = "" if row.flight_segments is None else f", {row.flight_segments:.3g} segments in flight ({kind})"
    return (
        f"{row.estimator} was asked for {asked * 100:.3g} %. In {row.flow} "
        f"({counted(row.samples, 'sample')}{flight}) "
        f"{(known[BEFORE] or 0) * 100:.3g} % of the samples outlasted the RTO that stood just before them, "
        f"{(known[SEND] or 0) * 100:.3g} % the one at their sending, and it would have fired for nothing "
        f"{counted(row.spurious_timeouts, 'time')}."
    )


def view(groups: Sequence[Sequence[Row]], label: str, most: int) -> View:
    """A line for each flow and timer; `label` first, the baseline beside it."""
    out = View(
        "Misses and timeouts, % of samples",
        ("flow", "timer", "samples", "in flight", "just before", "at send", "timeouts"),
        words=frozenset({0, 1}),
    )
    for rows in groups[:most]:
        for row in rows:
            if row.estimator in (label, BASELINE):
                known = shares(row)
                flight = (
                    Cell()
                    if row.flight_segments is None
                    else Cell(f"{row.flight_segments:.3g}", row.flight_segments)
                )
                figures = (rate(known[BEFORE]), rate(known[SEND]), rate(known[TIMEOUTS]))
                out.rows.append([text(row.flow), text(row.estimator), count(row.samples), flight, *figures])
    if len(groups) > most:
        out.legend = f"{len(groups) - most:,} more flows: --format csv lists them."
    return out


def _drawn(groups: Sequence[Sequence[Row]], label: str) -> list[Row]:
    return [r for rows in groups for r in rows if r.estimator == label and r.flight_segments]


def points(groups: Sequence[Sequence[Row]], label: str) -> list[dict[str, Any]]:
    """Three marks for each flow whose flight is known; none at all stands at the floor and says so."""
    rows = _drawn(groups, label)
    floor = data.miss_floor(rows)
    return [
        {
            "flow": printable(row.flow),
            "x": data.rounded((row.flight_segments or 0.0) * _ASIDE[kind]),
            "flight": data.rounded(row.flight_segments or 0.0),
            "y": data.rounded(max(share * 100, floor)),
            "share": data.rounded(share * 100),
            "kind": kind,
        }
        for row in rows
        for kind, share in shares(row).items()
        if share is not None
    ]


def chart(groups: Sequence[Sequence[Row]], label: str) -> dict[str, Any] | None:
    """Packets in flight against the shares, both logarithmic; a dashed line at the rate asked for."""
    marks = points(groups, label)
    if not marks:
        return None
    floor = data.miss_floor(_drawn(groups, label))
    asked = next(r.rto_miss_rate_asked or 0.0 for r in _drawn(groups, label)) * 100
    xs = [p["x"] for p in marks]
    x_domain = [min(1.0, *xs) / 1.3, max(10.0, *xs) * 1.3]
    y_domain = [min(floor, asked) / 1.8, max(asked, *(p["y"] for p in marks)) * 2]

    def across(field: str) -> alt.X:
        return alt.X(field, title="segments in flight, mean").scale(type="log", domain=x_domain, nice=False)

    y = alt.Y("y:Q", title="% of samples").scale(type="log", domain=y_domain, nice=False)
    kinds = list(_COLOURS)
    legend = alt.Legend(title=None, orient="top", columns=3)
    base = alt.Chart(alt.NamedData("marks"))
    layers = [
        alt.Chart(alt.NamedData("asked")).mark_rule(color="#0072b2", strokeDash=[4, 3]).encode(y=y),
        base.mark_rule(color="#d9dde2").encode(
            x=across("flight:Q"), y="min(y):Q", y2="max(y):Q", detail="flow:N"
        ),
        base.mark_point(filled=True, size=80, opacity=0.9).encode(
            x=across("x:Q").axis(format=".6~g", values=charts.ticks(x_domain)),
            y=y.axis(
                values=[floor, *(v for v in charts.ticks(y_domain) if v > 2 * floor)],
                labelExpr=f"datum.value < {floor * 1.5} ? 'none' : format(datum.value, '.6~g')",
            ),
            color=alt.Color("kind:N", legend=legend).scale(domain=kinds, range=list(_COLOURS.values())),
            shape=alt.Shape("kind:N", legend=legend).scale(domain=kinds, range=list(_SHAPES.values())),
            tooltip=[
                alt.Tooltip("flow:N", title="flow"),
                alt.Tooltip("kind:N", title="share"),
                alt.Tooltip("share:Q", title="% of samples"),
                alt.Tooltip("flight:Q", title="in flight"),
            ],
        ),
    ]
    title = charts.heading(f"{label}: misses and timeouts", "dashed: the rate asked for; a column is a flow")
    spec = charts.finished(
        alt.layer(*layers).properties(width=charts.WIDTH // 2 + 80, height=charts.SQUARE_HEIGHT, title=title)
    )
    spec["datasets"] = {"marks": marks, "asked": [{"y": asked}]}
    return spec
