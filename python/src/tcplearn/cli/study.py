# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn study`: how an estimator's parameters matter on your traces."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli.common import (
    Arithmetic,
    Format,
    Work,
    check_outputs,
    check_readable,
    print_,
    processors,
    progress_bar,
    say,
    write_records,
)
from tcplearn.cli.replay import checked_sender
from tcplearn.errors import UserError

study_app = typer.Typer(rich_markup_mode=None, help="Study an estimator's parameters on your traces.")


@study_app.callback()
def _root() -> None:
    pass


def _numbers(option: str, given: str) -> tuple[float, ...] | None:
    """Out of "10,25,50"; None for nothing given."""
    if not given:
        return None
    try:
        values = tuple(dict.fromkeys(float(word) for word in given.split(",")))
    except ValueError:
        raise UserError(f"{option} {given}: give numbers with commas between them") from None
    if not all(map(math.isfinite, values)):
        raise UserError(f"{option} {given}: give numbers with commas between them")
    return values


@study_app.command("experts")
def experts(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Captures or tables of samples.")],
    n: Annotated[
        str, typer.Option("--n", metavar="LIST", help="Numbers of experts.", show_default=False)
    ] = "",
    eta: Annotated[
        str, typer.Option("--eta", metavar="LIST", help="Learning rates.", show_default=False)
    ] = "",
    alpha: Annotated[
        str, typer.Option("--alpha", metavar="LIST", help="Sharing rates.", show_default=False)
    ] = "",
    preset: Annotated[
        str, typer.Option(metavar="SPEC", help="experts or experts/fitted, with other parameters or without.")
    ] = "experts",
    arithmetic: Annotated[
        Arithmetic, typer.Option(help="Arithmetic that the estimators run in.")
    ] = Arithmetic.double,
    sender: Annotated[
        str, typer.Option(metavar="WHO", help="Whose timers are replayed, as in `tcplearn replay`.")
    ] = "auto",
    every_ack: Annotated[
        bool, typer.Option("--every-ack", help="Time every advancing ACK, also inside offloaded segments.")
    ] = False,
    min_samples: Annotated[
        int, typer.Option(metavar="N", min=2, help="Flows with fewer samples are left out.")
    ] = 30,
    flow: Annotated[
        str, typer.Option(metavar="TEXT", help="Only flows whose name contains TEXT.", show_default=False)
    ] = "",
    format: Annotated[Format, typer.Option(help="How the results are written.")] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the results here, not to the screen."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write a report with heat maps: one file, works offline."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the heat maps as PNG and SVG.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="Threads (one a processor).")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no sentences; warnings stay.")
    ] = False,
) -> Work:
    """N, learning rate and sharing rate of the experts framework: every triple on your traces."""

    def work(command: str) -> None:
        for path in files:
            check_readable(path)
        check_outputs(format, output, report, pictures)
        grids = {"n": _numbers("--n", n), "eta": _numbers("--eta", eta), "alpha": _numbers("--alpha", alpha)}

        from tcplearn.study import experts as study
        from tcplearn.study import tables as study_tables

        options = study.Options(
            preset=preset,
            arithmetic=arithmetic.value,
            sender=checked_sender(sender),
            every_ack=every_ack,
            min_samples=min_samples,
            flow=flow,
            jobs=jobs or processors(),
            **{key: values for key, values in grids.items() if values},
        )
        with progress_bar(quiet) as progress:
            result = study.run(files, options, progress)
            result.made_by["command"] = command
            rows = study.rows(result)
            if report or pictures:
                from tcplearn.report import study as reports

                progress and progress(1.0, "drawing")
                reports.write(result, rows, report, pictures)
        for warning in result.warnings:
            say(f"warning: {warning}")
        if format is Format.table:
            print_(lambda _: study_tables.document(result, rows, quiet=quiet), output)
        else:
            write_records(rows, format, output, study.KEYS, result.made_by)

    return work
