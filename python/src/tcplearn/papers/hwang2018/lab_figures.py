# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018 in the real kernel: goodput against the loss rate, and a window under each classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcplearn import losses
from tcplearn.lab import guest, kernel_log
from tcplearn.lab.scenario import Scenario
from tcplearn.papers.hwang2018 import lab_runs
from tcplearn.papers.hwang2018.figures import NAMED, lines, row
from tcplearn.papers.hwang2018.runs import Point, mean

Json = dict[str, Any]

#: ML-TCP over CUBIC has its kind's colour in another shade.
COLOURS = NAMED | {
    "Veno": "#ddaa33",
    "ML-TCP, the paper's over CUBIC": "#88ccee",
    "ML-TCP, wide over CUBIC": "#117733",
    "ML-TCP, adaptive over CUBIC": "#44aa99",
}
_OVER_TIME = ("reno+mlp/hwang2018", "reno+mlp", "cubic+mlp", "reno+adaptive")
_MARKS = {losses.RANDOM: "random: window kept", losses.CONGESTION: "congestion: window reduced"}


def draw(
    found: Mapping[str, Sequence[Point]], drawn: Sequence[tuple[Scenario, Path]], confidence: float
) -> Iterator[tuple[str, str, str]]:
    """File, title and SVG. `found`: runs of the plain path by scenario; `drawn`: whose windows over time."""
    import vl_convert

    points = [p for part in found.values() for p in part]
    specs: list[tuple[str, str, Json | None]] = []
    for file, title, base in (
        ("lab-figure-05.svg", "Goodput against the loss rate, NewReno's kind", "reno"),
        ("lab-figure-05-cubic.svg", "Goodput against the loss rate, CUBIC's kind", "cubic"),
    ):
        rows = list(_rows(points, base, confidence))
        specs.append((file, title, lines(rows, title, "loss rate", "goodput, Mbit/s", COLOURS)))
    title = "Windows at a loss rate of 0.01, one run"
    specs += [("lab-windows.svg", title, _windows(scenario, folder, title)) for scenario, folder in drawn]
    for file, title, spec in specs:
        if spec is not None:
            yield file, title, vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def _rows(points: Sequence[Point], base: str, confidence: float) -> Iterator[Json]:
    senders = dict.fromkeys(p.sender for p in points)
    others = {"reno": ("veno", "westwood", "vegas", "bbr"), "cubic": ("bbr",)}[base]
    shown = [s for s in senders if s.startswith(f"{base}+") or s in [f"{o}+none" for o in others]]
    for x in sorted({p.short["loss_rate"] for p in points}):
        for sender in shown:
            here = [p for p in points if p.sender == sender and p.short["loss_rate"] == x]
            value = mean(here, "goodput_mbps", confidence)
            if value:
                yield row(x, lab_runs.name(sender), value)


def _windows(scenario: Scenario, folder: Path, title: str) -> Json | None:
    import altair as alt

    values: list[Json] = []
    marks: list[Json] = []
    for arm in guest.arms(scenario, 0):
        if arm.name.partition(":")[0] not in _OVER_TIME:
            continue
        c = kernel_log.opened(folder / arm.folder / "log").connection
        origin_us = int(c.acks["time_us"][0])
        who = lab_runs.name(arm.name)
        for ack in c.acks[:: max(1, len(c.acks) // 700)]:
            at_s = (int(ack["time_us"]) - origin_us) / 1e6
            values.append({"t": round(at_s, 4), "y": int(ack["cwnd"]), "sender": who})
        for loss in c.losses:
            at_s = (int(loss["time_us"]) - origin_us) / 1e6
            cause = _MARKS[losses.CAUSES[int(loss["cause"])]]
            marks.append({"t": round(at_s, 4), "y": int(loss["cwnd"]), "sender": who, "said": cause})
    if not values:
        return None
    x = alt.X("t:Q", title="time, s")
    y = alt.Y("y:Q", title="cwnd, segments")
    line = alt.Chart().mark_line(strokeWidth=1, color="#4477aa").encode(x=x, y=y)
    legend = alt.Legend(title=None, orient="bottom")
    said = alt.Color("said:N", legend=legend).scale(
        domain=list(_MARKS.values()), range=["#009988", "#cc3311"]
    )
    points = (
        alt.Chart(alt.InlineData(values=marks)).mark_point(filled=True, size=40).encode(x=x, y=y, color=said)
    )
    panels = [
        alt.layer(
            line.properties(data=alt.InlineData(values=[v for v in values if v["sender"] == who])),
            points.transform_filter(alt.datum.sender == who),
        ).properties(width=330, height=150, title=alt.Title(who, anchor="start", fontSize=12))
        for who in dict.fromkeys(v["sender"] for v in values)
    ]
    whole = alt.concat(*panels, columns=2).properties(title=alt.Title(title, anchor="start", fontSize=14))
    spec: Json = whole.configure_view(stroke="#ddd").to_dict()
    return spec
