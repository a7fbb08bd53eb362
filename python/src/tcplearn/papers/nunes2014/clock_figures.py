# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's figures 2 to 20 and 22 to 25 on the clock of its time: errors by what is scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tcplearn.papers.nunes2014 import figures
from tcplearn.papers.nunes2014.clock_runs import BASE, CLOCK, GIVEN, SCORED, label, network_of
from tcplearn.papers.nunes2014.figures import Figure, Json
from tcplearn.papers.nunes2014.simulated_runs import LEARNED, Point

ERROR = "mean_abs_error_ticks"


def draw(found: Sequence[Point], titles: Mapping[str, str]) -> Iterator[tuple[Figure, str]]:
    """Each figure that there are runs for, as SVG, in the paper's order."""
    import vl_convert

    main = [p for p in found if p.algorithm in (BASE, LEARNED) and p.where[2] in GIVEN]
    for figure in figures.FIGURES:
        here = [p for p in main if p.where[0] == figure.scenario]
        if figure is figures.OVER_TIME:
            rows = figures.over_time_rows([p for p in here if p.where[2] == CLOCK], (BASE, LEARNED))
            spec = figures.over_time_chart
        else:
            rows, spec = rows_of(figure, here), figures.chart
        if rows:
            drawn = spec(rows, figures.headline(figure, titles))
            yield figure, vl_convert.vegalite_to_svg(drawn, allowed_base_urls=[])


def rows_of(figure: Figure, found: Sequence[Point]) -> list[Json]:
    """An error has a column of panels for each scoring; all else has one."""
    if figure.metric == ERROR:
        panels = {f"scored against {scored}": metric for scored, metric in SCORED.items()}
    else:
        panels = {"timers run down at boundaries": figure.metric}
    labels = list(dict.fromkeys(map(label, found)))
    rows = []
    for network in dict.fromkeys(map(network_of, found)):
        for one in labels:
            runs = [p for p in found if network_of(p) == network and label(p) == one]
            for panel, metric in panels.items():
                values = [p.metrics[metric] * figure.scale for p in runs if metric in p.metrics]
                if values:
                    ends = figures.mean_and_ends(values, runs[0].confidence, figure.most)
                    rows.append({"variant": network[1], "timing": panel, "x": network[2], "e": one, **ends})
    return rows
