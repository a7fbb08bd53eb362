# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What `tcplearn simulate` does once its options are read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tcplearn.cli.common import write
from tcplearn.errors import FailedError, UserError, printable
from tcplearn.jobs import pool
from tcplearn.jobs.store import Store
from tcplearn.output import files
from tcplearn.simulate import engine, rows, sweep

ProgressBar = Callable[[bool], AbstractContextManager[Callable[[float, str], None] | None]]

#: Below this an estimate is not worth a line.
TELL_FROM_HOURS = 0.05


@dataclass(frozen=True)
class Options:
    profile: str = "quick"
    fresh: bool = False
    plan_only: bool = False
    format: str = "table"
    output: Path | None = None
    out: Path | None = None
    jobs: int = 0
    scheduler: str = ""
    slurm: int = 0
    flows: bool = False
    cost: bool = False
    quiet: bool = False


def simulate(
    scenario_files: list[Path], options: Options, progress_bar: ProgressBar, say: Callable[[str], None]
) -> str | bytes | None:
    """Raises UserError; where runs failed only after all the others are done and told."""
    if options.format == "parquet" and options.output is None and sys.stdout.isatty():
        raise UserError("Parquet is not for a terminal; add -o FILE or send it into a pipe")
    if options.scheduler and options.slurm:
        raise UserError("--scheduler and --slurm: give one of them")
    if options.output:
        files.check_writable(options.output)
    store = Store(options.out or engine.cache_folder())
    planned, jobs = sweep.plan(scenario_files, options.profile)
    if not options.fresh:
        planned.results = {key: found for key in jobs if (found := store.get(key))}
    hours, left = sweep.calibrated_hours(planned, jobs)
    if options.plan_only or (hours > TELL_FROM_HOURS and not options.quiet):
        where = printable(store.folder)
        say(f"{len(jobs)} runs, {left} to simulate, about {hours:.1f} CPU hours; results in {where}")
    if options.plan_only:
        return None
    engine.build()
    with progress_bar(options.quiet) as progress:
        sweep.run(
            planned, jobs, store, _pool(options, store), fresh=options.fresh, progress=progress, say=say
        )
    text = _rendered(planned, options)
    write(text, options.output)
    if planned.failures:
        raise FailedError(f"{len(planned.failures)} of {len(jobs)} runs failed; the others are on disk")
    return None


def _pool(options: Options, store: Store) -> pool.Pool:
    if options.scheduler:
        return pool.dask(options.scheduler)
    if options.slurm:
        return pool.slurm(options.slurm, store.folder / "slurm")
    return pool.local(options.jobs)


def _rendered(done: sweep.Sweep, options: Options) -> str | bytes:
    if options.format == "table":
        from tcplearn.output import terminal

        return terminal.to_text(lambda _: rows.document(done))
    tidy = rows.tidy(done, flows=options.flows, cost=options.cost)
    match options.format:
        case "json":
            return rows.to_json(tidy)
        case "csv":
            return rows.to_csv(tidy)
        case _:
            return rows.to_parquet(tidy)
