# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows of the lab as a table for people: mean and standard deviation over the runs."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

#: What the table shows, of all that is measured: metric, heading, digits.
SHOWN = (
    ("mean_abs_error_ms", "error ms", 2),
    ("mean_abs_error_ticks", "ticks", 2),
    ("mean_cwnd_segments", "cwnd", 1),
    ("retransmitted_packets", "retransmissions", 1),
    ("nstat.TcpExtTCPTimeouts", "timeouts", 1),
    ("goodput_mbps", "Mbit/s", 2),
    ("mean_rtt_ms", "RTT ms", 1),
    ("mean_rto_ms", "RTO ms", 1),
)

Row = Mapping[str, Any]
#: Mean, standard deviation, number of values.
Summary = tuple[float, float, int]


def has_probes(parameters: str) -> bool:
    return bool(json.loads(parameters)["tlp"])


def summary(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, Summary]]:
    """(algorithm, parameters) -> metric -> over the runs. A counter that is absent is 0."""
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    runs: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        key = (row["algorithm"], row["parameters"])
        runs.setdefault(key, set()).add(row["run"])
        if row["value"] is not None:
            groups.setdefault(key, {}).setdefault(row["metric"], []).append(row["value"])
    out: dict[tuple[str, str], dict[str, Summary]] = {}
    for key, metrics in groups.items():
        count = len(runs[key])
        for metric, values in metrics.items():
            if metric.startswith("nstat."):
                values = values + [0.0] * (count - len(values))
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            out.setdefault(key, {})[metric] = (statistics.fmean(values), spread, len(values))
    return out


def document(rows: Sequence[Row], console: Console) -> Any:
    from tcplearn.output import terminal
    from tcplearn.output.table import Table, headed, text

    found = summary(rows)
    measured = {metric for metrics in found.values() for metric in metrics}
    shown = [s for s in SHOWN if s[0] in measured or s[0].startswith("nstat.")]
    out = Table(headed("algorithm", "TLP", "runs", *(heading for _, heading, _ in shown), words=(0, 1)))
    for (algorithm, parameters), metrics in found.items():
        cells = [algorithm, "on" if has_probes(parameters) else "off", str(metrics["duration_s"][2])]
        for metric, _, digits in shown:
            mean, spread, count = metrics.get(metric, (0.0, 0.0, 0))
            if not count and not metric.startswith("nstat."):
                cells.append("")
                continue
            cells.append(f"{mean:.{digits}f}" + (f" ± {spread:.{digits}f}" if count > 1 else ""))
        out.rows.append([text(cell) for cell in cells])
    return terminal.titled(out, console)
