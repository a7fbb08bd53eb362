# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Captures, explained: a job for each file of several, and the answer for all together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tcplearn import provenance
from tcplearn.errors import UserError, printable
from tcplearn.explain import advice, forecast, read, silence
from tcplearn.explain.model import Explained
from tcplearn.jobs import Job, Progress
from tcplearn.output.numbers import counted
from tcplearn.replay import trace_jobs
from tcplearn.replay.trace_jobs import Seen, Where
from tcplearn.suite.suite import traces_in
from tcplearn.traces import TraceError

if TYPE_CHECKING:
    from tcplearn.explain.read import Capture, Watch
    from tcplearn.traces import CaptureTrace, Interface

NOT_A_CAPTURE = "not a capture (pcap, pcapng); explain needs the packets themselves"


def run(
    sources: Sequence[Path | Interface],
    *,
    host: str = "",
    seed: int = 0,
    progress: Progress | None = None,
    watch: Watch | None = None,
    where: Where | None = None,
) -> Explained:
    """Explain captures and folders of them together. `host`: only connections whose names contain it.
    `seed`: of the draws behind forecasts. `watch` is called while a source that is alone, or no file, is
    read. `where`: the place of the work on several files. Raises UserError, and TraceError for what cannot
    be read."""
    named, below, problems = _files(sources)
    if len(named) == 1 and not below:
        captures = {named[0]: _alone(named[0], progress, watch)}
    else:
        captures = _several(named, below, problems, progress, watch, where or Where())
    found = _together(captures)
    found.named = " ".join(map(printable, sources)) if len(sources) < 4 else f"{len(captures)} captures"
    found.warnings[:0] = problems
    if host:
        _choose(found, host)
    silence.name_silence(found)
    found.forecast = forecast.of(found, seed)
    found.advice = advice.of(found, found.forecast)
    found.made_by = provenance.made_by(seed=str(seed), **({"host": host} if host else {}))
    return found


def _files(sources: Sequence[Path | Interface]) -> tuple[list[Path | Interface], set[Path], list[str]]:
    """Return each source once, with the files below folders in their place; these files; problems of
    folders."""
    named: list[Path | Interface] = []
    lenient: set[Path] = set()
    problems: list[str] = []
    for source in sources:
        if not isinstance(source, Path) or not source.is_dir():
            named.append(source)
            continue
        below, wrong = traces_in(source)
        if not below:
            raise UserError(f"{printable(source)}: there is no file in it; name a folder of captures")
        lenient.update(below)
        named += below
        problems += wrong
    return list(dict.fromkeys(named)), lenient, problems


def _alone(source: Path | Interface, progress: Progress | None, watch: Watch | None) -> Capture:
    name = printable(source)
    if not read.may_be_capture(source):
        raise UserError(f"{name}: {NOT_A_CAPTURE}")

    def seen(trace: CaptureTrace) -> None:
        if progress:
            progress(trace.progress, name)
        if watch:
            watch(trace)

    return read.capture(source, seen)


def _several(
    named: Sequence[Path | Interface],
    below: set[Path],
    problems: list[str],
    progress: Progress | None,
    watch: Watch | None,
    where: Where,
) -> dict[Path | Interface, Capture]:
    """Return what each source has. A file that cannot be read is a line in `problems`; of folders, files
    that are no captures are only counted, and copies are left out."""
    found: dict[Path | Interface, Job | Capture] = {}
    firsts: dict[str, Path] = {}
    left_out: list[str] = []
    others = 0
    for source in named:
        if not isinstance(source, Path) or not source.is_file():
            found[source] = read.capture(source, watch)
        elif read.may_be_capture(source):
            try:
                job = read.job(Seen.of(source, printable(source)))
            except (TraceError, OSError) as error:
                left_out.append(trace_jobs.problem(source, error))
                continue
            first = firsts.setdefault(job.key, source)
            if first is source:
                found[source] = job
            else:
                left_out.append(f"{printable(source)}: a copy of {printable(first)}")
        elif source in below:
            others += 1
        else:
            left_out.append(f"{printable(source)}: {NOT_A_CAPTURE}")
    work = sorted((one for one in found.values() if isinstance(one, Job)), key=lambda job: -job.cost)
    done = trace_jobs.run(work, "explain", where, progress, "files", in_processes=True)
    out: dict[Path | Interface, Capture] = {}
    for source, one in found.items():
        if not isinstance(one, Job):
            out[source] = one
        elif "problem" in (plain := done.pop(one.key)):
            left_out.append(plain["problem"])
        else:
            out[source] = read.of_kept(plain)
    problems += [f"left out: {line}" for line in left_out]
    if others:
        problems.append(f"{counted(others, 'file')} of folders that are no captures left out")
    if not out and left_out:
        more = f" (and {counted(len(left_out) - 1, 'more file')})" if len(left_out) > 1 else ""
        raise UserError(f"no capture can be read: {left_out[0]}{more}")
    if not out:
        raise UserError("no capture in what was named; give pcap or pcapng files")
    return out


def _together(captures: dict[Path | Interface, Capture]) -> Explained:
    """Return the tables of all, with the numbers of their sources."""
    import polars as pl

    def table(name: str) -> pl.DataFrame:
        parts = (one.tables.pop(name) for one in captures.values())
        numbered = [
            part.select(pl.lit(number, pl.UInt32).alias("source"), pl.all())
            for number, part in enumerate(parts)
        ]
        return pl.concat(numbered, rechunk=True)

    sources = [printable(source) for source in captures]
    packets = sum(one.packets for one in captures.values())
    warnings = [
        f"{name}: {line}"
        for name, one in zip(sources, captures.values(), strict=True)
        for line in one.warnings
    ]
    requests, stalls, connections = map(table, read.TABLES)
    return Explained(requests, stalls, connections, sources, packets, warnings=warnings)


def _choose(found: Explained, host: str) -> None:
    import polars as pl

    ends = (pl.col(end).cast(pl.String).str.contains(host, literal=True) for end in ("client", "server"))
    mine = pl.any_horizontal(*ends)
    found.requests = found.requests.filter(mine)
    found.stalls = found.stalls.filter(mine)
    found.connections = found.connections.filter(mine)
    if not found.connections.height:
        raise UserError(
            f"--host {printable(host)}: no connection has it in a name; leave it out to see which there are"
        )
