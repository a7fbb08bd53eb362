# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay --resend`: thin requests over a trace's RTTs, by each resend policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.cli import common
from tcplearn.cli.options import FormatName
from tcplearn.errors import UserError

if TYPE_CHECKING:
    from tcplearn.replay.resends import Setup


def resends(
    files: list[Path], out: common.Outputs, losses: str, make: Callable[[Sequence[str]], Setup]
) -> common.Work:
    """`losses` as typed; `make`: what is played, given its processes."""

    def work(command: str) -> None:
        if out.report or out.format is FormatName.parquet:
            raise UserError("--resend gives a table, JSON, CSV or a picture; leave --report and Parquet out")
        for path in files:
            common.check_readable(path)
        out.check(files)

        from tcplearn.output import terminal
        from tcplearn.replay import resend_paths, resends

        setup = make(resend_paths.processes(losses))
        with common.progress_bar(out.quiet) as progress:
            result = resends.run(files, setup, progress)
        for warning in result.warnings:
            common.say(f"warning: {warning}")
        result.made_by["command"] = command
        if out.pictures:
            from tcplearn.report import resend_chart

            resend_chart.write(resends.summaries(result), out.pictures)

        def document(console: Any) -> Any:
            return terminal.titled(resends.table(result), console)

        out.write(document, lambda: (), result.made_by, wide=[run.record() for run in result.runs])

    return work
