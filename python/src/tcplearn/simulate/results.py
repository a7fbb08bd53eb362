# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Checks and stores the output of the ns-3 program."""

import json
import shlex
from pathlib import Path
from typing import Any

from tcplearn.jobs import Job, Store, shape
from tcplearn.jobs.shape import Each, Maybe
from tcplearn.output.files import cache_folder
from tcplearn.simulate import engine

Json = dict[str, Any]

FORMAT = 2
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
    shape.check(found, _SHAPE)
    shape.check(found["run"]["cost"], Each(Maybe(float)), "run.cost")
    losses = found.get("losses") or {}
    rows, width = losses.get("rows") or [], len(losses.get("columns") or [])
    plain = (bool, int, float, str)
    if any(len(row) != width or not all(isinstance(v, plain) for v in row) for row in rows):
        raise ValueError("losses.rows does not fit losses.columns")


class RunStore(Store):
    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder or cache_folder(), FORMAT)

    def put_failed(self, job: Job, log: str = "") -> tuple[str, Path | None]:
        """Store the input of the failed run `job`; return the command that repeats it, and no log."""
        (document,) = job.arguments
        file = self._failed(job, ".json", json.dumps(document, indent=1) + "\n")
        return shlex.join([str(engine.program()), str(file)]), None
