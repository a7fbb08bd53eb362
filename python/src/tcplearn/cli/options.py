# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines options that several subcommands share. This module imports nothing slow, so that --help is
quick."""

import enum
import ipaddress
from pathlib import Path
from typing import Annotated, Any

import typer

from tcplearn.cli import completion
from tcplearn.errors import UserError


class ArithmeticName(enum.StrEnum):
    double = "double"
    fixed = "fixed"


class RankName(enum.StrEnum):
    timer = "timer"
    wait = "wait"
    timeouts = "timeouts"
    error = "error"
    miss = "miss"


class FormatName(enum.StrEnum):
    table = "table"
    json = "json"
    csv = "csv"
    parquet = "parquet"


# options for the input and its evaluation
Traces = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Captures or tables of samples.")]
Estimators = Annotated[
    list[str] | None,
    typer.Option(
        "--estimator",
        "-e",
        metavar="SPEC",
        help="NAME[/PRESET][:KEY=VALUE,...], may be repeated; `tcplearn algorithms` lists them.",
        autocompletion=completion.estimators,
    ),
]
Arithmetic = Annotated[ArithmeticName, typer.Option(help="Run the algorithms in floating or in fixed point.")]
Sender = Annotated[
    str,
    typer.Option(
        metavar="WHO", help="The sender to judge: auto, near, far, client, server, both or ADDR[:PORT]."
    ),
]
EveryAck = Annotated[
    bool,
    typer.Option("--every-ack", help="Take RTT samples also of ACKs that end inside an offloaded segment."),
]
Unit = Annotated[
    str,
    typer.Option(metavar="UNIT", help="Unit of bare numbers: s, ms, us or ns.", show_default=False),
]
MinSamples = Annotated[int, typer.Option(metavar="N", min=1, help="Flows with fewer samples are not judged.")]
Miss = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        help="Share of samples that may exceed the RTO, for timers such as conformal: 0.001.",
        show_default=False,
    ),
]
MinRto = Annotated[
    float, typer.Option(metavar="X", min=0, max=4_000_000, help="Minimum of every RTO.", show_default=False)
]
Flow = Annotated[
    str, typer.Option(metavar="TEXT", help="Only flows whose name contains TEXT.", show_default=False)
]


def interface(what: str) -> Any:
    """Return the option --interface; `what` is its help text."""
    return typer.Option("--interface", "-i", metavar="IFACE", help=what, show_default=False)


For = Annotated[
    str, typer.Option("--for", metavar="TIME", help="End after this time: 30s, 5m or 1h.", show_default=False)
]

# options for the output
All = Annotated[bool, typer.Option("--all", help="Show every estimator, table, column and flow.")]
Rank = Annotated[
    RankName,
    typer.Option(
        help="Sort rows by the timer's verdict, mean RTO, spurious timeouts, prediction error or miss rate."
    ),
]
Total = Annotated[bool, typer.Option("--total", help="Add totals over all flows to the results.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the bootstrap of the intervals.")]
FORMAT_HELP = "Format of the results; with -o FILE.csv, .json or .parquet, that of FILE's name."
Format = Annotated[FormatName, typer.Option(help=FORMAT_HELP)]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the results to this file.")
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE.html", help="Write a report with pictures, as one file."),
]
Pictures = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write the report's pictures as PNG and SVG.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no notes, only warnings.")]

# options for where jobs run and which stored results they use
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Jobs at the same time on this machine (one for each processor).",
        show_default=False,
    ),
]
Scheduler = Annotated[str, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster.", show_default=False)]
Slurm = Annotated[
    int, typer.Option(metavar="N", min=0, help="Run as N Slurm jobs, by dask-jobqueue.", show_default=False)
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ignore stored results of earlier runs.")]
Kept = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Store finished runs here, not in the user's cache.", show_default=False
    ),
]


def checked_unit(unit: str) -> str:
    if unit not in ("", "s", "ms", "us", "ns"):
        raise UserError(f"--unit {unit}: not a unit; give s, ms, us or ns")
    return unit


def checked_sender(sender: str) -> str:
    if sender in ("auto", "near", "far", "client", "server", "both"):
        return sender
    address, port = sender, "1"
    if sender.startswith("["):
        address, bracket, rest = sender[1:].partition("]")
        port = rest[1:] if rest.startswith(":") else "1" if bracket and not rest else ""
    elif sender.count(":") == 1:
        address, _, port = sender.partition(":")
    try:
        ipaddress.ip_address(address)
        if port.isdecimal() and 0 < int(port[:6]) < 65536:
            return sender
    except ValueError:
        pass
    raise UserError(
        f"--sender {sender}: not a sender; give auto, near, far, client, server, both or ADDR[:PORT] "
        "(IPv6 with a port: [ADDR]:PORT)"
    )
