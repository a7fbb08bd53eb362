# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shows rows of the lab as a table: mean and standard deviation over the runs."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tcplearn.output.runs_table import Shown

from . import pages, requests

if TYPE_CHECKING:
    from rich.console import Console

    from tcplearn.output.table import Cell

COLUMNS = (
    Shown("mean_abs_error_ms", "error", 2, keep=95),
    Shown("mean_abs_error_ticks", "error", 2, keep=80),
    Shown("mean_rto_ms", "mean RTO", 1, keep=85),
    Shown("nstat.TcpExtTCPTimeouts", "timeouts", 1, keep=90),
    Shown("retransmitted_packets", "resent", 1, keep=70),
    Shown("goodput_mbps", "goodput", 2, keep=75),
    *requests.COLUMNS,
    *pages.COLUMNS,
    Shown("mean_rtt_ms", "mean RTT", 1, keep=60),
    Shown("mean_cwnd_segments", "mean cwnd", 1, keep=30),
)
LEGEND = (
    "Means over the runs ± their standard deviation. algorithm: congestion control + timer; stock: the "
    "kernel's own timer, measured by the module; none: without the module; TLP: tail loss probes; error: "
    "|prediction - sample|"
)

PAGES = "pages"  # only rows for pages of one size have it; kernel counters cover all sizes together

Row = Mapping[str, Any]
Summary = tuple[float, float, int]  # (mean, standard deviation, number of values)
ByRun = dict[tuple[str, str], dict[str, dict[str, float]]]


def has_probes(parameters: str) -> bool:
    return bool(json.loads(parameters)["tlp"])


def by_run(rows: Sequence[Row]) -> ByRun:
    """Return the values by (algorithm, parameters), metric and run; a missing kernel counter is 0."""
    out: ByRun = {}
    runs: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        key = (row["algorithm"], row["parameters"])
        runs.setdefault(key, {})[row["run"]] = None
        if row["value"] is not None:
            out.setdefault(key, {}).setdefault(row["metric"], {})[row["run"]] = row["value"]
    for key, metrics in out.items():
        for metric, values in metrics.items():
            if metric.startswith("nstat."):
                metrics[metric] = dict.fromkeys(runs[key], 0.0) | values
    return out


def summary(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, Summary]]:
    return {
        key: {metric: _over(list(values.values())) for metric, values in metrics.items()}
        for key, metrics in by_run(rows).items()
    }


def _over(values: Sequence[float]) -> Summary:
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0, len(values)


def document(rows: Sequence[Row], console: Console, title: str = "") -> Any:
    from tcplearn.output import terminal
    from tcplearn.output.table import Column, Table, text

    found = summary(rows)
    measured = {metric for metrics in found.values() for metric in metrics}
    shown = [s for s in COLUMNS if s.metric in measured or _counter(s)]
    head = [Column("algorithm", words=True), Column("TLP", words=True, keep=50), Column("runs")]
    out = Table([*head, *(s.column for s in shown)], title=_title(rows, title), legend=_legend(rows))
    for (algorithm, parameters), metrics in found.items():
        probes = "on" if has_probes(parameters) else "off"
        count = max(count for _, _, count in metrics.values())
        of_size = f", {json.loads(parameters)['bytes'] / 1000:g} kB" if PAGES in metrics else ""
        cells = [text(algorithm + of_size), text(probes), text(str(count))]
        out.rows.append([*cells, *(_cell(s, metrics) for s in shown)])
    return terminal.titled(out, console)


def _counter(shown: Shown) -> bool:
    return shown.metric.startswith("nstat.")


def _cell(shown: Shown, metrics: Mapping[str, Summary]) -> Cell:
    if shown.metric not in metrics:
        return shown.cell(0.0 if _counter(shown) and PAGES not in metrics else None)
    mean, spread, count = metrics[shown.metric]
    return shown.cell(mean, spread if count > 1 else None)


def _title(rows: Sequence[Row], title: str) -> str:
    if not rows:
        return ""
    first, parameters = rows[0], json.loads(rows[0]["parameters"])
    name = ", ".join(filter(None, (first["paper"], f"scenario {first['scenario']}")))
    kernel = f"Linux {parameters['kernel']} in virtual time"
    size = "" if any(row["metric"] == PAGES for row in rows) else f"; {parameters['bytes'] / 1e6:g} MB each"
    return f"{name}{f': {title}' if title else ''}, {kernel}{size}"


def _legend(rows: Sequence[Row]) -> str:
    ticks = {json.loads(row["parameters"]).get("tick_ms") for row in rows} - {None}
    return LEGEND + "".join(f", a tick is {tick:g} ms" for tick in sorted(ticks)) + "."
