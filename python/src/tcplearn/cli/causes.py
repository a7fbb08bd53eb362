# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay --loss`: the cause of each fast retransmit, by each classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tcplearn.cli.common import Outputs, Work, check_readable, progress_bar, say
from tcplearn.cli.options import FormatName
from tcplearn.errors import UserError


def causes(
    files: list[Path], out: Outputs, sender: str, arithmetic: str, flow: str, *, everything: bool
) -> Work:
    def work(command: str) -> None:
        if out.report or out.pictures or out.format is FormatName.parquet:
            raise UserError("--loss gives a table, JSON or CSV; leave --report, --pictures and Parquet out")
        for path in files:
            check_readable(path)
        out.check(files)

        from tcplearn.output import terminal
        from tcplearn.replay import causes as replayed

        with progress_bar(out.quiet) as progress:
            result = replayed.run(files, sender, arithmetic, flow, progress)
        for warning in result.warnings:
            say(f"warning: {warning}")
        records = [record for found in result.found for record in found.records()]

        def document(console: Any) -> Any:
            from rich.console import Group

            tables = [replayed.summary(result)]
            if result.found:
                tables.append(replayed.table(result, everything))
            return Group(*(terminal.titled(table, console) for table in tables))

        result.made_by["command"] = command
        out.write(document, lambda: (), result.made_by, wide=records)

    return work
