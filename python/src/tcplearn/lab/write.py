# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Rows of the lab as a table for people, or JSON, CSV and Parquet."""

from __future__ import annotations

import dataclasses
import io
import statistics
from collections.abc import Sequence
from typing import Any

from tcplearn.output import rows as records

from .results import Row

#: What the table shows, of all that is measured: metric, heading, digits.
SHOWN = (
    ("mean_abs_error_ticks", "error (4 ms ticks)", 2),
    ("mean_cwnd", "cwnd", 1),
    ("retransmissions", "retransmissions", 1),
    ("nstat.TcpExtTCPTimeouts", "timeouts", 1),
    ("goodput", "Mbit/s", 2),
    ("mean_rtt", "RTT ms", 1),
    ("mean_rto", "RTO ms", 1),
)


def to_json(rows: Sequence[Row]) -> str:
    """An array of tidy rows, one on a line."""
    return records.to_json(map(dataclasses.asdict, rows))


def to_csv(rows: Sequence[Row]) -> str:
    names = [f.name for f in dataclasses.fields(Row)]
    return records.to_csv(list(map(dataclasses.asdict, rows)), names)


def to_parquet(rows: Sequence[Row]) -> bytes:
    import polars as pl

    out = io.BytesIO()
    pl.DataFrame([dataclasses.asdict(row) for row in rows], infer_schema_length=None).write_parquet(out)
    return out.getvalue()


def summary(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, tuple[float, float, int]]]:
    """(algorithm, parameters) -> metric -> mean, standard deviation, runs. A counter that is absent is 0."""
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    runs: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        key = (row.algorithm, row.parameters)
        runs.setdefault(key, set()).add(row.run)
        if row.value is not None:
            groups.setdefault(key, {}).setdefault(row.metric, []).append(row.value)
    out: dict[tuple[str, str], dict[str, tuple[float, float, int]]] = {}
    for key, metrics in groups.items():
        count = len(runs[key])
        for metric, values in metrics.items():
            if metric.startswith("nstat."):
                values = values + [0.0] * (count - len(values))
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            out.setdefault(key, {})[metric] = (statistics.fmean(values), spread, len(values))
    return out


def table(rows: Sequence[Row]) -> Any:
    """Mean and standard deviation over the runs."""
    from rich.table import Table
    from rich.text import Text

    out = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("algorithm", "TLP", "runs", *(heading for _, heading, _ in SHOWN)):
        out.add_column(heading, justify="left" if heading in ("algorithm", "TLP") else "right", no_wrap=True)
    for (algorithm, parameters), metrics in summary(rows).items():
        cells = [algorithm, "on" if "tlp=on" in parameters else "off", str(metrics["duration"][2])]
        for metric, _, digits in SHOWN:
            mean, spread, count = metrics.get(metric, (0.0, 0.0, 0))
            if not count and not metric.startswith("nstat."):
                cells.append("")
                continue
            cells.append(f"{mean:.{digits}f}" + (f" ± {spread:.{digits}f}" if count > 1 else ""))
        out.add_row(*map(Text, cells))
    return out
