# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What is kept of runs, and how those of earlier versions are read."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from tcplearn.jobs import Job, Store, shape
from tcplearn.jobs.shape import Each, Maybe
from tcplearn.output.files import cache_folder
from tcplearn.simulate import engine

Json = dict[str, Any]

#: 2: metrics have the keys of tcplearn.metrics.
FORMAT = 2
_NAMES_OF_1 = {
    "mean_error_ms": "mean_abs_error_ms",
    "mean_error_ticks": "mean_abs_error_ticks",
    "mean_error_by_trial_ticks": "mean_abs_error_by_sample_ticks",
    "raw_error_ms": "mean_abs_error_unrounded_ms",
    "first_error_ms": "first_abs_error_ms",
    "cwnd_bytes": "mean_cwnd_bytes",
    "queue_bytes": "mean_queue_bytes",
}


_METRICS = Each(Maybe(float))
_SERIES = {"bin_s": float, "bytes": Maybe([Maybe(float)])}
_RUN = {
    "metrics": _METRICS,
    "cost": {"cpu_s": float},
    "cwnd_over_time": Maybe(_SERIES),
    "seconds": Maybe(Each([float])),
}
_FLOW = {"flow": int, "metrics": _METRICS, "state": Maybe(str), "lost": Maybe(str)}
_SHAPE = {"flows": [_FLOW], "run": _RUN, "losses": Maybe({"columns": Maybe([str]), "rows": Maybe([list])})}


def check(found: Json) -> None:
    """Raises ValueError where it is not what the program writes of a run."""
    shape.check(found, _SHAPE)
    shape.check(found["run"]["cost"], Each(Maybe(float)), "run.cost")
    losses = found.get("losses") or {}
    rows, width = losses.get("rows") or [], len(losses.get("columns") or [])
    plain = (bool, int, float, str)
    if any(len(row) != width or not all(isinstance(v, plain) for v in row) for row in rows):
        raise ValueError("losses.rows are not of its columns")


class RunStore(Store):
    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder or cache_folder(), FORMAT, _upgraded)

    def put_failed(self, job: Job, log: str = "") -> tuple[str, Path | None]:
        """By the program itself, which can so be looked at in a debugger."""
        (document,) = job.arguments
        file = self._failed(job, ".json", json.dumps(document, indent=1) + "\n")
        return shlex.join([str(engine.program()), str(file)]), None


def _upgraded(found: Json, format: int) -> Json:
    if format != 1:
        raise ValueError(f"results of format {format}: made by a later version")
    run = {**found["run"], "metrics": _renamed(found["run"]["metrics"])}
    flows = [{**flow, "metrics": _renamed(flow["metrics"])} for flow in found["flows"]]
    return {**found, "run": run, "flows": flows}


def _renamed(metrics: Json) -> Json:
    return {_NAMES_OF_1.get(name, name): value for name, value in metrics.items()}
