# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay --suite DIR`: what it does once its options are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.cli.common import Outputs, Work, progress_bar, say
from tcplearn.cli.options import FormatName

if TYPE_CHECKING:
    from tcplearn.replay.trace_jobs import Where
    from tcplearn.suite.suite import Suite

#: Of more problems than this the rest is only counted.
PROBLEMS_SHOWN = 20


def suite(
    directory: Path,
    checked: Callable[[int], dict[str, Any]],
    out: Outputs,
    restart: Sequence[int],
    match: bool | None,
    where: Callable[[], Where],
    *,
    everything: bool = False,
) -> Work:
    """`checked`: the options shared with a replay, by the least number of samples to judge."""

    def work(command: str) -> None:
        out.check()

        from tcplearn.replay import copies
        from tcplearn.suite import measure, suite, tables
        from tcplearn.suite import rows as suite_rows

        options = measure.Options(
            **checked(measure.MIN_SAMPLES),
            restarts=tuple(sorted(set(restart))),
            match=match,
            curves=bool(out.report or out.pictures),
        )
        with progress_bar(out.quiet) as progress:
            result: Suite = suite.run(directory, options, progress, where())
            result.made_by["command"] = command
            rows = suite_rows.rows(result)
            if out.report or out.pictures:
                from tcplearn.report import suite as reports

                progress and progress(1.0, "drawing")
                reports.write(result, rows, out.report, out.pictures)
        lines = shortened([*result.problems, *result.warnings], "--report lists them")
        in_table = out.format is FormatName.table and not out.quiet
        for warning in [*lines, *([] if in_table else copies.sentence(result.copies))]:
            say(f"warning: {warning}")
        out.write(
            lambda console: tables.document(
                result,
                rows,
                console,
                quiet=out.quiet,
                everything=everything,
                reported=out.report is not None,
            ),
            lambda: suite_rows.tidied(result, rows),
            result.made_by,
            wide=rows,
        )

    return work


def shortened(lines: list[str], otherwise: str) -> list[str]:
    more = len(lines) - PROBLEMS_SHOWN
    return [*lines[:PROBLEMS_SHOWN], f"and {more} more; {otherwise}"] if more > 0 else lines
