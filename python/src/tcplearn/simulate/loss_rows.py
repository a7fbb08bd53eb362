# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes a row for each fast retransmit of a sweep, on which loss classifiers are trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.errors import UserError, printable
from tcplearn.simulate.rows import parameters

if TYPE_CHECKING:
    import polars as pl

    from tcplearn.simulate.scenario import Run
    from tcplearn.simulate.sweep import Sweep

Json = dict[str, Any]


def of_sweep(sweep: Sweep) -> pl.DataFrame:
    """Return a row for each fast retransmit. `truth` is "congestion" if a queue dropped a packet of the
    window. A split into training and test data must keep rows with the same `scenario` together."""
    import polars as pl

    parts = []
    for run, result in sweep.finished():
        losses = result.get("losses")
        if not losses or not losses["rows"]:
            continue
        head = {
            "set": run.document.name,
            "scenario": " ".join(map(str, (run.document.name, *_varied(run), run.seed))),
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


def _varied(run: Run) -> list[Any]:
    return [value for key, value in run.labels.items() if key not in run.drawn]


def write(sweep: Sweep, file: Path) -> None:
    from tcplearn.output.files import make_directory

    frame = of_sweep(sweep)
    make_directory(file.parent)
    try:
        frame.write_parquet(file)
    except OSError as error:
        raise UserError(f"{printable(file)}: cannot be written: {error.strerror or error}") from error
