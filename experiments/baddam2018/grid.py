# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Repeats baddam2018's evaluation in the lab: downloads under changed kernels, and pings to several sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.baddam2018.published import CHANGED, ORIGINAL, bursts
from experiments.lib.batches import Batch, Figures, LabRuns
from experiments.lib.pages import Figure
from experiments.lib.runs import Run, grouped
from experiments.lib.statistics import interval, ratio_drawn
from tcplearn.output.markdown import table_of

TIME, RESENT, RESENT_AT_SENDER = "duration_s", "resent_at_receiver_packets", "resent_at_sender_packets"
RESENT_BY_KERNEL, TIMEOUTS = "retransmitted_packets", "nstat.TcpExtTCPTimeouts"
METRICS = (TIME, RESENT, RESENT_AT_SENDER, RESENT_BY_KERNEL, TIMEOUTS)
PINGS = ("ping_min_ms", "ping_mean_ms", "ping_max_ms")
#: The versions of the RTT estimator, by the end of the estimator's name, and their titles on the page.
VERSIONS = {"no-error": "without error", "magnitude": "corrected", "": "as written"}
ENDS = {"": "", "sender": "sender", "receiver": "downloader"}
HEAD = (
    "kernel", "version", "changed at", "download, s", "to stock's", "resent, at the downloader",
    "at the sender", "by the kernel", "timeouts",
)  # fmt: skip
RESAMPLES, SEED = 2000, 2018
#: Colours of Okabe and Ito's palette, which colour-blind readers can distinguish.
COLOURS = {"stock": "#000000", "without error": "#d55e00", "as written": "#e69f00", "corrected": "#0072b2"}
CHARTS = (
    ("lab-times.svg", "Time of each download", TIME, "download, s"),
    (
        "lab-resent.svg",
        "Packets that the sender sent again, of each download",
        RESENT_BY_KERNEL,
        "packets sent again",
    ),
)


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns those of a run's metrics `measured` that are stored: those of its download, with 0 for a
    missing metric, and those of its pings."""
    pings = {name: value for name, value in measured.items() if name.rpartition(":")[2] in PINGS}
    return {name: measured.get(name) or 0.0 for name in METRICS} | pings, {}


def batches(folder: Path, profile: str) -> list[Batch]:
    profiles = [profile] if profile else ["full", "low", "high"]
    grid = [LabRuns(folder / "grid.toml", name, keep) for name in profiles]
    return [*grid, LabRuns(folder / "sanity.toml", profile or "full", keep)]


def version_of(estimator: str) -> str:
    if estimator == "stock":
        return "stock"
    return VERSIONS[next((e for e in VERSIONS if e and estimator.endswith(e)), "")]


@dataclass(frozen=True)
class Cell:
    """The downloads (`runs`, in order) with one kernel and one `version` of the RTT estimator at one end of
    the connection. `kernel` is the name of its congestion control: cubic, reno or vegas."""

    kernel: str
    version: str
    at: str  # the end with the changed kernel: "sender" or "receiver"; "" for stock
    runs: Sequence[Run]

    def of(self, metric: str) -> Any:
        return np.array([run.metrics[metric] for run in self.runs])

    def shown(self, metric: str, digits: int) -> str:
        """Returns the mean ± standard deviation of `metric` over the downloads as text, with `digits`
        decimals."""
        values = self.of(metric)
        spread = values.std(ddof=1) if len(values) > 1 else 0.0
        return f"{values.mean():.{digits}f} ± {spread:.{digits}f}"


def cells(runs: Sequence[Run]) -> list[Cell]:
    by_algorithm = grouped(sorted(runs, key=lambda run: run.run), lambda run: run.algorithm)
    out = []
    for algorithm, of in by_algorithm.items():
        kernel, estimator, *end = algorithm.split("+")
        version = version_of(estimator)
        out.append(Cell(kernel, version, "" if version == "stock" else (end or ["sender"])[0], of))
    return out


def _rows(of: Sequence[Cell]) -> Iterator[list[str]]:
    stock = {cell.kernel: cell for cell in of if cell.version == "stock"}
    for cell in of:
        ratio = ""
        if cell.version != "stock":
            base = stock[cell.kernel]
            value, drawn = ratio_drawn(cell.of(TIME), base.of(TIME), SEED, RESAMPLES, paired=True)
            ratio = "{:.2f} [{:.2f}, {:.2f}]".format(value, *interval(drawn))
        counts = [cell.shown(metric, 1) for metric in (RESENT, RESENT_AT_SENDER, RESENT_BY_KERNEL)]
        timeouts = f"{cell.of(TIMEOUTS).mean():.1f}"
        yield [cell.kernel, cell.version, ENDS[cell.at], cell.shown(TIME, 2), ratio, *counts, timeouts]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    by_scenario = grouped(runs, lambda run: run.scenario)
    sanity = {name: of for name, of in by_scenario.items() if "places" in of[0].parameters["transfer"]}
    parts = {of[0].parameters["title"]: cells(of) for name, of in by_scenario.items() if name not in sanity}
    if not parts:
        return {}
    figures = [Figure(f"figures/{file}", title, _chart(parts, *of)) for file, title, *of in CHARTS]
    return {
        "kernels": ", ".join(sorted({run.host_version for run in runs})),
        "parts": [
            {
                "title": title,
                "bytes": of[0].runs[0].parameters["transfer"]["bytes"],
                "runs": len(of[0].runs),
                "table": table_of(HEAD, list(_rows(of)), [True] * 3 + [False] * 6),
            }
            for title, of in parts.items()
        ],
        "sanity": [_sanity(of, folder) for of in sanity.values()],
        "resamples": RESAMPLES,
        "figures": figures,
    }


def _sanity(runs: Sequence[Run], folder: Path) -> str:
    """Returns a table of the smallest, mean and largest RTT of each site in ms: those of our `runs`, and
    those that the paper baddam2018 prints."""
    printed = {(b.kernel, b.site, b.version): (b.least, b.mean, b.most) for b in bursts(folder)}
    ours: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        kernel, estimator, *_ = run.algorithm.split("+")
        version = ORIGINAL if estimator == "stock" else CHANGED
        for name, value in run.metrics.items():
            site, _, metric = name.rpartition(":")
            if metric in PINGS:
                ours.setdefault((kernel, site, version), []).append(value)
    out = []
    for kernel, site in dict.fromkeys((kernel, site) for kernel, site, _ in ours):
        row = [kernel, site]
        for version in (ORIGINAL, CHANGED):
            row.append(" / ".join(f"{value:.1f}" for value in ours.get((kernel, site, version), ())))
            row.append(" / ".join(f"{value:g}" for value in printed[kernel, site, version]))
        out.append(row)
    return table_of(["kernel", "site", "original", "paper's", "changed", "paper's"], out)


def _chart(parts: Mapping[str, Sequence[Cell]], metric: str, axis: str) -> Any:
    """Returns a chart with a panel for each kernel and traffic; a panel has a point for each download. The x
    axis, with the title `axis`, shows the number `metric` of a download. `parts` has the downloads by the
    title of their scenario."""
    import altair as alt

    ends = {"": "stock", "sender": "at the sender", "receiver": "at the downloader"}
    rows = []
    for title, of in parts.items():
        for cell in of:
            at = {"traffic": title.rpartition("; ")[2], "kernel": cell.kernel, "version": cell.version}
            rows += [{**at, "at": ends[cell.at], "value": value} for value in cell.of(metric).tolist()]
    colour = alt.Color("version:N", legend=alt.Legend(orient="top", title=None)).scale(
        domain=list(COLOURS), range=list(COLOURS.values())
    )
    header = alt.Header(title=None)
    traffics, kernels = (list(dict.fromkeys(row[name] for row in rows)) for name in ("traffic", "kernel"))
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=30)
        .encode(
            x=alt.X("value:Q", title=axis),
            y=alt.Y("at:N", title=None, sort=list(ends.values())),
            yOffset=alt.YOffset("version:N", sort=list(COLOURS)),
            color=colour,
        )
        .properties(width=220, height=100)
        .facet(
            row=alt.Row("kernel:N", sort=kernels, header=header),
            column=alt.Column("traffic:N", sort=traffics, header=header),
        )
        .resolve_scale(x="independent")
    )
    return chart.configure_view(stroke="#ddd").to_dict()
