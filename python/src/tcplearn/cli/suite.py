# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn suite`, which compares estimators over every trace below a directory."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tcplearn.cli import options as o
from tcplearn.cli.common import Outputs, Workers, progress_bar, warn
from tcplearn.cli.groups import Compared
from tcplearn.cli.options import argument, flag, option

if TYPE_CHECKING:
    from tcplearn.suite.suite import Suite

#: The largest number of problems that are printed; any others are only counted.
PROBLEMS_SHOWN = 20


@dataclass(frozen=True)
class InSuite(Compared):
    min_samples: o.MinSamples = 500


def suite(
    command: str,
    directory: Annotated[Path, argument("DIR", "Folder of captures or tables of samples, with subfolders.")],
    *,
    asked: InSuite,
    unit: o.Unit = "",
    restart: Annotated[
        list[int] | None,
        option("N", "Also test fresh estimators on windows of N samples; may be repeated.", min=2),
    ] = None,
    match: Annotated[
        bool | None,
        flag("Compare waits at equal miss rates (of timers whose rate can be chosen).", "--match/--no-match"),
    ] = None,
    out: Outputs,
    workers: Workers,
) -> None:
    """Replay every trace below a directory, and compare estimators and timers over all flows with enough
    samples."""
    out.check()

    from tcplearn.replay import copies
    from tcplearn.suite import measure, suite, tables
    from tcplearn.suite import rows as suite_rows

    options = measure.Options(
        **asked.checked(),
        unit=o.checked_unit(unit),
        restarts=tuple(sorted(set(restart or ()))),
        match=match,
        curves=bool(out.report or out.pictures),
    )
    with progress_bar(out.quiet) as progress:
        result: Suite = suite.run(directory, options, progress, workers.where())
        result.made_by["command"] = command
        rows = suite_rows.rows(result)
        if out.report or out.pictures:
            from tcplearn.report import suite as reports

            progress and progress(1.0, "drawing")
            reports.page(result, rows).write(out.report, out.pictures)
    lines = shortened([*_together(result.problems), *result.warnings], "--report lists them")
    in_table = out.format is o.FormatName.table and not out.quiet
    warn([*lines, *([] if in_table else copies.sentence(result.copies))])
    out.write(
        lambda console: tables.document(
            result, rows, console, quiet=out.quiet, everything=asked.all, reported=out.report is not None
        ),
        lambda: suite_rows.tidied(result, rows),
        result.made_by,
        wide=rows,
    )


def _together(problems: list[str]) -> list[str]:
    """Return `problems` with one line for all files that are texts of another kind than traces."""
    from tcplearn.output.numbers import counted
    from tcplearn.traces.csv_header import NOT_RTTS

    texts = [line for line in problems if NOT_RTTS in line]
    if len(texts) < 2:
        return problems
    others = [line for line in problems if NOT_RTTS not in line]
    first = texts[0].split(": ")[0]
    return [*others, f"{first} and {counted(len(texts) - 1, 'more file')}: no traces, left out"]


def shortened(lines: list[str], otherwise: str) -> list[str]:
    more = len(lines) - PROBLEMS_SHOWN
    return [*lines[:PROBLEMS_SHOWN], f"and {more} more; {otherwise}"] if more > 0 else lines
