# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Result rows of a sweep: tidy, one metric a row; and the table that people read."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tcplearn.output import rows as records
from tcplearn.simulate.interval import mean_interval

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tcplearn.simulate.scenario import Run
    from tcplearn.simulate.sweep import Sweep

Json = dict[str, Any]

FIELDS = (
    "paper",
    "scenario",
    "host",
    "algorithm",
    "run",
    "seed",
    "flow",
    "parameters",
    "metric",
    "value",
    "unit",
    "commit",
)
UNITS = (
    ("_ticks2", "ticks^2"),
    ("_ticks", "ticks"),
    ("_ms", "ms"),
    ("_bytes", "B"),
    ("_pps", "packets/s"),
    ("_s", "s"),
    ("_mib", "MiB"),
)

#: Of each metric: its column's head, digits, and what it is multiplied by.
COLUMNS = {
    "mean_error_ticks": ("error\nticks", 3, 1),
    "mean_error_ms": ("error\nms", 1, 1),
    "at_send_error_ms": ("at send\nms", 1, 1),
    "mean_rtt_ms": ("RTT\nms", 0, 1),
    "retransmitted_share": ("again\n%", 2, 100),
    "delivery_ratio": ("delivered\n%", 1, 100),
    "cwnd_bytes": ("cwnd\nB", 0, 1),
    "goodput_pps": ("goodput\npackets/s", 2, 1),
    "timeouts": ("timeouts", 0, 1),
    "spurious_timeouts": ("spurious", 1, 1),
}


def unit(metric: str) -> str:
    return next((u for suffix, u in UNITS if metric.endswith(suffix)), "1")


def parameters(run: Run) -> Json:
    return {"timing": run.timing, **run.labels}


def tidy(sweep: Sweep, *, flows: bool = False, cost: bool = False) -> list[Json]:
    """Rows of each run; with `flows` of each of its flows too. The cost differs from run to run."""
    out: list[Json] = []
    for run, result in sweep.finished():
        parts: list[tuple[str, Mapping[str, float]]] = [("all", result["run"]["metrics"])]
        if cost:
            parts.append(("all", result["run"]["cost"]))
        if flows:
            parts += [(str(flow["flow"]), flow["metrics"]) for flow in result["flows"]]
        head: Json = {
            "paper": run.document.paper,
            "scenario": run.document.name,
            "host": "ns3",
            "algorithm": run.algorithm,
            "run": result["key"],
            "seed": run.seed,
        }
        label = json.dumps(parameters(run), sort_keys=True)
        for flow, metrics in parts:
            for metric, value in metrics.items():
                row = {"metric": metric, "value": value, "unit": unit(metric), "commit": result["commit"]}
                out.append({**head, "flow": flow, "parameters": label, **row})
    return out


def to_json(rows: Sequence[Json]) -> str:
    return records.to_json(rows)


def to_csv(rows: Sequence[Json]) -> str:
    return records.to_csv(rows, FIELDS)


def to_parquet(rows: Sequence[Json]) -> bytes:
    import polars as pl

    out = io.BytesIO()
    types = {f: pl.String for f in FIELDS} | {"seed": pl.Int64, "value": pl.Float64}
    pl.DataFrame(list(rows), schema=types).write_parquet(out)
    return out.getvalue()


def document(sweep: Sweep) -> RenderableType:
    """A block for each load, variant and timing; mean and half interval over the seeds."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    blocks: dict[str, dict[str, list[Mapping[str, float]]]] = {}
    confidence = 0.9
    for run, result in sweep.finished():
        confidence = run.document.confidence
        told = "  ".join(f"{k}={v}" for k, v in parameters(run).items())
        block = blocks.setdefault(f"{run.document.name}  {told}", {})
        block.setdefault(run.algorithm, []).append(result["run"]["metrics"])
    parts: list[RenderableType] = []
    for title, algorithms in blocks.items():
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("algorithm", no_wrap=True, vertical="bottom")
        for head, _, _ in COLUMNS.values():
            table.add_column(head, justify="right", no_wrap=True)
        for algorithm, seeds in algorithms.items():
            table.add_row(algorithm, *(_cell(seeds, metric, confidence) for metric in COLUMNS))
        runs = sum(map(len, algorithms.values()))
        parts += [Text(f"{title}  {runs} runs", style="bold"), table, Text("")]
    if parts:
        parts.append(
            Text(
                f"±: {confidence:.0%} interval of the mean over the seeds; again: sent more than once.",
                style="dim",
            )
        )
    return Group(*parts)


def _cell(seeds: Sequence[Mapping[str, float]], metric: str, confidence: float) -> str:
    _, digits, scale = COLUMNS[metric]
    values = [m[metric] * scale for m in seeds if metric in m]
    if not values:
        return "-"
    mean, half = mean_interval(values, confidence)
    return f"{mean:.{digits}f}" if half is None else f"{mean:.{digits}f} ±{half:.{digits}f}"
