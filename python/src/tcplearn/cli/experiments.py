# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn experiments`, which does an experiment's runs and writes its pages."""

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tcplearn.checkout import IS_CHECKOUT, ROOT
from tcplearn.cli import options
from tcplearn.cli.common import Work, progress_bar, say
from tcplearn.errors import UserError


def experiments(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A folder in experiments/, such as latency.")],
    batches: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SCENARIO/PROFILE...]", help="With --run or --list: only these scenarios."),
    ] = None,
    run: Annotated[
        bool,
        typer.Option("--run", help="First do the runs that are missing in the file of runs, and add them."),
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="Print the number of runs of each scenario, and exit.")
    ] = False,
    first: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Only the first N runs of each algorithm.", show_default=False),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Also repeat existing runs; pages then use the later ones.")
    ] = False,
    profile: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A profile of the scenarios, such as smoke.",
            show_default="that of each page",
        ),
    ] = "",
    page: Annotated[
        str,
        typer.Option(
            metavar="PAGE", help="Write only this page; an unknown name lists all pages.", show_default=False
        ),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="Read runs from this file, and add new ones.",
            show_default="experiments/NAME/runs.parquet",
        ),
    ] = None,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of scenario files and tables.", show_default="experiments/NAME"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Write pages here.", show_default="over the stored pages"
        ),
    ] = None,
    out: options.Kept = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = "",
    slurm: options.Slurm = 0,
    quiet: options.Quiet = False,
) -> Work:
    """Write an experiment's pages from its file of runs. --run first does the missing runs; after an
    interruption the same command continues and repeats no finished run."""

    def work(_: str) -> None:
        from tcplearn.jobs import Place

        command: Any = _library("command")
        with progress_bar(quiet) as progress:
            chosen = command.Chosen(name, page, profile, tuple(batches or ()), first, file, scenarios, output)
            doing = _library("batches").Work(Place(jobs or 0, scheduler, slurm), out, fresh, progress, say)
            if list_:
                command.show(chosen, say)
            else:
                command.write(chosen, doing if run else None, say)

    return work


def _library(module: str) -> Any:
    """Import the module `module` of experiments/lib. Raise UserError outside a source checkout."""
    if not IS_CHECKOUT:
        raise UserError("experiments write pages of a checkout of tcplearn; run the command there")
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(f"experiments.lib.{module}")
