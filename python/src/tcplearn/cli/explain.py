# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn explain`, which says why the requests in captures were slow."""

from __future__ import annotations

import contextlib
import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import Outputs, Workers, check_readable, progress_bar, warn, warn_of_repeats
from tcplearn.cli.options import argument, flag, option
from tcplearn.cli.suite import shortened
from tcplearn.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from tcplearn.explain import Explained
    from tcplearn.traces import CaptureTrace, Interface


class RowsName(enum.StrEnum):
    summary = "summary"
    requests = "requests"
    stalls = "stalls"
    connections = "connections"


def explain(
    command: str,
    files: Annotated[
        list[Path] | None, argument("FILE...", "Captures, folders of them, or - for a pipe.")
    ] = None,
    *,
    interface: Annotated[str, o.interface("Explain the traffic of this interface until Ctrl-C.")] = "",
    duration: o.For = "",
    host: Annotated[
        str, option("TEXT", "Only connections with this address, or with TEXT in an address or port.")
    ] = "",
    rows: Annotated[
        RowsName, typer.Option(help="What the rows of JSON, CSV and Parquet are about.")
    ] = RowsName.summary,
    seed: o.Seed = 0,
    anonymize: Annotated[
        bool, flag("Replace addresses and files' names, so that the output can be shared.", "--anonymize")
    ] = False,
    all: Annotated[bool, flag("Show every server and setting in the tables.", "--all")] = False,
    out: Outputs,
    workers: Workers,
) -> None:
    """Explain what the requests in captures waited for: lost packets, the server, the client or the path."""
    if not files and not interface:
        raise UserError("missing FILE: name captures, or an interface with -i; see `tcplearn explain --help`")
    if duration and not interface and not any(map(refresh.is_pipe, files or ())):
        raise UserError("--for: no live traffic is read; leave it out, or name an interface with -i")
    if rows is not RowsName.summary and out.format is o.FormatName.table:
        raise UserError(f"--rows {rows.value}: a table shows the summary; add --format json, csv or parquet")
    duration_s = refresh.seconds(duration)
    sources: list[Path | Interface] = [*(files or ())]
    named = [path for path in files or () if not path.is_dir()]
    check_readable(named)
    warn_of_repeats(files or ())
    out.check(named)
    if interface:
        from tcplearn.traces import Interface

        sources.append(Interface(interface))
    options = {"host": host, "seed": seed, "anonymize": anonymize, "where": workers.where()}
    found = _read(sources, duration_s, out, **options)
    warn(shortened(found.warnings, "--report lists them"))
    if not anonymize:
        found.made_by["command"] = command
    if out.report or out.pictures:
        from tcplearn.explain import sequence
        from tcplearn.report import explain as report

        report.page(found, sequence.of(found)).write(out.report, out.pictures)
    _write(found, rows.value, all, out)


def _read(sources: list[Path | Interface], duration_s: float, out: Outputs, **options: Any) -> Explained:
    from tcplearn import explain as explained

    live = refresh.any_live([of for of in sources if not (isinstance(of, Path) and of.is_dir())])
    with progress_bar(out.quiet) as progress:
        clock = refresh.Refresh(duration_s, None, progress) if live else None

        def watch(trace: CaptureTrace) -> None:
            if clock and trace.live:
                clock(trace, lambda: None)

        with clock.at_work() if clock else contextlib.nullcontext():
            return explained.run(sources, progress=progress, watch=watch if clock else None, **options)


def _write(found: Explained, which: str, everything: bool, out: Outputs) -> None:
    from tcplearn.explain import rows as kinds
    from tcplearn.explain import tables

    if which == RowsName.summary or out.format is o.FormatName.table:

        def document(console: Console) -> Any:
            return tables.document(found, console, everything=everything)

        out.write(document, lambda: kinds.tidied(found), found.made_by, wide=kinds.summaries(found))
        return
    table = kinds.table(found, which)
    if out.format is o.FormatName.parquet:
        out.write_parquet(table)
    else:
        with out.rows({}, table.columns) as add:
            add(table.iter_rows(named=True))
    out.announce()
