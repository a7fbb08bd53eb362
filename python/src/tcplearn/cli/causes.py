# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay --loss`: the cause of each fast retransmit, by each classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcplearn.cli.common import Outputs, Work, check_readable, progress_bar, say, write
from tcplearn.cli.options import FormatName
from tcplearn.errors import UserError

if TYPE_CHECKING:
    from tcplearn.output.rows import Record


def causes(
    files: list[Path],
    out: Outputs,
    sender: str,
    arithmetic: str,
    flow: str,
    truth: Path | None,
    *,
    everything: bool,
) -> Work:
    def work(command: str) -> None:
        if out.report or out.pictures:
            raise UserError("--loss gives a table, JSON, CSV or Parquet; leave --report and --pictures out")
        for path in files:
            check_readable(path)
        out.check([*files, *([truth] if truth else [])])

        from tcplearn.output import terminal
        from tcplearn.replay import causes as replayed

        with progress_bar(out.quiet) as progress:
            result = replayed.run(files, sender, arithmetic, flow, truth, progress)
        for warning in result.warnings:
            say(f"warning: {warning}")
        records = [record for found in result.found for record in found.records(with_truth=truth is not None)]

        def document(console: Any) -> Any:
            from rich.console import Group

            tables = [replayed.summary(result)]
            if result.found:
                tables.append(replayed.table(result, everything))
            return Group(*(terminal.titled(table, console) for table in tables))

        result.made_by["command"] = command
        if out.format is FormatName.parquet:
            _write_parquet(records, result.made_by, out.output)
        else:
            out.write(document, lambda: (), result.made_by, wide=records)

    return work


def _write_parquet(records: Sequence[Record], made_by: Mapping[str, str], output: Path | None) -> None:
    """The rows of JSON and CSV: a fast retransmit has features, not metrics."""
    import io

    import polars as pl

    from tcplearn.output import rows

    table = io.BytesIO()
    stamped = list(rows.stamped(records, made_by))
    pl.DataFrame(stamped, infer_schema_length=None).write_parquet(table)
    write(table.getvalue(), output)
