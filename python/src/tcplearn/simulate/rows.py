# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a table and result rows of a sweep (all runs of some scenario files). There is a row for each metric,
or for each fast retransmit, on which loss classifiers are trained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.errors import UserError, printable
from tcplearn.metrics import NS3
from tcplearn.output.rows import TOTAL, Head, tidy
from tcplearn.output.runs_table import Shown
from tcplearn.simulate.interval import mean_interval
from tcplearn.simulate.models import Requests, Web

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, RenderableType

    from tcplearn.output.table import Cell
    from tcplearn.simulate.scenario import Run
    from tcplearn.simulate.sweep import Sweep

Json = dict[str, Any]
COLUMNS = (
    Shown("mean_abs_error_ticks", "error", 3, keep=80),
    Shown("mean_abs_error_ms", "error", 1, keep=95),
    Shown("at_send_error_ms", "at send", 1, keep=40),
    Shown("mean_rtt_ms", "mean RTT", 0, keep=60),
    Shown("timeouts", "timeouts", 0, keep=90),
    Shown("spurious_timeouts", "spurious", 1, keep=85),
    Shown("retransmitted_share", "resent", 2, keep=70, percent=True),
    Shown("delivery_ratio", "delivered", 1, keep=20, percent=True),
    Shown("mean_cwnd_bytes", "mean cwnd", 0, keep=30),
    Shown("goodput_pps", "goodput", 2, keep=75),
)
WEB_COLUMNS = (
    Shown("connections", "begun", 0, keep=60),
    Shown("connections_syn_ack_lost", "SYN-ACK lost", 0, keep=90),
    Shown("mean_response_syn_ack_lost_rtts", "response", 2, keep=95),
    Shown("mean_response_whole_syn_ack_lost_ms", "whole", 0, keep=85),
    Shown("mean_response_studied_rtts", "all", 2, keep=70),
    Shown("link_loss_share", "lost", 2, keep=80, percent=True),
    Shown("link_utilisation", "link used", 1, keep=50, percent=True),
    Shown("connections_unfinished", "unfinished", 0, keep=40),
)
REQUEST_COLUMNS = (
    Shown("requests", "requests", 0, keep=90),
    Shown("median_response_ms", "median", 1, keep=60),
    Shown("p99_response_ms", "p99", 1, keep=95),
    Shown("p999_response_ms", "p99.9", 0, keep=80),
    Shown("slowest_response_ms", "slowest 2 %", 1, keep=94),
    Shown("needless_resends_permille", "spurious", 1, keep=85),
    Shown("mean_overrun_ms", "overrun", 0, keep=70),
    Shown("timeouts", "timeouts", 1, keep=50),
    Shown("queue_dropped_packets", "dropped", 0, keep=40),
)


def parameters(run: Run) -> Json:
    return {"timing": run.timing, **run.labels}


def of_sweep(sweep: Sweep, *, flows: bool = False, cost: bool = False) -> list[Json]:
    """Return a row for each metric of each finished run. `flows` adds rows for the metrics of each flow, and
    `cost` the CPU time and memory of each run."""
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
    """Return a table for each scenario, variant and timing (which ACKs give RTT samples, on which clock) in
    `sweep`. It has a row for each algorithm, with means over the seeds ± half the width of the confidence
    interval."""
    from tcplearn.output import terminal
    from tcplearn.output.table import Column, Table, text

    blocks: dict[str, dict[str, list[Mapping[str, float]]]] = {}
    last: Run | None = None
    for run, result in sweep.finished():
        last = run
        blocks.setdefault(_title(run), {}).setdefault(_name(run), []).append(result["run"]["metrics"])
    if last is None:
        return ""
    confidence = last.document.confidence
    chosen, legend = _SHOWN.get(type(last.scenario.load), (COLUMNS, LEGEND))
    columns = [Column("algorithm", words=True), Column("runs"), *(shown.column for shown in chosen)]
    tables = []
    for title, algorithms in blocks.items():
        rows = [
            [text(algorithm), text(str(len(seeds))), *(_cell(shown, seeds, confidence) for shown in chosen)]
            for algorithm, seeds in algorithms.items()
        ]
        tables.append(Table(columns, rows, title=title))
    tables[-1].legend = legend.format(confidence=confidence, tick_ms=last.scenario.tick_ms)
    return terminal.alike(tables, console)


LEGEND = (
    "Means over the runs, ± half their {confidence:.0%} interval; of all flows of a run. error: "
    "|prediction - sample|, a tick is {tick_ms:g} ms; at send: error of the prediction when the segment was "
    "sent; spurious: timeouts with nothing lost; resent, delivered: shares of the data packets sent."
)
WEB_LEGEND = (
    "Means over the runs, ± half their {confidence:.0%} interval. response: time of a connection that lost "
    "a SYN-ACK, in round trips, without the initial timer; whole: with it; all: of every connection; lost: "
    "share of packets dropped at the bottleneck."
)
REQUEST_LEGEND = (
    "Means over the runs, ± half their {confidence:.0%} interval; times in ms. median to slowest: response "
    "times at the application; spurious: segments in 1,000 that arrived again; overrun: from a fade's end to "
    "the timer's next retransmission; dropped: packets that the queue dropped."
)


_SHOWN = {Web: (WEB_COLUMNS, WEB_LEGEND), Requests: (REQUEST_COLUMNS, REQUEST_LEGEND)}  # by load
RESEND = "tcp.resend"  # the scenario key that names a row of the table in place of the algorithm


def _name(run: Run) -> str:
    return run.scenario.tcp.resend or run.algorithm


def _title(run: Run) -> str:
    of_file = run.document
    where = ", ".join(f"{key} {value}" for key, value in parameters(run).items() if key != RESEND)
    name = f"{of_file.paper}, " if of_file.paper else ""
    named = f": {of_file.title}" if of_file.title else ""
    return f"{name}scenario {of_file.name}{named}, simulated in ns-3; {where}"


def _cell(shown: Shown, seeds: Sequence[Mapping[str, float]], confidence: float) -> Cell:
    values = [metrics[shown.metric] for metrics in seeds if shown.metric in metrics]
    return shown.cell(*mean_interval(values, confidence)) if values else shown.cell(None)


def losses_of_sweep(sweep: Sweep) -> pl.DataFrame:
    """Return a row for each fast retransmit in the runs of `sweep`. Its `truth` is "congestion" if a queue
    dropped a packet that was in flight, else "random". Keep rows with the same `scenario` together in
    training or in test data."""
    import polars as pl

    parts = []
    for run, result in sweep.finished():
        losses = result.get("losses")
        if not losses or not losses["rows"]:
            continue
        varied = [value for key, value in run.labels.items() if key not in run.drawn]
        head = {
            "set": run.document.name,
            "scenario": " ".join(map(str, (run.document.name, *varied, run.seed))),
            "seed": run.seed,
            "run": result["key"],
            "parameters": json.dumps(parameters(run)),
        }
        part = pl.DataFrame(losses["rows"], schema=losses["columns"], orient="row")
        parts.append(part.select(*(pl.lit(v).alias(k) for k, v in head.items()), pl.all()))
    if not parts:
        raise UserError("no fast retransmit is recorded; give [scenario.loss] rows above 0")
    whole = pl.concat(parts, how="vertical_relaxed")
    truth = pl.when(pl.col("queue_drops") > 0).then(pl.lit("congestion")).otherwise(pl.lit("random"))
    return whole.with_columns(truth.alias("truth"))


def write_losses(sweep: Sweep, file: Path) -> None:
    from tcplearn.output.files import make_directory

    frame = losses_of_sweep(sweep)
    make_directory(file.parent)
    try:
        frame.write_parquet(file)
    except OSError as error:
        raise UserError(f"{printable(file)}: cannot be written: {error.strerror or error}") from error
