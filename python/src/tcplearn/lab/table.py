# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shows the results of `tcplearn lab` as a table: metrics' means and standard deviations over runs."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
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
Key = tuple[str, str]  # (algorithm, parameters)


def summary(rows: Sequence[Row]) -> dict[Key, dict[str, Summary]]:
    """Return, for each algorithm and metric in `rows`, the mean and standard deviation over the runs, and the
    number of values. A kernel counter that is missing in a run counts as 0."""
    runs: dict[Key, set[str]] = defaultdict(set)
    by_run: dict[Key, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        key = (row["algorithm"], row["parameters"])
        runs[key].add(row["run"])
        if row["value"] is not None:
            by_run[key][row["metric"]][row["run"]] = row["value"]
    out: dict[Key, dict[str, Summary]] = {key: {} for key in by_run}
    for key, metrics in by_run.items():
        for metric, of in metrics.items():
            missing = len(runs[key]) - len(of) if _is_counter(metric) else 0
            values = [*of.values(), *[0.0] * missing]
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            out[key][metric] = (statistics.fmean(values), spread, len(values))
    return out


def document(rows: Sequence[Row], console: Console, title: str = "") -> Any:
    from tcplearn.output import terminal
    from tcplearn.output.table import Column, Table, text

    found = summary(rows)
    measured = {metric for metrics in found.values() for metric in metrics}
    shown = [s for s in COLUMNS if s.metric in measured or _is_counter(s.metric)]
    head = [Column("algorithm", words=True), Column("TLP", words=True, keep=50), Column("runs")]
    out = Table([*head, *(s.column for s in shown)], title=_title(rows, title), legend=_legend(rows))
    for (algorithm, parameters), metrics in found.items():
        given = json.loads(parameters)
        count = max(count for _, _, count in metrics.values())
        of_size = f", {given['bytes'] / 1000:g} kB" if PAGES in metrics else ""
        cells = [text(algorithm + of_size), text("on" if given["tlp"] else "off"), text(str(count))]
        out.rows.append([*cells, *(_cell(s, metrics) for s in shown)])
    return terminal.titled(out, console)


def _is_counter(metric: str) -> bool:
    return metric.startswith("nstat.")


def _cell(shown: Shown, metrics: Mapping[str, Summary]) -> Cell:
    if shown.metric not in metrics:
        return shown.cell(0.0 if _is_counter(shown.metric) and PAGES not in metrics else None)
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
