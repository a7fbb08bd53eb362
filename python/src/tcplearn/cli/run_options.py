# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Options of the commands that run scenarios, each once; and what these commands do with tidy rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcplearn.cli.common import Format, check_outputs, write
from tcplearn.errors import FailedError

if TYPE_CHECKING:
    from tcplearn.jobs import Place

FreshOption = Annotated[bool, typer.Option("--fresh", help="Run again what is kept already.")]
FormatOption = Annotated[Format, typer.Option(help="How the results are written.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the results here, not to the screen."),
]
KeptOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Keep finished runs here, not in the user's cache.", show_default=False
    ),
]
JobsOption = Annotated[
    int,
    typer.Option("--jobs", "-j", metavar="N", min=0, help="Runs at a time on this machine; 0: its cores."),
]
SchedulerOption = Annotated[
    str, typer.Option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster.", show_default=False)
]
SlurmOption = Annotated[
    int,
    typer.Option(
        "--slurm", metavar="N", min=0, help="Run as N Slurm jobs, by dask-jobqueue.", show_default=False
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors only.")]


def check_output(format: Format, output: Path | None) -> None:
    check_outputs(format, output, None, None)


def place(jobs: int, scheduler: str, slurm: int) -> Place:
    from tcplearn.jobs import Place

    return Place(jobs, scheduler, slurm)


def write_tidy(rows: Sequence[dict[str, Any]], format: Format, output: Path | None) -> None:
    from tcplearn.scenario import tidy

    write(tidy.rendered(rows, format.value), output)


def fail_for(failures: Sequence[str], of: int) -> None:
    """After all that did not fail is written."""
    if failures:
        raise FailedError(f"{len(failures)} of {of} runs failed; the others are on disk")
