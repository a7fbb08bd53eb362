# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn simulate`, which simulates whole networks in ns-3."""

from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli import options
from tcplearn.cli.common import Outputs, Work, progress_bar, say
from tcplearn.cli.options import FormatName
from tcplearn.errors import FailedError, printable

#: An estimate of fewer CPU hours is not printed.
ESTIMATED_FROM_HOURS = 0.05


def simulate(
    files: Annotated[list[Path], typer.Argument(metavar="SCENARIO...", help="Scenario files (TOML).")],
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="smoke: seconds. quick: some time on two cores. full: the file's own grid."
        ),
    ] = "quick",
    fresh: options.Fresh = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only print the number of runs and estimated CPU hours.")
    ] = False,
    format: options.Format = FormatName.table,
    output: options.Output = None,
    out: options.Kept = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = "",
    slurm: options.Slurm = 0,
    flows: Annotated[bool, typer.Option("--flows", help="Also write the rows of each flow.")] = False,
    cost: Annotated[
        bool, typer.Option("--cost", help="Also write CPU time, events and memory of each run.")
    ] = False,
    losses: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.parquet",
            help="Also write each fast retransmit: features, decision, and which hop dropped the packet.",
            show_default=False,
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> Work:
    """Simulate whole networks in ns-3 under each estimator, over a grid of loads, variants of the scenario
    and seeds."""

    def work(_: str) -> None:
        from tcplearn import provenance
        from tcplearn.jobs import Place, run
        from tcplearn.simulate import engine, rows, sweep
        from tcplearn.simulate.results import RunStore

        outputs = Outputs(format, output)
        outputs.check()
        kept = RunStore(out)
        pool = Place(jobs or 0, scheduler, slurm).pool(kept.folder / "slurm")
        with progress_bar(quiet) as progress:
            if fresh:
                planned = sweep.plan(files, profile, progress)
            else:
                planned = sweep.stored(files, profile, kept, progress)
        hours, left = sweep.calibrated_hours(planned)
        if plan or (hours > ESTIMATED_FROM_HOURS and not quiet):
            size = f"{len(planned.jobs)} runs, {left} to simulate, about {hours:.1f} CPU hours"
            say(f"{size}; results in {printable(kept.folder)}")
        if plan:
            return
        engine.build()
        with progress_bar(quiet) as progress:
            planned.done = run(planned.jobs, kept, pool, fresh=fresh, progress=progress, say=say)
        outputs.write(
            lambda console: rows.document(planned, console),
            lambda: rows.of_sweep(planned, flows=flows, cost=cost),
            provenance.made_by(ns3=engine.ns3_version()),
        )
        if losses:
            rows.write_losses(planned, losses)
        if failures := planned.done.failures:
            raise FailedError(f"{len(failures)} of {len(planned.jobs)} runs failed; the others are stored")

    return work
