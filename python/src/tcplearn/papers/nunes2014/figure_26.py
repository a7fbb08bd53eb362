# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's Figure 26: RTTs of a transfer, sample by sample, and what was predicted for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn import _native
from tcplearn.lab import kernel_log
from tcplearn.lab.guest import arms
from tcplearn.lab.scenario import Scenario
from tcplearn.report.palette import SAMPLE, looks

Json = dict[str, Any]

SAMPLES = 200
OF = "experts/nunes2014-linux"
REPLAYED = ("jacobson", "experts/fitted", "tracking")
MEASURED, STOCK = "RTT", "linux"
_SIDES = ("in the kernel", "replayed on the same samples")


def rows(scenario: Scenario, folder: Path) -> Iterator[Json]:
    """Of the transfer under the experts in a run's folder; none where the run has no such transfer."""
    chosen = [a for a in arms(scenario, 0) if a.estimator == OF and not a.tlp]
    if not chosen:
        return
    acks = kernel_log.opened(folder / chosen[0].folder / "log").connection.acks
    s = acks[acks["rtt_us"] >= 0]
    time_us, rtt_us = (s[name].astype(np.int64) for name in ("time_us", "rtt_us"))
    flight = s["flight_segments"].astype(np.int64)
    before = {OF: np.roll(s["rtt_q8"] / 256, 1), STOCK: np.roll(s["srtt_us"], 1)}
    for name in REPLAYED:
        core = _native.Estimator(name, "double", {})
        before[name] = core.run(rtt_us, time_us, time_us - rtt_us, flight_segments=flight)[0]
    first = max(1, (len(s) - SAMPLES) // 2)
    for k in range(first, min(first + SAMPLES, len(s))):
        place = {"scenario": scenario.name, "k": k - first + 1}
        for side, names in zip(_SIDES, ((OF, STOCK), REPLAYED), strict=True):
            yield {**place, "side": side, "e": MEASURED, "y": float(rtt_us[k]) / 1000}
            for name in names:
                yield {**place, "side": side, "e": name, "y": float(before[name][k]) / 1000}


def draw(values: Sequence[Json]) -> str:
    """As SVG: a row for each scenario, its two panels each with a scale of their own."""
    import altair as alt
    import vl_convert

    names = [MEASURED, *dict.fromkeys(row["e"] for row in values if row["e"] != MEASURED)]
    look = looks(name for name in names if name != MEASURED)
    colours = [SAMPLE if name == MEASURED else look[name].colour for name in names]
    dashes = [[1, 0] if name == MEASURED else look[name].dash for name in names]
    legend = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=400, columnPadding=16)
    chart = (
        alt.Chart(alt.InlineData(values=list(values)))
        .mark_line()
        .encode(
            x=alt.X("k:Q", title="sample").scale(domain=[1, SAMPLES]),
            y=alt.Y("y:Q", title="ms"),
            color=alt.Color("e:N", legend=legend, sort=names).scale(domain=names, range=colours),
            strokeWidth=alt.condition(alt.datum.e == MEASURED, alt.value(3), alt.value(1.5)),
            strokeDash=alt.StrokeDash("e:N", legend=legend, sort=names).scale(domain=names, range=dashes),
        )
        .properties(width=360, height=170)
        .facet(
            row=alt.Row("scenario:N", header=alt.Header(title=None, labelFontSize=11)),
            column=alt.Column("side:N", header=alt.Header(title=None, labelFontSize=11), sort=list(_SIDES)),
        )
        .resolve_scale(y="independent")
        .configure_view(stroke="#ddd")
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict(), allowed_base_urls=[]))
