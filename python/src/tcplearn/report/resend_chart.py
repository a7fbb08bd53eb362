# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draw spurious retransmissions against the 99th percentile of response times, for each resend policy (rule
for when TCP retransmits)."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from tcplearn.output import files
from tcplearn.replay.resends import FLOORS_MS, NEEDLESS, STOCK, Summary

#: Pixels by which labels are moved from their points: all to the right; those of the `rto_min` settings up,
#: by two distances in turn; of the other policies, that of the lowest point down, and the others up.
_RIGHT, _CURVE, _LOWEST, _OTHERS = 8, (-8, -20), 12, -8
#: The least distance in pixels of two labels that are near, and the height that the points take up.
_LINE, _DRAWN = 12, 372
_CURVED = "rto_min, doubled"
_COLORS = {_CURVED: "#6b6b6b", "linear": "#d55e00", "s-rto": "#009e73", "priced": "#0072b2"}

#: Figures of a summary that are drawn, with titles: REPLAYED for a replay, MEASURED for real TCP (lab).
REPLAYED = {"p99_response_stock_ratio": "p99, × stock", "p999_response_stock_ratio": "p99.9, × stock"}
MEASURED = {
    "p99_response_stock_ratio": "p99, × stock",
    "slowest_response_stock_ratio": "slowest 2 %, × stock",
}

#: The 95 % intervals by policy and figure.
Intervals = Mapping[str, Mapping[str, tuple[float, float]]]


def write(summaries: Sequence[Summary], folder: Path) -> None:
    """Write the chart of `summaries` to the file resends.svg in `folder`."""
    svg = vl_convert.vegalite_to_svg(chart(summaries), allowed_base_urls=[])
    folder.mkdir(parents=True, exist_ok=True)
    files.write_atomically(folder / "resends.svg", svg)


def chart(
    summaries: Sequence[Summary],
    titles: Mapping[str, str] = REPLAYED,
    intervals: Intervals | None = None,
) -> Any:
    """Return the Vega-Lite chart of `summaries`, one for each resend policy, with a panel for each metric in
    `titles`. `intervals` are drawn as vertical lines."""
    floors = {**{f"rto_min {ms} ms": ms for ms in FLOORS_MS}, STOCK: 200}
    above = dict(zip((s.policy for s in summaries if s.policy in floors), cycle(_CURVE), strict=False))
    others = [s for s in summaries if s.policy not in floors]
    kinds = [kind for kind in _COLORS if any(_kind(s.policy) == kind for s in summaries)]
    colour = alt.Color(
        "kind:N",
        title=None,
        legend=alt.Legend(orient="top", symbolSize=120, symbolOpacity=1),
        scale=alt.Scale(domain=kinds, range=[_COLORS[kind] for kind in kinds]),
    )
    panels = []
    for key, title in titles.items():
        offsets = {**above, **_offsets(summaries, others, key)}
        rows = [
            {
                "label": s.policy.removeprefix("rto_min "),
                "x": s.figures[NEEDLESS],
                "y": s.figures[key],
                **_interval(intervals, s.policy, key),
                "floor": floors.get(s.policy),
                "kind": _kind(s.policy),
                "dy": offsets[s.policy],
            }
            for s in summaries
        ]
        base = alt.Chart(alt.InlineData(values=rows)).encode(
            x=alt.X("x:Q", title="spurious retransmissions in 1,000 (curve: rto_min)").scale(zero=True),
            y=alt.Y("y:Q", title=title).scale(zero=False, padding=24),
        )
        curve = base.transform_filter("datum.floor != null").mark_line(color="#6b6b6b")
        points = base.mark_point(size=60, filled=True, opacity=1).encode(color=colour)
        ruled = base.transform_filter("isValid(datum.low)").mark_rule(opacity=0.45)
        bars = ruled.encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour)
        words = [
            base.transform_filter(f"datum.dy == {dy}")
            .mark_text(align="left", dx=_RIGHT, dy=dy, fontSize=10)
            .encode(text="label:N", color=colour)
            for dy in sorted(set(offsets.values()))
        ]
        layers = [curve.encode(order="floor:Q"), *([bars] if intervals else []), points, *words]
        panels.append(alt.layer(*layers).properties(width=420, height=420))
    return alt.hconcat(*panels).configure_view(stroke="#ddd").to_dict()


def _interval(intervals: Intervals | None, policy: str, key: str) -> dict[str, float]:
    found = (intervals or {}).get(policy, {}).get(key)
    return dict(zip(("low", "high"), found, strict=True)) if found else {}


def _kind(policy: str) -> str:
    return next((kind for kind in _COLORS if kind in policy), _CURVED)


def _offsets(summaries: Sequence[Summary], others: Sequence[Summary], key: str) -> dict[str, int]:
    """Return how many pixels the label of each of the policies `others` is moved down from its point. That of
    the lowest point is below it. All others are above their points and above the labels of lower points
    nearby."""
    values = [s.figures[key] for s in summaries]
    spurious = [s.figures[NEEDLESS] for s in summaries]
    pixels = _DRAWN / max(max(values) - min(values), 1e-9)
    near = (max(spurious) - min(spurious)) / 3
    out: dict[str, int] = {}
    placed: list[tuple[float, float]] = []  # (spurious retransmissions, height of the label in pixels)
    for s in sorted(others, key=lambda s: s.figures[key]):
        x, y = s.figures[NEEDLESS], pixels * s.figures[key]
        free = max((at + _LINE for of, at in placed if abs(of - x) < near), default=y)
        height = max(y - _OTHERS, free) if placed else y - _LOWEST
        placed.append((x, height))
        out[s.policy] = round(y - height)
    return out
