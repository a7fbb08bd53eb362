# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Overruns past the end of fades: the share of fades that were over by so long after, a line a timer; each
one against its fade's length."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from latency_cells import OURS, STOCK
from latency_others import Overruns

from tcplearn.output import files

_COLOURS = {STOCK: "#000000", OURS[0]: "#0072b2", OURS[1]: "#56b4e9"}
_OTHERS = ("#d55e00", "#999999", "#009e73")


def write(found: Mapping[str, Overruns], path: Path) -> None:
    import vl_convert

    files.write_atomically(path, vl_convert.vegalite_to_svg(_chart(found), allowed_base_urls=[]))


def _chart(found: Mapping[str, Overruns]) -> Any:
    """Vega-Lite's specification."""
    import altair as alt

    others = dict(zip((t for t in found if t not in _COLOURS), _OTHERS, strict=False))
    colours = {timer: {**_COLOURS, **others}[timer] for timer in found}
    colour = alt.Color(
        "timer:N",
        title=None,
        legend=alt.Legend(orient="top", symbolSize=120),
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
    )
    shares, points = [], []
    for timer, of in found.items():
        ordered = sorted(of.values(), key=lambda fade: fade[1])
        for rank, (length_ms, past_ms) in enumerate(ordered, 1):
            shares.append({"timer": timer, "past": past_ms, "share": rank / len(ordered)})
            points.append({"timer": timer, "length": length_ms, "past": past_ms})
    past = alt.X("past:Q", title="overrun, ms").scale(type="log")
    share = alt.Y("share:Q", title="share of the fades").scale(domain=[0, 1])
    steps = alt.Chart(alt.InlineData(values=shares)).mark_line(interpolate="step-after")
    length = alt.X("length:Q", title="length of the fade, ms").scale(type="log")
    dots = alt.Chart(alt.InlineData(values=points)).mark_point(size=30, filled=True, opacity=0.7)
    panels = (
        steps.encode(x=past, y=share, color=colour),
        dots.encode(x=length, y=alt.Y("past:Q", title="overrun, ms").scale(type="log"), color=colour),
    )
    sized = [panel.properties(width=420, height=320) for panel in panels]
    return alt.hconcat(*sized).configure_view(stroke="#ddd").to_dict()
