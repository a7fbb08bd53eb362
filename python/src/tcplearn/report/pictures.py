# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Gather the pictures of a replay, for its HTML report and for picture files."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcplearn.errors import printable
from tcplearn.output.rows import TOTAL
from tcplearn.replay.results import Distribution, Replay, Series
from tcplearn.replay.row import Row
from tcplearn.replay.tables import flows
from tcplearn.report import charts, data, misses
from tcplearn.report.palette import Look, looks
from tcplearn.report.summary import chosen

Spec = dict[str, Any]


@dataclass
class FlowPictures:
    """The pictures of one flow, or of all flows together, and the data that they share."""

    name: str
    source: str
    file: str  # the beginning of file names
    rows: list[Row]
    per_point: int
    series: dict[str, Any] | None
    cdf: dict[str, data.Columns]
    looks: Mapping[str, Look]
    chosen: list[str]

    def specs(self, *, still: bool) -> Iterator[tuple[str, Spec]]:
        """Yield each picture's kind, such as "time", and its Vega-Lite specification. If `still`, which is
        for a picture file, the specification contains its data."""
        title = printable(self.name) if still else ""  # a control character would crash the renderer
        if data.timer_rows(self.rows):
            yield "timer", charts.timer(self.rows, self.looks, title=title)
        if self.cdf:
            if still:
                yield "errors", self._still_errors(title)
            else:
                yield "errors", charts.errors(self.cdf, self.looks, self.chosen, still=False)
        if self.series:
            spec = charts.over_time(self.series, self.looks, self.chosen, still=still, title=title)
            if still:
                spec["datasets"] = {"band": data.band_rows(self.series), "lines": data.line_rows(self.series)}
            yield "time", spec

    def _still_errors(self, title: str) -> Spec:
        """Return the picture of prediction errors for a picture file, in which equal curves share a line."""
        names = data.alike(self.cdf)
        curves = {name: self.cdf[first] for first, name in names.items()}
        looks = {name: self.looks[first] for first, name in names.items()}
        chosen = [name for first, name in names.items() if {*name.split(", ")} & {*self.chosen}]
        spec = charts.errors(curves, looks, chosen, still=True, title=title)
        spec["datasets"] = {"cdf": data.cdf_rows(curves)}
        return spec

    def narrow(self, kind: str) -> Spec | None:
        """Return the picture of kind `kind` for narrow screens if it has names beside points, else None."""
        return charts.timer(self.rows, self.looks, width=charts.NARROW_WIDTH) if kind == "timer" else None


def safe(text: str) -> str:
    """Return `text` made fit for a file name: at most 80 letters, digits, dots and hyphens, with no dot at
    the ends."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:80].rstrip("-.") or "flow"


def gather(replay: Replay) -> list[FlowPictures]:
    """Return the pictures of all flows together (if there are several), and of each flow with a time
    series."""
    look = looks(row.estimator for row in [*replay.rows, *replay.totals])
    by_flow = flows(replay.rows)
    points = data.points_for(replay)

    def one(
        name: str, source: str, file: str, rows: list[Row], series: Series | None, of: list[Distribution]
    ) -> FlowPictures:
        measured = {row.estimator for row in rows} | {d.estimator for d in of}
        columns = data.series_columns(series, points) if series else None
        per_point = data.thinned(series, points).per_point if series else 1
        mine = {e: v for e, v in look.items() if e in measured}
        cdf = data.cdf_columns(of)
        return FlowPictures(name, source, file, rows, per_point, columns, cdf, mine, chosen(rows))

    distributions: dict[data.Key, list[Distribution]] = {}
    for d in replay.distributions:
        distributions.setdefault((d.source, d.flow), []).append(d)
    out = []
    if replay.totals and len(by_flow) + replay.unlisted.flows > 1:
        totals = [d for d in replay.distributions if d.flow == TOTAL]
        out.append(one("all flows together", "", "total", replay.totals, None, totals))
    for number, series in enumerate(replay.series, 1):
        key = series.source, series.flow
        file = f"flow{number}-{safe(series.flow)}"
        rows, of = by_flow.get(key, []), distributions.get(key, [])
        out.append(one(series.flow, series.source, file, rows, series, of))
    return out


def still_pictures(replay: Replay) -> Iterator[tuple[str, Spec]]:
    """Yield the file name (without suffix) and the complete specification of each picture of `replay`."""
    for part in gather(replay):
        for kind, spec in part.specs(still=True):
            yield f"{part.file}-{kind}", spec
    judged = misses.judged(replay)
    for n, label in enumerate(misses.timers(row for rows in judged for row in rows)):
        if spec_of_misses := misses.chart(judged, label):
            yield misses.file(n), spec_of_misses
