# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the report of `tcplearn study experts`: heat maps over the parameters of the estimator `experts`."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from tcplearn.output import numbers
from tcplearn.output.rows import Record
from tcplearn.report import charts, data
from tcplearn.report.page import Page
from tcplearn.report.palette import looks
from tcplearn.study import tables as study_tables
from tcplearn.study.experts import REFERENCES, Study

CELL_WIDTH, CELL_HEIGHT = 46, 24
#: The largest ratio of the colour scale. Larger ratios have the same colour.
REACH = 20.0
#: The number of panels side by side.
COLUMNS = 2

_ABOUT = {
    "mean_abs_error_ratio": ("error", "Mean error of prediction, times jacobson's", "times jacobson's error"),
    "rto_miss_rate": ("misses", "Samples above the RTO in force when sent, %", "%"),
}


def page(study: Study, rows: Sequence[Record]) -> Page:
    out = Page(f"tcplearn study: {', '.join(study.files)}", study.made_by.get("version", ""))
    out.head(
        "The experts' parameters: N, learning rate η, sharing rate α",
        "Every triple saw the same samples; after nunes2014, section 4.1, which chose N=100, η=2, α=0.08.",
        [*study_tables.sentences(study), *study_tables.notes(study)],
    )
    out.warnings("Warnings", study.warnings)
    out.facts({"files": ", ".join(study.files), **study.made_by})
    out.section("Heat maps")
    for field, caption in (
        (
            "mean_abs_error_ratio",
            "Blue is better than jacobson, red is worse (all red: the darker the worse); the scale is "
            "logarithmic. With fewer experts the grid keeps its spacing and its upper end and loses the "
            "lower one: a path below it cannot be predicted.",
        ),
        ("rto_miss_rate", "Compare with the map of errors: a timer that waits for long never misses."),
    ):
        out.picture(_ABOUT[field][0], heat(study, rows, field), caption)
    out.section("Figures")
    out.table(study_tables.table(rows), looks([study.options.preset, *REFERENCES]))
    return out


def _cells(study: Study, rows: Sequence[Record], field: str) -> list[dict[str, Any]]:
    rate = field == "rto_miss_rate"
    special = {study.best: "best in hindsight", study.best_of_first_half: "best of the first half"}
    out = []
    for i, row in enumerate(r for r in rows if r["n"] is not None):
        value = row[field]
        if value is None:
            continue
        if rate:
            value *= 100
            shown = f"{value:.2g}" if value else "0"
        else:
            shown = numbers.ratio(value)
        out.append(
            {
                "n": f"N = {row['n']}",
                "eta": f"{row['eta']:g}",
                "alpha": f"{row['alpha']:g}",
                "v": data.rounded(max(value, 1e-3)),
                "shown": shown,
                "paper": i == study.paper,
                "best": i == study.best,
                "early": i == study.best_of_first_half != study.best,
                "what": ", ".join(filter(None, (special.get(i), "the paper's" if i == study.paper else ""))),
            }
        )
    return out


def _scale(values: Sequence[float], *, rate: bool) -> tuple[alt.Scale, str]:
    """Return the colour scale, and a Vega condition for cells so dark that their number is drawn in white."""
    low, high = min(values), max(values)
    if rate:
        scale = alt.Scale(type="linear", scheme="purples", domain=[0, max(high, 0.1)])
        return scale, f"datum.v > {high * 0.6}"
    if low > REACH / 2:  # all values are far worse than jacobson's, so the scale shows which is the least bad
        top = max(high, low * 1.1)
        return alt.Scale(type="log", scheme="reds", domain=[low, top]), f"datum.v > {(low * top) ** 0.5}"
    reach = min(max(high, 1 / low, 1.1), REACH)
    colours = ["#2166ac", "#f7f7f7", "#b2182b"]
    scale = alt.Scale(type="log", domain=[1 / reach, 1, reach], range=colours, clamp=True)
    return scale, f"abs(log(datum.v)) > 0.55 * log({reach})"


def heat(study: Study, rows: Sequence[Record], field: str) -> dict[str, Any]:
    """Return the heat map of the metric `field`, with a panel for each number of experts: the fixed RTTs
    whose weighted mean is the prediction."""
    _, title, unit = _ABOUT[field]
    cells = _cells(study, rows, field)
    values = [c["v"] for c in cells] or [1.0]
    etas = [f"{v:g}" for v in sorted(set(study.options.eta))]
    alphas = [f"{v:g}" for v in sorted(set(study.options.alpha), reverse=True)]
    scale, dark = _scale(values, rate=field == "rto_miss_rate")
    x = alt.X("eta:O", sort=etas, title="learning rate η").axis(labelAngle=0, ticks=False, domain=False)
    y = alt.Y("alpha:O", sort=alphas, title="sharing rate α").axis(ticks=False, domain=False)
    tooltip = charts.tooltips({"n:N": "experts", "eta:N": "η", "alpha:N": "α", "v:Q": unit, "what:N": "mark"})
    legend = alt.Legend(title=unit, orient="right", gradientLength=180, format=".6~g")
    boxes = (("best", 3.0, [1, 0], 5), ("early", 1.8, [2, 2], 5), ("paper", 2.0, [6, 3], 10))
    panels = []
    for n in dict.fromkeys(c["n"] for c in cells):
        base = alt.Chart(alt.InlineData([c for c in cells if c["n"] == n])).encode(x=x, y=y)
        marks = [
            base.transform_filter(f"datum.{key}").mark_rect(
                fillOpacity=0,
                stroke=colour,
                strokeWidth=width,
                strokeDash=dash,
                width=CELL_WIDTH - inset,
                height=CELL_HEIGHT - inset + 2,
            )
            for key, width, dash, inset in boxes
            for colour, width, dash in (("white", width + 2, [1, 0]), ("black", width, dash))
        ]
        panels.append(
            alt.layer(
                base.mark_rect(stroke="white", strokeWidth=1).encode(
                    color=alt.Color("v:Q", legend=legend).scale(scale), tooltip=tooltip
                ),
                base.mark_text(fontSize=10.5).encode(
                    text="shown:N", color=alt.condition(dark, alt.value("white"), alt.value("#1f2329"))
                ),
                *marks,
            ).properties(
                width=CELL_WIDTH * len(etas),
                height=CELL_HEIGHT * len(alphas),
                title=charts.panel_title(n),
            )
        )
    hint = "solid box: best in hindsight; dotted: of the first half, if another; dashed: the paper's choice"
    chart = alt.concat(*panels, columns=COLUMNS).properties(
        title=alt.Title(f"{study.options.preset}: {title[:1].lower()}{title[1:]}", subtitle=[hint])
    )
    return charts.finished(chart)
