# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay`: files, or with --suite a directory of them."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcplearn.cli import live as lives
from tcplearn.cli import options as o
from tcplearn.cli import suite as suites
from tcplearn.cli.common import (
    Outputs,
    Work,
    check_readable,
    print_,
    progress_bar,
    say,
    warn_of_repeats,
    where,
)
from tcplearn.errors import UserError, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tcplearn.output.rows import Record
    from tcplearn.replay.results import Replay, Row
    from tcplearn.traces import Interface

#: Of a cell of --resend.
REQUESTS = 12_000


def replay(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Captures or tables of samples.")
    ] = None,
    estimator: o.Estimators = None,
    arithmetic: o.Arithmetic = o.ArithmeticName.double,
    sender: o.Sender = "auto",
    every_ack: o.EveryAck = False,
    unit: o.Unit = "",
    min_samples: o.MinSamples = None,
    miss: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            help="Share of samples that may outlast a timer that takes one (conformal), as 0.001.",
            show_default=False,
        ),
    ] = None,
    min_rto_ms: Annotated[
        float,
        typer.Option(
            metavar="X", min=0, max=4_000_000, help="A floor put on every RTO alike.", show_default=False
        ),
    ] = 0.0,
    flow: o.Flow = "",
    format: o.Format = o.FormatName.table,
    output: o.Output = None,
    all: o.All = False,
    rank: o.Rank = o.RankName.timer,
    total: Annotated[
        bool, typer.Option("--total", help="Add the totals over all flows to the results.")
    ] = False,
    loss: Annotated[
        bool,
        typer.Option("--loss", help="Instead: the cause of each fast retransmit, by each classifier."),
    ] = False,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of --loss: CSV or Parquet of who dropped the packets: time_us, truth, flow.",
            show_default=False,
        ),
    ] = None,
    resend: Annotated[
        bool,
        typer.Option(
            "--resend", help="Instead: response times of thin requests over these RTTs, by resend policy."
        ),
    ] = False,
    losses: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Of --resend: processes of losses (none, iid1, fade_long...).",
            show_default=False,
        ),
    ] = "",
    requests: Annotated[
        int, typer.Option(metavar="N", min=1000, max=10_000_000, help="Of --resend: requests of a cell.")
    ] = REQUESTS,
    timestamps: Annotated[
        bool,
        typer.Option(
            "--timestamps/--no-timestamps", help="Of --resend: whether ACKs say which sending they answer."
        ),
    ] = True,
    report: o.Report = None,
    pictures: o.Pictures = None,
    live: Annotated[
        str,
        typer.Option(
            metavar="IFACE",
            help="Capture from this network interface (any: all) until Ctrl-C; the table refreshes.",
            show_default=False,
        ),
    ] = "",
    duration: Annotated[
        str,
        typer.Option(
            "--for", metavar="TIME", help="Live: end after so long, as 30s or 5m.", show_default=False
        ),
    ] = "",
    suite: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Replay every trace below DIR and compare over series.", show_default=False
        ),
    ] = None,
    restart: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=2, help="Suite: also fresh starts of N samples; may be repeated."),
    ] = None,
    match: Annotated[
        bool | None,
        typer.Option(
            "--match/--no-match",
            help="Suite: compare waits at equal miss rates (where a timer has one to choose).",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", min=1, help="Suite: worker processes (one a processor)."),
    ] = None,
    scheduler: o.Scheduler = "",
    slurm: o.Slurm = 0,
    fresh: o.Fresh = False,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Of the resamples behind the intervals (0).", show_default=False
        ),
    ] = None,
    quiet: o.Quiet = False,
) -> Work:
    """Replay captures through RTT estimators and retransmission timers, and compare them."""
    shared = Shared(
        estimators=_compared(estimator or (), everything=all),
        arithmetic=arithmetic.value,
        sender=sender,
        every_ack=every_ack,
        unit=unit,
        min_samples=min_samples,
        min_rto_ms=min_rto_ms,
        flow=flow,
        miss=miss,
    )
    out = Outputs(format, output, report, pictures, quiet)
    if loss:
        from tcplearn.cli.causes import causes

        if suite or not files:
            raise UserError("--loss needs captures: name them as FILE..., without --suite")
        checked = o.checked_sender(sender)
        return causes(files, out, checked, arithmetic.value, flow, truth, everything=all)
    if truth:
        raise UserError("--truth is what --loss is held against; add --loss")
    if resend:
        from tcplearn.cli.resends import resends

        if suite or not files:
            raise UserError("--resend needs traces: name them as FILE..., without --suite")
        from tcplearn.replay.resends import Setup
        from tcplearn.traces import TraceOptions

        trace = TraceOptions(o.checked_sender(sender), every_ack, unit=o.checked_unit(unit))
        return resends(
            files,
            out,
            losses,
            lambda named: Setup(named, requests, seed or 0, timestamps, arithmetic.value, flow, trace),
        )
    if losses or requests != REQUESTS or not timestamps:
        raise UserError("--losses, --requests and --no-timestamps are of --resend; add it")
    if suite is None:
        if restart or match is not None or jobs is not None or scheduler or slurm or fresh:
            raise UserError(
                "--restart, --match, --jobs, --scheduler, --slurm and --fresh are of a suite; add --suite DIR"
            )
        if not files and not live:
            raise UserError("missing argument 'FILE...'; see `tcplearn replay --help`")
        from_where = lives.sources(live, duration, files or [])
        table = Table(total=total, everything=all, rank=rank.value, quiet=quiet, reported=report is not None)
        return _work(from_where, lives.seconds(duration), shared, out, table, seed or 0)
    if live or duration:
        raise UserError("--live and --for: a suite is of files; leave them out")
    if seed is not None:
        raise UserError("--seed: a suite's intervals are drawn over series, always alike; leave it out")
    if files:
        raise UserError("FILE and --suite DIR; give one of them")
    if rank is not o.RankName.timer:
        raise UserError("--rank: a suite's tables are sorted by their ratios; leave it out")
    if total:
        raise UserError("--total: a suite's rows are totals; leave it out")
    place = functools.partial(where, jobs, scheduler, slurm, fresh=fresh)
    return suites.suite(suite, shared.checked, out, restart or [], match, place, everything=all)


def _compared(named: Sequence[str], *, everything: bool) -> tuple[str, ...]:
    """Who installed an estimator wants to see it. Empty: the defaults."""
    if named and not everything:
        return tuple(dict.fromkeys(named))
    from tcplearn.estimators import ALL, DEFAULTS, installed

    own, problems = installed()
    for problem in problems:
        say(f"warning: {problem}")
    if not own and not everything:
        return ()
    return tuple(dict.fromkeys((*(ALL if everything else DEFAULTS), *own, *named)))


@dataclass(frozen=True)
class Shared:
    """Options of both kinds of replay, as given."""

    estimators: tuple[str, ...]
    arithmetic: str
    sender: str
    every_ack: bool
    unit: str
    min_samples: int | None
    min_rto_ms: float
    flow: str
    miss: float | None

    def checked(self, min_samples: int) -> dict[str, Any]:
        """`min_samples`: where none was given."""
        if not math.isfinite(self.min_rto_ms):
            raise UserError("--min-rto-ms: not a number; give milliseconds")
        return {
            "estimators": self.estimators,
            "arithmetic": self.arithmetic,
            "sender": o.checked_sender(self.sender),
            "every_ack": self.every_ack,
            "unit": o.checked_unit(self.unit),
            "min_samples": min_samples if self.min_samples is None else self.min_samples,
            "min_rto_us": round(self.min_rto_ms * 1000),
            "flow": self.flow,
            "miss": self.miss,
        }


@dataclass(frozen=True)
class Table:
    """How the table is to look, as options say."""

    total: bool
    everything: bool
    rank: str
    quiet: bool
    reported: bool

    def render(self, result: Replay, console: Console) -> RenderableType:
        from tcplearn.replay import tables

        return tables.document(
            result,
            console,
            quiet=self.quiet,
            total=self.total,
            everything=self.everything,
            rank=self.rank,
            reported=self.reported,
        )


def _work(
    sources: Sequence[Path | Interface],
    duration_s: float,
    shared: Shared,
    out: Outputs,
    table: Table,
    seed: int,
) -> Work:
    def work(command: str) -> None:
        files = [source for source in sources if isinstance(source, Path)]
        for path in files:
            check_readable(path)
            if path.is_fifo() and not out.quiet:
                say(f"{printable(path)}: a pipe: it is read until it ends")
        warn_of_repeats(files)
        out.check(files)

        from tcplearn.output import rows as kinds
        from tcplearn.replay import replay, tables
        from tcplearn.replay.results import IDENTITY, KEYS, TOO_SHORT, tidied

        options = replay.Options(**shared.checked(TOO_SHORT), seed=seed)
        live = lives.any_live(sources)
        grows = live and lives.on_terminal(out)

        def run(sink: replay.Sink | None = None) -> Replay:
            with progress_bar(out.quiet or grows) as progress:
                watch = lives.Watch(duration_s, table.render if grows else None, progress) if live else None
                with watch.at_work() if watch else contextlib.nullcontext():
                    result = replay.run(sources, options, progress, watch, sink, all_rows=False)
                result.made_by["command"] = command  # quoted as a shell wants it
                _draw(result, out, progress)
            for warning in result.warnings:
                say(f"warning: {warning}")
            return result

        if out.format is o.FormatName.table:
            result = run()
            print_(lambda console: table.render(result, console), out.output)
            out.announce()
            return
        made_by = {**replay.made_by(options), "command": command}
        tidy = out.format is o.FormatName.parquet

        def records(rows: Iterable[Row]) -> Iterable[Record]:
            return tidied(rows, made_by) if tidy else kinds.stamped((r.record() for r in rows), made_by)

        with out.rows(made_by, [*IDENTITY, *KEYS, *(k for k in kinds.STAMP if k in made_by)]) as add:
            result = run(lambda rows: add(records(rows)))
            if table.total or tables.pooled(result):
                add(result.tidy(result.totals) if tidy else records(result.totals))
        out.announce()

    return work


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
