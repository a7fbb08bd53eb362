# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay`: files, or with --suite a directory of them."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tcplearn.cli import options as o
from tcplearn.cli import suite as suites
from tcplearn.cli.common import Outputs, Work, check_readable, progress_bar, say, where
from tcplearn.errors import UserError


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
    report: o.Report = None,
    pictures: o.Pictures = None,
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
    named = list(estimator or ())
    if all:
        from tcplearn.estimators import ALL

        named = [*ALL, *named]
    shared = Shared(
        estimators=tuple(dict.fromkeys(named)),
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
        return causes(files, out, o.checked_sender(sender), arithmetic.value, flow, everything=all)
    if suite is None:
        if restart or match is not None or jobs is not None or scheduler or slurm or fresh:
            raise UserError(
                "--restart, --match, --jobs, --scheduler, --slurm and --fresh are of a suite; add --suite DIR"
            )
        if not files:
            raise UserError("missing argument 'FILE...'; see `tcplearn replay --help`")
        return _files(files, shared, out, seed or 0, total=total, everything=all, rank=rank.value)
    if seed is not None:
        raise UserError("--seed: a suite's intervals are drawn over series, always alike; leave it out")
    if files:
        raise UserError("FILE and --suite DIR; give one of them")
    if rank is not o.RankName.timer:
        raise UserError("--rank: a suite's tables are sorted by their ratios; leave it out")
    if total:
        raise UserError("--total: a suite's rows are totals; leave it out")
    place = functools.partial(where, jobs, scheduler, slurm, fresh=fresh)
    return suites.suite(suite, shared.checked, out, restart or [], match, place)


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


def _files(
    files: list[Path], shared: Shared, out: Outputs, seed: int, *, total: bool, everything: bool, rank: str
) -> Work:
    def work(command: str) -> None:
        for path in files:
            check_readable(path)
        out.check(files)

        from tcplearn.replay import replay, tables
        from tcplearn.replay.results import IDENTITY, KEYS, TOO_SHORT, Replay

        options = replay.Options(**shared.checked(TOO_SHORT), seed=seed)
        with progress_bar(out.quiet) as progress:
            result: Replay = replay.run(list(files), options, progress)
            result.made_by["command"] = command  # quoted as a shell wants it
            if out.report or out.pictures:
                from tcplearn import report as reports

                if out.report:
                    progress and progress(1.0, "writing the report")
                    reports.write_html(result, out.report)
                if out.pictures:
                    progress and progress(1.0, "drawing pictures")
                    reports.write_pictures(result, out.pictures)
        for warning in result.warnings:
            say(f"warning: {warning}")
        rows = [*result.rows, *(result.totals if total or tables.pooled(result) else ())]
        out.write(
            lambda console: tables.document(
                result, console, quiet=out.quiet, total=total, everything=everything, rank=rank
            ),
            lambda: result.tidy(rows),
            result.made_by,
            wide=[row.record() for row in rows],
            columns=(*IDENTITY, *KEYS),
        )

    return work
