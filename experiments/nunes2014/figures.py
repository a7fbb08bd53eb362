# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws figures 2 to 20 and 22 to 25 of the paper nunes2014 from our runs, and three figures for each of our
own scenarios VI and VII."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.lib.pages import Figure
from experiments.lib.runs import Run, select
from experiments.nunes2014.published import ERROR
from experiments.nunes2014.runs import CONFIDENCE, network
from tcplearn.report.palette import SAMPLE, looks
from tcplearn.simulate import scenario
from tcplearn.simulate.interval import mean_interval

Json = dict[str, Any]
#: Returns the panels in which a figure shows a run: (panel's name, line's name, metric).
Panels = Callable[[Run, str], Iterable[tuple[str, str, str]]]

MEASURED = "RTT"  # the name of the line that shows measured RTTs
OVER_TIME, WINDOW, QUEUE = "window over time", "mean_cwnd_bytes", "mean_queue_bytes"
RESENT, ARRIVED, DELIVERED = "retransmitted_share", "delivery_ratio", "delivered_packets"
#: For each metric the title of its axis, and the factor by which its values are multiplied.
AXES = {
    ERROR: ("mean error, ticks", 1),
    "mean_abs_error_ms": ("mean error, ms", 1),
    RESENT: ("retransmitted packets, %", 100),
    ARRIVED: ("delivery ratio, %", 100),
    WINDOW: ("mean cwnd, bytes", 1),
    OVER_TIME: ("mean cwnd, bytes", 1),
    QUEUE: ("mean queue, bytes", 1),
    DELIVERED: ("packets delivered", 1),  # section 5.1 of the paper calls this goodput
    "goodput_pps": ("goodput, packets/s", 1),
}
_BEYOND = {"error": "mean_abs_error_ms", "retransmitted": RESENT, "goodput": "goodput_pps"}
#: The figures of each scenario: the paper's number or our name, and the metric that the figure shows.
PLOTS = {
    "I": {
        "02": ERROR, "03": RESENT, "04": DELIVERED, "05": WINDOW, "06": OVER_TIME, "07": ARRIVED,
        "14-mobile": QUEUE,
    },
    "II": {"08": ERROR, "09": RESENT, "10": ARRIVED, "11": WINDOW, "12": DELIVERED},
    "III": {"13": ERROR, "14": QUEUE, "15": RESENT, "16": WINDOW},
    "IV": {"17": ERROR, "18": RESENT, "19": DELIVERED, "20": ARRIVED},
    "V": {"22": ERROR, "23": RESENT, "24": ARRIVED, "25": DELIVERED},
    **{of: {f"{of}-{what}": metric for what, metric in _BEYOND.items()} for of in ("VI", "VII")},
}  # fmt: skip


def draw(runs: Sequence[Run], folder: Path, place: str, panels: Panels) -> list[Figure]:
    """Returns the figures for which there are runs. `folder` has the scenario files, `place` is the folder
    for the figures' files, and `panels` says in which panels of a figure a run is shown."""
    out = []
    for number, (of, plots) in enumerate(PLOTS.items(), 1):
        here = select(runs, scenario=of)
        title = scenario.load(folder / f"scenario-{number}.toml").title if here else ""
        for label, metric in plots.items() if here else ():
            rows = list(_rows(here, metric, panels))
            figure = f"Figure {int(label[:2])}: " if label[0].isdigit() else ""
            headline = f"{figure}{AXES[metric][0]}. {of}: {title}"
            if rows:
                spec = chart(rows, headline, "time, s" if metric == OVER_TIME else "")
                out.append(Figure(f"{place}/figure-{label}.svg", headline, spec))
    return out


def _rows(runs: Sequence[Run], metric: str, panels: Panels) -> Iterator[Json]:
    """Yields the points of a figure: the mean of `metric` and the ends of its interval for each variant of
    the network, panel, line and position on the x axis."""
    found: dict[tuple[str, str, str, float | str], list[float]] = {}
    for run in runs:
        _, variant, load = network(run)
        for panel, name, of in panels(run, metric):
            if metric == OVER_TIME:
                for i, value in enumerate(run.series["cwnd_bytes"].tolist()):
                    at = variant, panel, f"{name}: {load} flows", (i + 0.5) * run.metrics["cwnd_bin_s"]
                    found.setdefault(at, []).extend([] if math.isnan(value) else [value])
            elif of in run.metrics:
                found.setdefault((variant, panel, name, load), []).append(run.metrics[of])
    scale = AXES[metric][1]
    for (variant, panel, name, x), values in found.items():
        if values:
            mean, half = mean_interval([value * scale for value in values], CONFIDENCE)
            half = half or 0.0
            low, high = max(0.0, mean - half), min(mean + half, 100 if scale == 100 else math.inf)
            yield {"row": variant, "panel": panel, "e": name, "x": x, "y": mean, "low": low, "high": high}


def chart(rows: Sequence[Json], headline: str, x: str) -> Json:
    """Returns the Vega-Lite specification of a chart of `rows` with a panel, with its own scale, for each
    combination of their values "row" and "panel". A panel has lines over an x axis with the title `x` or, if
    `x` is "", over the load (number of flows, or speed in m/s), with intervals if the rows have them."""
    import altair as alt

    names = list(dict.fromkeys(row["e"] for row in rows))
    look = looks(names)
    colours = [SAMPLE if name == MEASURED else look[name].colour for name in names]
    dashes = [[1, 0] if name == MEASURED else look[name].dash for name in names]
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=400, columnPadding=16)
    colour = alt.Color("e:N", legend=legend, sort=names).scale(domain=names, range=colours)
    dash = alt.StrokeDash("e:N", legend=legend, sort=names).scale(domain=names, range=dashes)
    place: Json = {"x": alt.X("x:Q", title=x)}
    if not x:
        loads = list(dict.fromkeys(row["x"] for row in rows))
        title = "flows" if all(load.isdigit() for load in loads) else "speed, m/s"
        place = {"x": alt.X("x:O", title=title, sort=loads, axis=alt.Axis(labelAngle=0)), "xOffset": "e:N"}
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(**place, color=colour)
    has_intervals = "low" in rows[0]
    lines = base.mark_line(point=has_intervals).encode(y=alt.Y("y:Q", title=None), strokeDash=dash)
    bars = base.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    header = alt.Header(title=None, labelFontSize=11, labelFontWeight="bold")
    sorts = [list(dict.fromkeys(row[of] for row in rows)) for of in ("row", "panel")]
    spec: Json = (
        alt.layer(*([bars] if has_intervals else []), lines)
        .properties(width=210 if has_intervals else 360, height=120)
        .facet(
            row=alt.Row("row:N", header=header, sort=sorts[0]),
            column=alt.Column("panel:N", header=header, sort=sorts[1]),
        )
        .resolve_scale(y="independent")
        .properties(title=alt.Title(headline, anchor="start", fontSize=14))
        .configure_view(stroke="#ddd")
        .to_dict()
    )
    return spec
