# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Result rows of a sweep: tidy, one metric a row; and the table that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tcplearn.metrics import NS3
from tcplearn.output.rows import TOTAL, Head, tidy
from tcplearn.simulate.interval import mean_interval

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tcplearn.simulate.scenario import Run
    from tcplearn.simulate.sweep import Sweep

Json = dict[str, Any]


#: Of each metric: its column's head, digits, and what it is multiplied by.
COLUMNS = {
    "mean_abs_error_ticks": ("error\nticks", 3, 1),
    "mean_abs_error_ms": ("error\nms", 1, 1),
    "at_send_error_ms": ("at send\nms", 1, 1),
    "mean_rtt_ms": ("RTT\nms", 0, 1),
    "retransmitted_share": ("again\n%", 2, 100),
    "delivery_ratio": ("delivered\n%", 1, 100),
    "mean_cwnd_bytes": ("cwnd\nB", 0, 1),
    "goodput_pps": ("goodput\npackets/s", 2, 1),
    "timeouts": ("timeouts", 0, 1),
    "spurious_timeouts": ("spurious", 1, 1),
}
#: The same of web connections.
WEB_COLUMNS = {
    "connections": ("connec-\ntions", 0, 1),
    "connections_syn_ack_lost": ("lost a\nSYN-ACK", 0, 1),
    "mean_response_syn_ack_lost_rtts": ("response\nRTTs", 2, 1),
    "mean_response_whole_syn_ack_lost_ms": ("whole\nms", 0, 1),
    "mean_response_studied_rtts": ("all\nRTTs", 2, 1),
    "link_loss_share": ("lost\n%", 2, 100),
    "link_utilisation": ("link used\n%", 1, 100),
    "connections_unfinished": ("unfinished", 0, 1),
}


def parameters(run: Run) -> Json:
    return {"timing": run.timing, **run.labels}


def of_sweep(sweep: Sweep, *, flows: bool = False, cost: bool = False) -> list[Json]:
    """Rows of each run; with `flows` of each of its flows too. The cost differs from run to run."""
    out: list[Json] = []
    for run, result in sweep.finished():
        parts: list[tuple[str, Mapping[str, float]]] = [(TOTAL, result["run"]["metrics"])]
        if cost:
            parts.append((TOTAL, result["run"]["cost"]))
        if flows:
            parts += [(str(flow["flow"]), flow["metrics"]) for flow in result["flows"]]
        head = Head(
            host=NS3,
            paper=run.document.paper,
            scenario=run.document.name,
            algorithm=run.algorithm,
            run=result["key"],
            seed=run.seed,
            parameters={**parameters(run), "tick_ms": run.scenario.tick_ms},
            version=result["version"] or "",
            commit=result["commit"],
        )
        for flow, metrics in parts:
            out += tidy(replace(head, flow=flow), metrics)
    return out


def document(sweep: Sweep, console: Console) -> RenderableType:
    """A block for each load, variant and timing; mean and half interval over the seeds."""
    from tcplearn.output import terminal
    from tcplearn.output.table import Cell, Column, Table

    blocks: dict[str, dict[str, list[Mapping[str, float]]]] = {}
    confidence = 0.9
    for run, result in sweep.finished():
        confidence = run.document.confidence
        where = "  ".join(f"{k}={v}" for k, v in parameters(run).items())
        block = blocks.setdefault(f"{run.document.name}  {where}", {})
        block.setdefault(run.algorithm, []).append(result["run"]["metrics"])
    tables, is_web = [], False
    for title, algorithms in blocks.items():
        is_web = any("connections" in seed for seeds in algorithms.values() for seed in seeds)
        shown = WEB_COLUMNS if is_web else COLUMNS
        columns = [Column("algorithm", words=True)]
        columns += [Column(head, label=head.replace("\n", ", ")) for head, _, _ in shown.values()]
        rows = [
            [
                Cell(algorithm),
                *(Cell(_cell(seeds, metric, look, confidence)) for metric, look in shown.items()),
            ]
            for algorithm, seeds in algorithms.items()
        ]
        tables.append(Table(columns, rows, title=f"{title}  {sum(map(len, algorithms.values()))} runs"))
    if tables:
        over = f"±: {confidence:.0%} interval of the mean over the seeds"
        tables[-1].legend = over + ("." if is_web else "; again: sent more than once.")
    return terminal.alike(tables, console)


def _cell(
    seeds: Sequence[Mapping[str, float]], metric: str, look: tuple[str, int, int], confidence: float
) -> str:
    _, digits, scale = look
    values = [m[metric] * scale for m in seeds if metric in m]
    if not values:
        return "-"
    mean, half = mean_interval(values, confidence)
    return f"{mean:.{digits}f}" if half is None else f"{mean:.{digits}f} ±{half:.{digits}f}"
