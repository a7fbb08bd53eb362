# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn simulate`, which simulates whole networks in ns-3."""

from pathlib import Path
from typing import Annotated

from tcplearn.cli import options
from tcplearn.cli.common import Outputs, Processors, progress_bar, say
from tcplearn.cli.options import FormatName, argument, flag, option
from tcplearn.errors import FailedError, printable

#: An estimate of fewer CPU hours is not printed.
ESTIMATED_FROM_HOURS = 0.05


def simulate(
    _: str,
    files: Annotated[list[Path], argument("SCENARIO...", "Scenario files (TOML).")],
    *,
    profile: Annotated[
        str, option("NAME", "smoke: seconds. quick: some time on two cores. full: the file's own grid.")
    ] = "quick",
    fresh: options.Fresh = False,
    plan: Annotated[bool, flag("Only print the number of runs and estimated CPU hours.", "--plan")] = False,
    format: options.Format = FormatName.table,
    output: options.Output = None,
    out: options.Kept = None,
    processors: Processors,
    flows: Annotated[bool, flag("Also write the rows of each flow.", "--flows")] = False,
    cost: Annotated[bool, flag("Also write CPU time, events and memory of each run.", "--cost")] = False,
    losses: Annotated[
        Path | None,
        option(
            "FILE.parquet",
            "Also write each fast retransmit: features, decision, and which hop dropped the packet.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Simulate whole networks in ns-3 under each estimator, over a grid of loads, variants of the scenario
    and seeds."""
    from tcplearn import provenance
    from tcplearn.jobs import run
    from tcplearn.simulate import engine, rows, sweep
    from tcplearn.simulate.results import RunStore

    outputs = Outputs(format, output)
    outputs.check()
    kept = RunStore(out)
    pool = processors.place().pool(kept.folder / "slurm")
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
