# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Explain from several captures why requests were slow: each file is a job of its own, and the tables that it
gives are stored as Parquet."""

import base64
import io
import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from tcplearn.errors import UserError, printable
from tcplearn.explain import read
from tcplearn.explain.read import Capture, Watch
from tcplearn.jobs import Job, Progress, advance, shape
from tcplearn.output.numbers import counted
from tcplearn.replay import trace_jobs
from tcplearn.replay.trace_jobs import Json, Seen, Where
from tcplearn.traces import Interface, TraceError
from tcplearn.traces.base import NOT_A_CAPTURE

#: The most files that a message names.
_MOST_NAMED = 3


def several(
    named: Sequence[Path | Interface],
    below: set[Path],
    problems: list[str],
    progress: Progress | None,
    watch: Watch | None,
    where: Where | None,
) -> dict[Path | Interface, Capture]:
    """Return the tables of each source in `named`. Files that cannot be read and copies of other files are
    left out, with a line in `problems` for each. Files that are not captures are left out too; those in
    `below` (found in folders) are only counted. Raise UserError if no capture can be read."""
    found: dict[Path | Interface, Job | Capture] = {}
    firsts: dict[str, Path] = {}
    left_out: list[str] = []
    copies: list[str] = []
    others: list[Path] = []
    for source in named:
        # False, and no error, in a folder that must not be searched
        if source in below and isinstance(source, Path) and not os.path.exists(source):  # noqa: PTH110
            left_out.append(f"{printable(source)}: no such file, or it must not be opened")
        elif not isinstance(source, Path) or not source.is_file():
            found[source] = read.capture(source, watch)
        elif read.may_be_capture(source):
            try:
                made = job(Seen.of(source, printable(source)))
            except (TraceError, OSError) as error:
                left_out.append(trace_jobs.problem(source, error))
                continue
            first = firsts.setdefault(made.key, source)
            if first is source:
                found[source] = made
            else:
                copies.append(f"{printable(source)}: a copy of {printable(first)}")
        elif source in below:
            others.append(source)
        else:
            left_out.append(f"{printable(source)}: {NOT_A_CAPTURE}")
    work = sorted((one for one in found.values() if isinstance(one, Job)), key=lambda job: -job.cost)
    done = trace_jobs.run(work, "explain", where or Where(), progress, "files", in_processes=True)
    out: dict[Path | Interface, Capture] = {}
    for source, one in found.items():
        if not isinstance(one, Job):
            out[source] = one
        elif "problem" in (plain := done.pop(one.key)):
            left_out.append(plain["problem"])
        else:
            out[source] = of_kept(plain)
    problems += [f"left out: {line}" for line in [*left_out, *copies]]
    if others:
        names = [printable(path) for path in others[:_MOST_NAMED]]
        names += ["and others"] if len(others) > _MOST_NAMED else []
        problems.append(f"{counted(len(others), 'file')} left out, no captures: {', '.join(names)}")
    if not out and left_out:
        more = f" (and {counted(len(left_out) - 1, 'more file')})" if len(left_out) > 1 else ""
        raise UserError(f"no capture can be read: {left_out[0]}{more}")
    if not out:
        raise UserError("none of the files is a capture; give pcap or pcapng files")
    return out


def job(file: Seen) -> Job:
    """Return the job that reads the capture `file` and explains its requests. Raise TraceError or OSError."""
    return trace_jobs.job(kept, file, {}, (), max(1, file.bytes), _check)


def kept(document: Json) -> Json:
    """Return the tables of the capture that the job's argument `document` describes (Parquet in base64)."""

    def work(file: Seen) -> Json:
        found = read.capture(Path(file.path), lambda trace: advance(trace.progress), name=file.shown)
        packed = {name: _packed(table) for name, table in found.tables.items()}
        return {"tables": packed, "packets": found.packets, "warnings": found.warnings}

    return trace_jobs.outcome(document, work)


def _packed(table: pl.DataFrame) -> str:
    out = io.BytesIO()
    table.write_parquet(out)
    return base64.b64encode(out.getbuffer()).decode()


def of_kept(plain: Json) -> Capture:
    """Return the capture in `plain`, a result of the function `kept`. Raise ValueError if malformed."""
    try:
        tables = {
            name: pl.read_parquet(io.BytesIO(base64.b64decode(plain["tables"][name]))) for name in read.TABLES
        }
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error
    return Capture(tables, plain["packets"], plain["warnings"])


def _check(plain: Json) -> None:
    """Raise ValueError if `plain` does not have the form of a result of the function `kept`."""
    shape.check(plain, {"tables": dict.fromkeys(read.TABLES, str), "packets": int, "warnings": [str]})
    of_kept(plain)
