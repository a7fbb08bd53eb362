# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn resend`, which simulates one-segment requests under several rules for when
TCP retransmits."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcplearn.cli import common
from tcplearn.cli import options as o
from tcplearn.cli.options import flag, option
from tcplearn.errors import UserError, printable

if TYPE_CHECKING:
    from rich.console import Console


class FormatName(enum.StrEnum):
    table = "table"
    json = "json"
    csv = "csv"


def resend(
    command: str,
    files: o.Traces,
    losses: Annotated[
        str, option("NAME,...", "Loss processes, such as none,iid1,fade_long.", show_default="all")
    ] = "",
    requests: Annotated[
        int, option("N", "Requests for each loss process and policy.", min=1000, max=10_000_000)
    ] = 12_000,
    timestamps: Annotated[
        bool, flag("Whether ACKs show which transmission they answer.", "--timestamps/--no-timestamps")
    ] = True,
    seed: Annotated[int, option("N", "Seed of requests and losses.", min=0)] = 0,
    arithmetic: o.Arithmetic = o.ArithmeticName.double,
    sender: o.Sender = "auto",
    every_ack: o.EveryAck = False,
    unit: o.Unit = "",
    flow: o.Flow = "",
    format: Annotated[FormatName, typer.Option(help=o.FORMAT_HELP)] = FormatName.table,
    output: o.Output = None,
    pictures: Annotated[Path | None, option("DIR", "Write the picture resends.svg here.")] = None,
    quiet: o.Quiet = False,
) -> None:
    """Compare resend policies, which decide when TCP retransmits, by the response times of one-segment
    requests, sent one at a time over the RTTs of captures."""
    out = common.Outputs(o.FormatName(format.value), output, None, pictures, quiet)
    if out.format is o.FormatName.parquet:
        raise UserError(f"{printable(output or 'parquet')}: resend writes a table, CSV or JSON, not Parquet")
    common.check_readable(files)
    out.check(files)

    from rich.console import Group

    from tcplearn.output import terminal
    from tcplearn.replay import resend_paths, resends
    from tcplearn.traces import TraceOptions

    trace = TraceOptions(o.checked_sender(sender), every_ack, unit=o.checked_unit(unit))
    named = resend_paths.processes(losses)
    setup = resends.Setup(named, requests, seed, timestamps, arithmetic.value, flow, trace)
    with common.progress_bar(quiet) as progress:
        result = resends.run(files, setup, progress)
    common.warn(result.warnings)
    result.made_by["command"] = command
    if pictures:
        from tcplearn.report import resend_chart

        resend_chart.write(resends.summaries(result), pictures)

    def document(console: Console) -> Any:
        tables = resends.table(result), resends.shares(result)
        return Group(*(terminal.titled(of, console) for of in tables))

    out.write(document, lambda: (), result.made_by, wide=[run.record() for run in result.runs])
