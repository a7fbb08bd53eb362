# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replays a directory of traces under every estimator: runs a job for each file and combines the results."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tcplearn import estimators, provenance
from tcplearn.errors import UserError, printable
from tcplearn.jobs import Job, Progress
from tcplearn.replay import copies, engine, trace_jobs
from tcplearn.replay.copies import Copied
from tcplearn.replay.engine import Engine
from tcplearn.replay.flows import Flow, Reader
from tcplearn.replay.results import Series
from tcplearn.replay.trace_jobs import Seen, Where
from tcplearn.suite import measure
from tcplearn.suite.measure import FileResult, Measured, Options, Worker, named_flows, timers_of
from tcplearn.traces import TraceError


@dataclass(slots=True)
class Suite:
    directory: str
    options: Options
    labels: list[str]
    timers: list[str]  # estimators with a parameter `miss`
    matching: bool
    files: list[FileResult] = field(default_factory=list)
    worst: list[tuple[Measured, Series]] = field(default_factory=list)  # the worst series, for pictures
    made_by: dict[str, str] = field(default_factory=dict)

    @property
    def series(self) -> list[Measured]:
        return [s for f in self.files for s in f.series if s.judged]

    @property
    def short(self) -> list[Measured]:
        return [s for f in self.files for s in f.series if not s.judged]

    @property
    def problems(self) -> list[str]:
        return [f.problem for f in self.files if f.problem]

    @property
    def copies(self) -> list[Copied]:
        return [c for f in self.files for c in f.copies]

    @property
    def warnings(self) -> list[str]:
        return [f"{f.path}: {w}" for f in self.files for w in f.warnings]


def traces_in(directory: Path) -> tuple[list[Path], list[str]]:
    """Return the sorted files and broken links below `directory` except hidden ones, and a message for
    each folder that cannot be listed."""
    problems: list[str] = []

    def failed(error: OSError) -> None:
        problems.append(f"{error.filename}: cannot be listed: {(error.strerror or str(error)).lower()}")

    found = []
    for folder, folders, files in os.walk(directory, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(folder, name) for name in files if not name.startswith("."))
        # unlike those of Path these functions return False in a folder that must not be searched
        found += [p for p in paths if os.path.isfile(p) or not os.path.exists(p)]  # noqa: PTH110, PTH113
    return sorted(found), problems


def _files(suite: Suite, paths: Sequence[Path], progress: Progress | None, where: Where) -> list[FileResult]:
    """Return the result of each file in `paths`. Jobs for long files start first."""
    found: dict[Path, Job | FileResult] = {}
    for path in paths:
        try:
            inside = str(path.relative_to(suite.directory))
            found[path] = measure.job(Seen.of(path), inside, suite.options, suite.matching)
        except (TraceError, OSError) as error:
            found[path] = FileResult(str(path), problem=trace_jobs.problem(path, error))
    work = sorted((job for job in found.values() if isinstance(job, Job)), key=lambda job: -job.cost)
    done = trace_jobs.run(work, "suite", where, progress, "files", in_processes=True)
    return [
        measure.from_plain(str(path), done[it.key]) if isinstance(it, Job) else it
        for path, it in found.items()
    ]


def run(
    directory: Path,
    options: Options | None = None,
    progress: Progress | None = None,
    where: Where | None = None,
) -> Suite:
    """Measure every trace below `directory` under every estimator of `options`. Raise UserError."""
    options, where = options or Options(), where or Where()
    shown = printable(directory)
    if not directory.is_dir():
        missing = "is a file; name its folder" if directory.exists() else "no such directory; check the path"
        raise UserError(f"{shown}: {missing}")
    specs = estimators.compared(options.estimators, options.miss)
    timers = [s.text for s in timers_of(specs)]
    if options.match and not timers:
        raise UserError("--match: none of the estimators compared has a miss rate to set (parameter 'miss')")
    matching = bool(timers) and options.match is not False
    paths, problems = traces_in(directory)
    if not paths:
        raise UserError(problems[0] if problems else f"{shown}: no file in it; name a directory of traces")
    out = Suite(str(directory), options, [s.text for s in specs], timers, matching)
    out.files = [FileResult(str(directory), problem=p) for p in problems]
    out.files += _files(out, paths, progress, where)
    _leave_out_copies(out)
    _check(out, shown)
    out.made_by = provenance.made_by(
        estimators=" ".join(out.labels),
        arithmetic=options.arithmetic,
        sender=options.sender,
        every_ack=str(options.every_ack).lower(),
        min_rto_us=str(options.min_rto_us),
        min_samples=str(options.min_samples),
        flow=options.flow,
        restarts=" ".join(map(str, options.restarts)),
        match=str(matching).lower(),
    )
    return out


def _leave_out_copies(out: Suite) -> None:
    """Leave only the first of equal series (flows) in `out`."""
    seen = copies.Seen()
    inside = [os.path.relpath(file.path, out.directory) for file in out.files]
    for number, file in enumerate(out.files):
        firsts = [seen.first(s.copies_key, number, s.name) for s in file.series]
        file.copies = copies.of_file(inside[number], [s.name for s in file.series], firsts, inside)
        file.series = [s for s, first in zip(file.series, firsts, strict=True) if first is None]
        if file.copies and not file.series:
            file.tiny = 0  # its short flows are copies too


def _check(out: Suite, shown: str) -> None:
    if out.series:
        return
    if len(out.problems) == len(out.files):
        more = f" (and {len(out.problems) - 1} more files)" if len(out.problems) > 1 else ""
        raise UserError(f"{shown}: none of its files can be read: {out.problems[0]}{more}")
    where = f" with '{out.options.flow}' in its name" if out.options.flow else ""
    longest = max((s.samples for s in out.short), default=0)
    todo = f"the longest has {longest}: --min-samples {longest}" if longest else "nothing to judge"
    raise UserError(f"{shown}: no series{where} of {out.options.min_samples} samples or more; {todo}")


def series_of(suite: Suite, wanted: Sequence[Measured], labels: Sequence[str]) -> list[Series]:
    """Read the series `wanted` again, and return their times, RTTs and predictions of `labels`, for
    pictures."""
    options = suite.options
    worker = Worker(options, matching=False)
    specs = [spec for spec in worker.measured if spec.text in labels]
    names = {m.name for m in wanted}
    found: dict[str, Series] = {}
    for file in suite.files:
        if not names & {s.name for s in file.series}:
            continue
        path = Path(file.path)
        inside = str(path.relative_to(suite.directory))
        for name, flow in named_flows(inside, Reader(path, worker.trace_options, options.flow)):
            if name in names:
                found[name] = _series(name, flow, Engine(specs, options.arithmetic, options.min_rto_us))
    return [found[m.name] for m in wanted]


def _series(name: str, flow: Flow, fresh: Engine) -> Series:
    fresh.feed(flow.rows)
    done = fresh.finish(int(flow.rows["flow"][0]))
    assert done is not None
    return engine.series("", name, fresh.labels, done)
