# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A sweep: the runs of scenario files, those already on disk read, the others simulated."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplearn.jobs.pool import Pool
from tcplearn.jobs.store import Store
from tcplearn.simulate import engine, scenario
from tcplearn.simulate.models import Ftp, Manet
from tcplearn.simulate.scenario import Run

Json = dict[str, Any]
Progress = Callable[[float, str], None]


@dataclass
class Sweep:
    runs: list[tuple[Run, str]]  # with its key
    results: dict[str, Json] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)  # a line each

    def finished(self) -> list[tuple[Run, Json]]:
        return [(run, self.results[key]) for run, key in self.runs if key in self.results]


def plan(files: Iterable[Path], profile: str) -> tuple[Sweep, dict[str, tuple[Run, Json]]]:
    """All runs, and by key each that is to be simulated, first seeds first."""
    runs: list[tuple[Run, str]] = []
    jobs: dict[str, tuple[Run, Json]] = {}
    for file in files:
        for run in scenario.runs(file, profile):
            job = engine.job(run)
            runs.append((run, job.key))
            jobs.setdefault(job.key, (run, job.document))
    return Sweep(runs), dict(sorted(jobs.items(), key=lambda item: item[1][0].seed))


def stored(files: Iterable[Path], profile: str, store: Store) -> Sweep:
    """What is on disk of a profile, nothing simulated."""
    sweep, jobs = plan(files, profile)
    sweep.results = {key: found for key in jobs if (found := store.get(key))}
    return sweep


def run(
    sweep: Sweep,
    jobs: Mapping[str, tuple[Run, Json]],
    store: Store,
    pool: Pool,
    *,
    fresh: bool = False,
    progress: Progress | None = None,
    say: Callable[[str], None] = print,
) -> None:
    if not fresh:
        sweep.results = {key: found for key in jobs if (found := store.get(key))}
    todo = {key: document for key, (_, document) in jobs.items() if key not in sweep.results}
    costs = {key: cost_s(jobs[key][0]) for key in todo}
    total, spent = sum(costs.values()) or 1.0, 0.0
    for key, result in pool(todo):
        spent += costs[key]
        if "error" in result:
            line = _failure(jobs[key][0], result["error"], store.keep_failed(key, todo[key]))
            sweep.failures.append(line)
            say(line)
        else:
            sweep.results[key] = store.put(key, todo[key], result)
        if progress:
            progress(min(1.0, spent / total), f"{len(sweep.results)} of {len(jobs)} runs")


def _failure(run: Run, error: str, kept: Path) -> str:
    labels = ", ".join(f"{k}={v}" for k, v in run.labels.items())
    again = shlex.join([str(engine.program()), str(kept)])
    return (
        f"{run.file}: {run.algorithm}, {run.timing}{', ' if labels else ''}{labels}, seed {run.seed}: "
        f"{error}; again: {again}"
    )


def cost_s(run: Run) -> float:
    """CPU seconds, roughly: measured rates for each simulated second on a machine of 2024."""
    s = run.scenario
    if isinstance(s.topology, Manet):
        steady, flows = (1.0, s.load.flows) if isinstance(s.load, Ftp) else (0.5, s.topology.nodes)
        connected = min(1.0, (s.topology.range_m / 250) ** 2)
        slow = 1.0 if s.topology.data_mode == "DsssRate11Mbps" else 0.35
        rate = connected * slow * (0.17 + 0.003 * flows) * steady
    else:
        rate = 0.007 * s.topology.rate_mbps
    return s.duration_s * rate


def calibrated_hours(sweep: Sweep, jobs: Mapping[str, tuple[Run, Json]]) -> tuple[float, int]:
    """CPU hours of what is not on disk, scaled by what the finished runs took; and how many runs."""
    known = [(cost_s(jobs[k][0]), r["run"]["cost"]["cpu_s"]) for k, r in sweep.results.items()]
    estimated, took = sum(k[0] for k in known), sum(k[1] for k in known)
    factor = took / estimated if estimated else 1.0
    left = [cost_s(run) for key, (run, _) in jobs.items() if key not in sweep.results]
    return sum(left) * factor / 3600, len(left)
