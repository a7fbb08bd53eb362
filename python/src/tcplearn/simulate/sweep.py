# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Plans a sweep, which is all runs of some scenario files, and reads the stored results of its runs."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplearn.jobs import Done, Job, Kept, Progress
from tcplearn.jobs.runner import kept_of
from tcplearn.simulate import run_job, scenario
from tcplearn.simulate.models import Ftp, Manet, Requests, Web
from tcplearn.simulate.scenario import Run

Json = dict[str, Any]


@dataclass
class Sweep:
    runs: list[tuple[Run, str]]  # each run with the key of its job
    jobs: list[Job]  # each job once, in order of the seeds
    done: Done = field(default_factory=Done)

    def finished(self) -> list[tuple[Run, Json]]:
        return [(run, self.done.results[key]) for run, key in self.runs if key in self.done.results]


_STEP = 100  # the number of runs planned between two reports of progress


def plan(files: Iterable[Path], profile: str, progress: Progress | None = None) -> Sweep:
    """Return all runs of the scenario files `files` with the table of overrides named `profile`. Equal runs
    share one job."""
    runs: list[tuple[Run, str]] = []
    by_key: dict[str, tuple[int, Job]] = {}
    shared: run_job.Shared | None = None
    for file in files:
        for run in scenario.runs(file, profile):
            if shared is None or shared.scenario is not run.scenario:
                shared = run_job.Shared.of(run)
            if progress and len(runs) % _STEP == 0:
                progress(0.0, f"{len(runs)} runs planned")
            job = run_job.job(run, cost_s(run), shared)
            runs.append((run, job.key))
            by_key.setdefault(job.key, (run.seed, job))
    return Sweep(runs, [job for _, job in sorted(by_key.values(), key=lambda item: item[0])])


def stored(files: Iterable[Path], profile: str, kept: Kept, progress: Progress | None = None) -> Sweep:
    """Return all runs of the scenario files `files` with the table of overrides named `profile`, and those of
    their results that are in the store `kept`. Nothing is simulated."""
    sweep = plan(files, profile, progress)
    sweep.done.results = kept_of(sweep.jobs, kept, progress)
    return sweep


def cost_s(run: Run) -> float:
    """Return the approximate CPU time of `run` in seconds, from speeds measured on a machine of 2024."""
    s = run.scenario
    if isinstance(s.topology, Manet):
        steady, flows = (1.0, s.load.flows) if isinstance(s.load, Ftp) else (0.5, s.topology.nodes)
        connected = min(1.0, (s.topology.range_m / 250) ** 2)
        slow = 1.0 if s.topology.data_mode == "DsssRate11Mbps" else 0.35
        rate = connected * slow * (0.17 + 0.003 * flows) * steady
    elif isinstance(s.load, Web):
        return (s.load.connections + 60 * s.load.warmup_s) * 0.0015
    elif isinstance(s.load, Requests):
        return s.load.flows * min(s.load.count, s.duration_s / s.load.think_s) * 0.0001
    else:
        rate = 0.007 * s.topology.rate_mbps
    return s.duration_s * rate


def calibrated_hours(sweep: Sweep) -> tuple[float, int]:
    """Return the estimated CPU hours of the jobs of `sweep` that are not finished, and the number of these
    jobs. The estimate is scaled by the CPU time of the finished jobs."""
    finished = {key: result["run"]["cost"]["cpu_s"] for key, result in sweep.done.results.items()}
    estimated = sum(job.cost for job in sweep.jobs if job.key in finished)
    factor = sum(finished.values()) / estimated if estimated else 1.0
    left = [job.cost for job in sweep.jobs if job.key not in finished]
    return sum(left) * factor / 3600, len(left)
