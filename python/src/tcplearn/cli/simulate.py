# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn simulate` and `tcplearn papers`: parse, and import the rest only when there is work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli.common import Work, progress_bar, say
from tcplearn.cli.options import FormatName as Format
from tcplearn.errors import UserError


def simulate(
    files: Annotated[list[Path], typer.Argument(metavar="SCENARIO...", help="Scenario files (TOML).")],
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="smoke: seconds. quick: two cores for a while. full: the file's own grid."
        ),
    ] = "quick",
    fresh: Annotated[bool, typer.Option("--fresh", help="Simulate again what is on disk already.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say how many runs and CPU hours, and leave.")] = False,
    format: Annotated[Format, typer.Option(help="How the results are written.")] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the results here, not to the screen."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep finished runs here, not in the user's cache.", show_default=False
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", metavar="N", min=0, help="Runs at a time on this machine; 0: its cores."
        ),
    ] = 0,
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster.", show_default=False)
    ] = "",
    slurm: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Run as N Slurm jobs, by dask-jobqueue.", show_default=False),
    ] = 0,
    flows: Annotated[bool, typer.Option("--flows", help="Add the rows of each flow.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Add CPU time, events and memory.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors only.")] = False,
) -> Work:
    """Simulate whole networks in ns-3 under each estimator: a sweep over loads, variants and seeds."""

    def work(_: str) -> None:
        from tcplearn.simulate import command

        options = command.Options(
            profile, fresh, plan, format.value, output, out, jobs, scheduler, slurm, flows, cost, quiet
        )
        command.simulate(files, options, progress_bar, say)

    return work


def papers(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="nunes2014")],
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="Whose runs are drawn: as of `tcplearn simulate`.")
    ] = "quick",
    scenarios: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The paper's scenario files.", show_default="papers/PAPER"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where runs are kept.", show_default="the user's cache")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write here.", show_default="out/papers/PAPER"),
    ] = None,
) -> Work:
    """Draw a paper's figures from the runs that exist, its printed numbers beside ours: a Markdown page."""

    def work(_: str) -> None:
        if paper != "nunes2014":
            raise UserError(f"no figures of {paper!r}; there is nunes2014")
        from tcplearn.jobs.store import Store
        from tcplearn.papers import nunes2014
        from tcplearn.simulate import engine

        folder = scenarios or engine.ROOT / "papers" / paper
        store = Store(out or engine.cache_folder())
        say(nunes2014.write(folder, profile, store, output or Path("out") / "papers" / paper))

    return work
