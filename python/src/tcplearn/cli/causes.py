# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn causes`, which names the cause of each fast retransmit, according to each
loss classifier."""

from pathlib import Path
from typing import Annotated, Any

from tcplearn.cli import options as o
from tcplearn.cli.common import Outputs, check_readable, progress_bar, warn
from tcplearn.cli.options import argument, flag, option


def causes(
    command: str,
    files: Annotated[list[Path], argument("FILE...", "Captures.")],
    truth: Annotated[
        Path | None,
        option("FILE", "A CSV or Parquet file of the true causes, with the columns time_us, truth, flow."),
    ] = None,
    classifier: Annotated[
        list[str] | None,
        option(
            "SPEC",
            "A classifier instead of the usual ones; may be repeated. With your own model: "
            "mlp:model=own/loss_own.json.",
        ),
    ] = None,
    arithmetic: o.Arithmetic = o.ArithmeticName.double,
    sender: o.Sender = "auto",
    flow: o.Flow = "",
    all: Annotated[bool, flag("Show every fast retransmit in the table.", "--all")] = False,
    format: o.Format = o.FormatName.table,
    output: o.Output = None,
    quiet: o.Quiet = False,
) -> None:
    """Name the cause (congestion or random loss) of each fast retransmit in captures, according to each loss
    classifier."""
    out = Outputs(format, output, quiet=quiet)
    check_readable(files)
    out.check([*files, *([truth] if truth else [])])

    from tcplearn.output import terminal
    from tcplearn.replay import causes as replayed

    side = o.checked_sender(sender)
    with progress_bar(out.quiet) as progress:
        result = replayed.run(files, side, arithmetic.value, flow, truth, classifier, progress)
    warn(result.warnings)
    records = [record for found in result.found for record in found.records(with_truth=truth is not None)]

    def document(console: Any) -> Any:
        from rich.console import Group

        tables = [replayed.summary(result)]
        if result.found:
            tables.append(replayed.table(result, all))
        return Group(*(terminal.titled(table, console) for table in tables))

    result.made_by["command"] = command
    if out.format is o.FormatName.parquet:
        import polars as pl

        from tcplearn.output import rows

        stamped = list(rows.stamped(records, result.made_by))
        out.write_parquet(pl.DataFrame(stamped, infer_schema_length=None))
    else:
        out.write(document, lambda: (), result.made_by, wide=records)
