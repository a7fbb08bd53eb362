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


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """Return an option with a value. Without `names` it is called like its parameter."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(help: str, *names: str) -> Any:
    return typer.Option(*names, help=help)


def argument(metavar: str, help: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help, **more)


# options for the input and its evaluation
Traces = Annotated[list[Path], argument("FILE...", "Captures or tables of samples.")]
Estimators = Annotated[
    list[str] | None,
    option(
        "SPEC",
        "NAME[/PRESET][:KEY=VALUE,...], may be repeated; `tcplearn algorithms` lists them.",
        "--estimator",
        "-e",
        autocompletion=completion.estimators,
    ),
]
Arithmetic = Annotated[ArithmeticName, typer.Option(help="Run the algorithms in floating or in fixed point.")]
Sender = Annotated[
    str, option("WHO", "The sender to judge: auto, near, far, client, server, both or ADDR[:PORT].")
]
EveryAck = Annotated[
    bool, flag("Take RTT samples also of ACKs that end inside an offloaded segment.", "--every-ack")
]
Unit = Annotated[str, option("UNIT", "Unit of bare numbers: s, ms, us or ns.")]
MinSamples = Annotated[int, option("N", "Flows with fewer samples are not judged.", min=1)]
Miss = Annotated[
    float | None,
    option("RATE", "Share of samples that may exceed the RTO, for timers such as conformal: 0.001."),
]
MinRto = Annotated[float, option("X", "Minimum of every RTO.", min=0, max=4_000_000, show_default=False)]
Flow = Annotated[str, option("TEXT", "Only flows whose name contains TEXT.")]


def interface(what: str) -> Any:
    """Return the option --interface; `what` is its help text."""
    return option("IFACE", what, "--interface", "-i")


For = Annotated[str, option("TIME", "End after this time: 30s, 5m or 1h.", "--for")]

# options for the output
All = Annotated[bool, flag("Show every estimator, table, column and flow.", "--all")]
Rank = Annotated[
    RankName,
    typer.Option(
        help="Sort rows by the timer's verdict, mean RTO, spurious timeouts, prediction error or miss rate."
    ),
]
Total = Annotated[bool, flag("Add totals over all flows to the results.", "--total")]
Seed = Annotated[int, option("N", "Seed of the bootstrap of the intervals.", min=0)]
FORMAT_HELP = "Format of the results; with -o FILE.csv, .json or .parquet, that of FILE's name."
Format = Annotated[FormatName, typer.Option(help=FORMAT_HELP)]
Output = Annotated[Path | None, option("FILE", "Write the results to this file.", "--output", "-o")]
Report = Annotated[Path | None, option("FILE.html", "Write a report with pictures, as one file.")]
Pictures = Annotated[Path | None, option("DIR", "Write the report's pictures as PNG and SVG.")]
Quiet = Annotated[bool, flag("Print no progress and no notes, only warnings.", "--quiet", "-q")]

# options for where jobs run and which stored results they use
Jobs = Annotated[
    int | None,
    option("N", "Jobs at the same time on this machine (one for each processor).", "--jobs", "-j", min=1),
]
Scheduler = Annotated[str, option("ADDRESS", "Run on a Dask cluster.")]
Slurm = Annotated[int, option("N", "Run as N Slurm jobs, by dask-jobqueue.", min=0, show_default=False)]
Fresh = Annotated[bool, flag("Ignore stored results of earlier runs.", "--fresh")]
Kept = Annotated[Path | None, option("DIR", "Store finished runs here, not in the user's cache.", "--out")]


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
