# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the commands `tcplearn replay` and `tcplearn watch`, which compare estimators on captures and
tables of RTT samples, or on the live traffic of a network interface."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tcplearn.cli import options as o
from tcplearn.cli import refresh
from tcplearn.cli.common import Outputs, check_readable, print_, progress_bar, say, warn, warn_of_repeats
from tcplearn.cli.groups import Compared
from tcplearn.cli.options import argument, option
from tcplearn.errors import UserError, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tcplearn.output.rows import Record
    from tcplearn.replay.results import Replay
    from tcplearn.replay.row import Row
    from tcplearn.traces import Interface


@dataclass(frozen=True)
class Replayed(Compared):
    """The estimators to compare, and how the table of results is sorted and shown."""

    rank: o.Rank = o.RankName.timer
    total: o.Total = False
    seed: o.Seed = 0


def replay(
    command: str,
    files: o.Traces,
    *,
    asked: Replayed,
    unit: o.Unit = "",
    duration: Annotated[str, option("TIME", "Read a pipe for this time: 30s, 5m or 1h.", "--for")] = "",
    out: Outputs,
) -> None:
    """Replay captures through RTT estimators and retransmission timers, and compare them."""
    if duration and not any(map(refresh.is_pipe, files)):
        raise UserError("--for: no pipe is read; leave it out, or see `tcplearn watch --help`")
    duration_s = refresh.seconds(duration)
    for path in files:
        check_readable([path])
        if path.is_fifo() and not out.quiet:
            say(f"{printable(path)}: a pipe: it is read until it ends")
    warn_of_repeats(files)
    out.check(files)
    _run(command, files, unit, duration_s, asked, out)


def watch(
    command: str,
    interface: Annotated[str, argument("IFACE", "A network interface; any means all.")],
    *,
    asked: Replayed,
    duration: o.For = "",
    out: Outputs,
) -> None:
    """Replay the live traffic of a network interface until Ctrl-C. On a terminal the table of results is
    refreshed."""
    duration_s = refresh.seconds(duration)
    out.check()

    from tcplearn.traces import Interface

    _run(command, [Interface(interface)], "", duration_s, asked, out)


def _run(
    command: str,
    sources: Sequence[Path | Interface],
    unit: str,
    duration_s: float,
    asked: Replayed,
    out: Outputs,
) -> None:
    """Replay the traces `sources` and write the results to `out`. A live capture or a pipe ends after
    `duration_s`. `unit` is that of bare numbers in tables of RTT samples."""
    from tcplearn.output import rows as kinds
    from tcplearn.replay import replay, tables
    from tcplearn.replay.row import IDENTITY, KEYS, tidied

    options = replay.Options(**asked.checked(), unit=o.checked_unit(unit), seed=asked.seed)
    live = refresh.any_live(sources)
    grows = live and refresh.on_terminal(out)

    def render(result: Replay, console: Console) -> RenderableType:
        return tables.document(
            result,
            console,
            quiet=out.quiet,
            total=asked.total,
            everything=asked.all,
            rank=asked.rank.value,
            reported=out.report is not None,
        )

    def run(sink: replay.Sink | None = None) -> Replay:
        with progress_bar(out.quiet or grows) as progress:
            watch = refresh.Refresh(duration_s, render if grows else None, progress) if live else None
            with watch.at_work() if watch else contextlib.nullcontext():
                result = replay.run(sources, options, progress, watch, sink, all_rows=False)
            result.made_by["command"] = command  # quoted for a shell
            _draw(result, out, progress)
        warn(result.warnings)
        return result

    if out.format is o.FormatName.table:
        result = run()
        print_(lambda console: render(result, console), out.output)
        out.announce()
        return
    made_by = {**replay.made_by(options), "command": command}
    tidy = out.format is o.FormatName.parquet

    def records(rows: Iterable[Row]) -> Iterable[Record]:
        return tidied(rows, made_by) if tidy else kinds.stamped((r.record() for r in rows), made_by)

    with out.rows(made_by, [*IDENTITY, *KEYS, *(k for k in kinds.STAMP if k in made_by)]) as add:
        result = run(lambda rows: add(records(rows)))
        if asked.total or tables.pooled(result):
            add(result.tidy(result.totals) if tidy else records(result.totals))
    out.announce()


def _draw(result: Replay, out: Outputs, progress: Callable[[float, str], None] | None) -> None:
    if not (out.report or out.pictures):
        return
    from tcplearn import report as reports

    if out.report:
        progress and progress(1.0, "writing the report")
        reports.write_html(result, out.report)
    if out.pictures:
        progress and progress(1.0, "drawing pictures")
        reports.write_pictures(result, out.pictures)
