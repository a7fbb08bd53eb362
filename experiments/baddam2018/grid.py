# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Repeats baddam2018's evaluation in the lab: downloads under changed kernels, and pings to several sites."""

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

TIME, RESENT, RESENT_AT_SENDER = "duration_s", "resent_at_receiver_packets", "resent_at_sender_packets"
BY_KERNEL, TIMEOUTS = "retransmitted_packets", "nstat.TcpExtTCPTimeouts"
METRICS = (TIME, RESENT, RESENT_AT_SENDER, BY_KERNEL, TIMEOUTS)
PINGS = ("ping_min_ms", "ping_mean_ms", "ping_max_ms")
#: The versions of the RTT estimator, by the end of the estimator's name, and their titles on the page.
VERSIONS = {"stock": "stock", "no-error": "without error", "magnitude": "corrected", "": "as written"}
RESAMPLES, SEED = 2000, 2018
#: Colours of Okabe and Ito's palette, which colour-blind readers can distinguish.
COLOURS = {"stock": "#000000", "without error": "#d55e00", "as written": "#e69f00", "corrected": "#0072b2"}
#: File name, title, metric and title of the axis.
CHARTS = (
    ("times", "Time of each download", TIME, "download, s"),
    ("resent", "Packets that the sender sent again, of each download", BY_KERNEL, "packets sent again"),
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


def version_of(estimator: str, versions: Mapping[str, str] = VERSIONS) -> str:
    return next(title for end, title in versions.items() if estimator.endswith(end))


@dataclass(frozen=True)
class Cell:
    """The downloads with one kernel and one version of the RTT estimator at one end of the connection."""

    kernel: str  # its congestion control: cubic, reno or vegas
    version: str
    at: str  # the end with the changed kernel: "sender" or "downloader"; "" for stock
    runs: Sequence[Run]  # in the order of their numbers

    def of(self, metric: str) -> Any:
        return np.array([run.metrics[metric] for run in self.runs])

    def shown(self, metric: str, digits: int) -> str:
        """Returns, as text, the mean ± standard deviation of `metric` over the downloads."""
        values = self.of(metric)
        spread = values.std(ddof=1) if len(values) > 1 else 0.0
        return f"{values.mean():.{digits}f} ± {spread:.{digits}f}"


def cells(runs: Sequence[Run]) -> list[Cell]:
    by_algorithm = grouped(sorted(runs, key=lambda run: run.run), lambda run: run.algorithm)
    out = []
    for algorithm, of in by_algorithm.items():
        kernel, estimator, *end = algorithm.split("+")
        version = version_of(estimator)
        at = "" if version == "stock" else "downloader" if end == ["receiver"] else "sender"
        out.append(Cell(kernel, version, at, of))
    return out


def _rows(of: Sequence[Cell]) -> Iterator[list[str]]:
    stock = {cell.kernel: cell.of(TIME) for cell in of if cell.version == "stock"}
    for cell in of:
        ratio = ""
        if cell.version != "stock":
            value, drawn = ratio_drawn(cell.of(TIME), stock[cell.kernel], SEED, RESAMPLES, paired=True)
            ratio = "{:.2f} [{:.2f}, {:.2f}]".format(value, *interval(drawn))
        counts = [cell.shown(metric, 1) for metric in (RESENT, RESENT_AT_SENDER, BY_KERNEL)]
        timeouts = f"{cell.of(TIMEOUTS).mean():.1f}"
        yield [cell.kernel, cell.version, cell.at, cell.shown(TIME, 2), ratio, *counts, timeouts]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    by_scenario = grouped(runs, lambda run: run.scenario)
    sanity = {name: of for name, of in by_scenario.items() if "places" in of[0].parameters["transfer"]}
    parts = {of[0].parameters["title"]: cells(of) for name, of in by_scenario.items() if name not in sanity}
    if not parts:
        return {}
    return {
        "kernels": ", ".join(sorted({run.host_version for run in runs})),
        "parts": parts,
        "rows": {title: list(_rows(of)) for title, of in parts.items()},
        "sanity": [_sanity(of, folder) for of in sanity.values()],
        "resamples": RESAMPLES,
        "figures": [
            Figure(f"figures/lab-{of}.svg", title, _chart(parts, *axis)) for of, title, *axis in CHARTS
        ],
    }


def _sanity(runs: Sequence[Run], folder: Path) -> list[list[str]]:
    """Returns a table row for each site, with its smallest, mean and largest RTT in ms: those of our `runs`,
    and those that the paper baddam2018 prints."""
    printed = {(b.kernel, b.site, b.version): (b.least, b.mean, b.most) for b in bursts(folder)}
    ours: dict[tuple[str, str], dict[str, list[float]]] = {}
    for run in runs:
        kernel, estimator, *_ = run.algorithm.split("+")
        version = ORIGINAL if estimator == "stock" else CHANGED
        for name, value in run.metrics.items():
            site, _, metric = name.rpartition(":")
            if metric in PINGS:
                ours.setdefault((kernel, site), {}).setdefault(version, []).append(value)
    out = []
    for (kernel, site), by_version in ours.items():
        row = [kernel, site]
        for version in (ORIGINAL, CHANGED):
            row.append(" / ".join(f"{value:.1f}" for value in by_version.get(version, ())))
            row.append(" / ".join(f"{value:g}" for value in printed[kernel, site, version]))
        out.append(row)
    return out


def _chart(parts: Mapping[str, Sequence[Cell]], metric: str, axis: str) -> Any:
    """Returns a chart of the `metric` of each download, with a panel for each kernel and traffic. `parts` has
    the downloads by the title of their scenario."""
    import altair as alt

    rows = []
    for title, of in parts.items():
        for cell in of:
            at = {"traffic": title.rpartition("; ")[2], "kernel": cell.kernel, "version": cell.version}
            at["at"] = f"at the {cell.at}" if cell.at else "stock"
            rows += [{**at, "value": value} for value in cell.of(metric).tolist()]
    colour = alt.Color("version:N", legend=alt.Legend(orient="top", title=None))
    header = alt.Header(title=None)
    traffics, kernels = (list(dict.fromkeys(row[name] for row in rows)) for name in ("traffic", "kernel"))
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=30)
        .encode(
            x=alt.X("value:Q", title=axis),
            y=alt.Y("at:N", title=None, sort=["stock", "at the sender", "at the downloader"]),
            yOffset=alt.YOffset("version:N", sort=list(COLOURS)),
            color=colour.scale(domain=list(COLOURS), range=list(COLOURS.values())),
        )
        .properties(width=220, height=100)
        .facet(
            row=alt.Row("kernel:N", sort=kernels, header=header),
            column=alt.Column("traffic:N", sort=traffics, header=header),
        )
        .resolve_scale(x="independent")
    )
    return chart.configure_view(stroke="#ddd").to_dict()
