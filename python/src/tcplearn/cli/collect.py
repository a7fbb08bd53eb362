# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn collect`, which measures round-trip times to hosts by TCP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tcplearn.cli import options as o
from tcplearn.cli.common import print_, progress_bar, say
from tcplearn.cli.options import argument, flag, option
from tcplearn.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tcplearn.collect.rows import Row

Output = Annotated[Path, option("FILE", "Write the rows here: hosts.csv or hosts.parquet.", "--output", "-o")]


def collect(
    _: str,
    output: Output,
    hosts: Annotated[
        list[str] | None, argument("HOST...", "HOST, HOST:PORT, [IPV6]:PORT, or a file of such lines.")
    ] = None,
    port: Annotated[str, option("LIST", "Ports of hosts that are given without one.")] = "443",
    count: Annotated[int, option("N", "SYN pings to each host.", min=1, max=100000)] = 10,
    rate: Annotated[float, option("X", "Maximum number of SYNs in a second.", min=0.01, max=10000)] = 50.0,
    interval: Annotated[
        float,
        option(
            "SECONDS",
            "Time between SYNs to a host; it doubles while the host is silent.",
            min=0.001,
            max=3600,
        ),
    ] = 0.5,
    timeout: Annotated[
        float,
        option(
            "SECONDS", "Ignore later answers; after 1 s they may be retransmitted SYN-ACKs.", min=0.01, max=60
        ),
    ] = 1.0,
    concurrency: Annotated[int, option("N", "Hosts measured at the same time.", min=1, max=1000)] = 32,
    ipv4: Annotated[bool, flag("Use only IPv4 addresses.", "--ipv4", "-4")] = False,
    ipv6: Annotated[bool, flag("Use only IPv6 addresses.", "--ipv6", "-6")] = False,
    trace: Annotated[bool, typer.Option(help="Count the hops to each host.")] = True,
    connect: Annotated[
        bool, flag("Measure how long connect() takes, without raw sockets.", "--connect")
    ] = False,
    imported: Annotated[
        list[Path] | None,
        option("FILE", "Send nothing; read this output of hping3, traceroute or tcptraceroute.", "--import"),
    ] = None,
    fresh: o.Fresh = False,
    quiet: o.Quiet = False,
) -> None:
    """Measure each host with TCP SYN pings and a TCP traceroute, and write one table row for each host. After
    an interruption the same command continues."""
    from tcplearn.collect import rows, run
    from tcplearn.collect.host import Settings
    from tcplearn.collect.hosts import ports_of, targets_of

    if imported:
        if hosts:
            raise UserError("HOST and --import; give one of them")
        found = _imported(imported, output, fresh)
    else:
        if ipv4 and ipv6:
            raise UserError("--ipv4 and --ipv6; give one of them, or neither to allow both")
        targets = targets_of(hosts or [], ports_of(port))
        settings = Settings(count, interval, timeout, trace, 4 if ipv4 else 6 if ipv6 else 0)
        wanted = run.Options(settings, rate, concurrency, connect, fresh)
        with progress_bar(quiet) as progress:
            found = run.collect(targets, wanted, output, progress, None if quiet else say)
    _show(found)
    if not quiet:
        say(f"written: {output}, {len(found)} rows of {len(rows.COLUMNS)} columns")


def _imported(paths: Sequence[Path], output: Path, fresh: bool) -> list[Row]:
    from tcplearn.collect import imported, rows

    rows.check_output(output, fresh=fresh)
    found = imported.read(paths)
    rows.write(found, output)
    return found


def _show(rows: Sequence[Row]) -> None:
    from tcplearn.output import table, terminal

    def milliseconds(value_us: int | None) -> table.Cell:
        return table.milliseconds(None if value_us is None else value_us / 1000)

    shown = table.Table(
        table.headed(
            "host", "port", "state", "hops", "TTL", "min\nms", "mean\nms", "max\nms", "loss", words=(0, 2)
        )
    )
    for row in rows:
        rtts = (row.rtt_min_us, row.rtt_avg_us, row.rtt_max_us)
        shown.rows.append(
            [
                table.text(row.host),
                table.count(row.port or None),
                table.text(row.state),
                table.count(row.hops),
                table.count(row.ttl),
                *map(milliseconds, rtts),
                table.share(row.loss),
            ]
        )
    print_(lambda console: terminal.alike([shown], console))
