# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay`: files, or with --suite a directory of them."""

from __future__ import annotations

import ipaddress
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcplearn.cli.common import (
    Arithmetic,
    Format,
    Work,
    check_outputs,
    check_readable,
    print_,
    processors,
    progress_bar,
    say,
    write,
    write_records,
)
from tcplearn.errors import UserError

if TYPE_CHECKING:
    from tcplearn.replay.results import Replay
    from tcplearn.suite.suite import Suite

#: More problems than this are told in one line.
PROBLEMS_SHOWN = 20


def replay(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Captures or tables of samples.")
    ] = None,
    estimator: Annotated[
        list[str] | None,
        typer.Option(
            "--estimator",
            "-e",
            metavar="SPEC",
            help="NAME[/PRESET][:KEY=VALUE,...], may be repeated; `tcplearn estimators` lists them.",
        ),
    ] = None,
    arithmetic: Annotated[
        Arithmetic, typer.Option(help="Arithmetic that the estimators run in.")
    ] = Arithmetic.double,
    sender: Annotated[
        str,
        typer.Option(
            metavar="WHO",
            help="Whose timers are replayed: auto, near, far, client, server, both or ADDR[:PORT].",
        ),
    ] = "auto",
    every_ack: Annotated[
        bool, typer.Option("--every-ack", help="Time every advancing ACK, also inside offloaded segments.")
    ] = False,
    unit: Annotated[
        str,
        typer.Option(metavar="UNIT", help="Of numbers without one: s, ms, us or ns.", show_default=False),
    ] = "",
    min_samples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Flows with fewer samples are not judged (30; in a suite 500).",
            show_default=False,
        ),
    ] = None,
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
    flow: Annotated[
        str, typer.Option(metavar="TEXT", help="Only flows whose name contains TEXT.", show_default=False)
    ] = "",
    format: Annotated[Format, typer.Option(help="How the results are written.")] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the results here, not to the screen."),
    ] = None,
    total: Annotated[
        bool, typer.Option("--total", help="Add the totals over all flows to the results.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write a report with pictures: one file, works offline."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each picture of the report as PNG and SVG.")
    ] = None,
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
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Of the resamples behind the intervals (0).", show_default=False
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no notes; warnings stay.")
    ] = False,
) -> Work:
    """Replay captures through RTT estimators and retransmission timers, and compare them."""
    shared = Shared(
        estimators=tuple(dict.fromkeys(estimator or ())),
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
    if suite is None:
        if restart or match is not None or jobs is not None:
            raise UserError("--restart, --match and --jobs are of a suite; add --suite DIR")
        if not files:
            raise UserError("missing argument 'FILE...'; see `tcplearn replay --help`")
        return _files(files, shared, out, seed or 0, total=total)
    if seed is not None:
        raise UserError("--seed: a suite's intervals are drawn over series, always alike; leave it out")
    if files:
        raise UserError("FILE and --suite DIR; give one of them")
    if total:
        raise UserError("--total: a suite's rows are totals; leave it out")
    return _suite(suite, shared, out, restart or [], match, jobs)


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

    def checked(self) -> dict[str, Any]:
        if not math.isfinite(self.min_rto_ms):
            raise UserError("--min-rto-ms: not a number; give milliseconds")
        return {
            "estimators": self.estimators,
            "arithmetic": self.arithmetic,
            "sender": checked_sender(self.sender),
            "every_ack": self.every_ack,
            "unit": checked_unit(self.unit),
            "min_rto_us": round(self.min_rto_ms * 1000),
            "flow": self.flow,
            "miss": self.miss,
        }


@dataclass(frozen=True)
class Outputs:
    format: Format
    output: Path | None
    report: Path | None
    pictures: Path | None
    quiet: bool

    def check(self, sources: list[Path]) -> None:
        check_outputs(self.format, self.output, self.report, self.pictures, sources)


def _files(files: list[Path], shared: Shared, out: Outputs, seed: int, *, total: bool) -> Work:
    def work(command: str) -> None:
        for path in files:
            check_readable(path)
        out.check(files)
        options = shared.checked()

        from tcplearn.replay import replay
        from tcplearn.replay.results import TOO_SHORT

        options["seed"] = seed
        options["min_samples"] = TOO_SHORT if shared.min_samples is None else shared.min_samples
        with progress_bar(out.quiet) as progress:
            result: Replay = replay.run(list(files), replay.Options(**options), progress)
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
        _write(result, out, total=total)

    return work


def _write(result: Replay, out: Outputs, *, total: bool) -> None:
    from tcplearn.output import files as output

    rows = [*result.rows, *(result.totals if total else ())]
    match out.format:
        case Format.table:
            from tcplearn.replay import tables

            print_(lambda console: tables.document(result, console, quiet=out.quiet, total=total), out.output)
        case Format.json:
            write(output.to_json(rows, result.made_by), out.output)
        case Format.csv:
            write(output.to_csv(rows, result.made_by), out.output)
        case Format.parquet:
            write(output.to_parquet(rows, result.made_by), out.output)


def _suite(
    directory: Path, shared: Shared, out: Outputs, restart: list[int], match: bool | None, jobs: int | None
) -> Work:
    def work(command: str) -> None:
        out.check([])
        options = shared.checked()

        from tcplearn.suite import rows as suite_rows
        from tcplearn.suite import suite

        options["min_samples"] = suite.MIN_SAMPLES if shared.min_samples is None else shared.min_samples
        options |= {
            "restarts": tuple(sorted(set(restart))),
            "match": match,
            "curves": bool(out.report or out.pictures),
            "jobs": jobs or processors(),
        }
        with progress_bar(out.quiet) as progress:
            result: Suite = suite.run(directory, suite.Options(**options), progress)
            result.made_by["command"] = command
            rows = suite_rows.rows(result)
            if out.report or out.pictures:
                from tcplearn.report import suite as reports

                progress and progress(1.0, "drawing")
                reports.write(result, rows, out.report, out.pictures)
        for warning in told([*result.problems, *result.warnings], "--report lists them"):
            say(f"warning: {warning}")
        _write_suite(result, rows, out)

    return work


def _write_suite(result: Suite, rows: list[dict[str, Any]], out: Outputs) -> None:
    from tcplearn.suite import rows as suite_rows
    from tcplearn.suite import tables as suite_tables

    if out.format is Format.table:
        print_(lambda _: suite_tables.document(result, rows, quiet=out.quiet), out.output)
    else:
        write_records(rows, out.format, out.output, suite_rows.KEYS, result.made_by)


def told(lines: list[str], otherwise: str) -> list[str]:
    more = len(lines) - PROBLEMS_SHOWN
    return [*lines[:PROBLEMS_SHOWN], f"and {more} more; {otherwise}"] if more > 0 else lines


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
        if port.isdecimal() and 0 < int(port) < 65536:
            return sender
    except ValueError:
        pass
    raise UserError(
        f"--sender {sender}: not a sender; give auto, near, far, client, server, both or ADDR[:PORT] "
        "(IPv6 with a port: [ADDR]:PORT)"
    )
