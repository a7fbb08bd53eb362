# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replay a directory of traces, series by series: what a worker measures, and how the work is shared out."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from tcplearn import estimators, provenance
from tcplearn.errors import FailedError, UserError, printable
from tcplearn.replay import engine
from tcplearn.replay.engine import Engine, Figures, Measure, Timer
from tcplearn.replay.flows import Flow, Reader, samples_only, windows
from tcplearn.replay.results import MISSES_LEAST, TOO_SHORT, Series
from tcplearn.traces import TraceError, TraceOptions

#: A series shorter than this is reported apart.
MIN_SAMPLES = 500
WINDOWS_MOST = 120

#: Every series is measured under these too: the ratios' denominators.
BASELINES = ("last", "jacobson")
#: Timers that a chosen miss rate is compared with, each at its own rate.
REFERENCES = ("jacobson", "linux")
#: Which RTO a sample is held against: the one in force when its segment was sent, as `replay` has it, or the
#: one in force just before the sample, which is what a timer that counts its misses can steer.
WHEN = ("send", "before")

#: The timer curves of the report: jacobson by its factor on RTTVAR, the others by their miss rate.
FACTORS = (0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)

Progress = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Options:
    estimators: tuple[str, ...] = ()  # empty: those that a replay compares
    arithmetic: str = "double"
    sender: str = "auto"
    every_ack: bool = False
    unit: str = ""  # of numbers that come without one
    min_samples: int = MIN_SAMPLES
    min_rto_us: int = 0
    flow: str = ""
    restarts: tuple[int, ...] = ()
    match: bool | None = None  # None: where an estimator has a miss rate to set
    miss: float | None = None  # of every timer that takes a miss rate
    curves: bool = False  # for the pictures
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """One series: figures by estimator."""

    name: str
    samples: int
    judged: bool  # long enough
    figures: dict[str, Figures]
    matched: dict[tuple[str, str, str], Timer] = field(default_factory=dict)  # (timer, reference, when)
    curves: dict[tuple[str, float], Figures] = field(default_factory=dict)  # (timer, its parameter)
    restarts: dict[int, dict[str, float]] = field(default_factory=dict)  # mean error by length


@dataclass(slots=True)
class FileResult:
    path: str
    problem: str = ""  # why it cannot be read
    warnings: list[str] = field(default_factory=list)
    series: list[Measured] = field(default_factory=list)
    tiny: int = 0  # flows too short to say anything of


@dataclass(slots=True)
class Suite:
    directory: str
    options: Options
    labels: list[str]
    timers: list[str]  # those whose miss rate can be set
    matching: bool
    files: list[FileResult] = field(default_factory=list)
    worst: list[tuple[Measured, Series]] = field(default_factory=list)  # for pictures
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
    def warnings(self) -> list[str]:
        return [w for f in self.files for w in f.warnings]


def _timers(specs: Sequence[estimators.Spec]) -> list[estimators.Spec]:
    return [s for s in specs if estimators.parameter(s, "miss")]


def traces_in(directory: Path) -> tuple[list[Path], list[str]]:
    """Every file below, hidden ones left out, by name; and what could not be looked into."""
    problems: list[str] = []

    def failed(error: OSError) -> None:
        problems.append(f"{error.filename}: cannot be listed: {(error.strerror or str(error)).lower()}")

    found = []
    for folder, folders, files in os.walk(directory, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(folder, name) for name in files if not name.startswith(".")]
    return sorted(found), problems


class Worker:
    """Measures files one after the other; made once in each process."""

    def __init__(self, directory: str, options: Options, matching: bool) -> None:
        self.directory, self.options = Path(directory), options
        self.trace_options = TraceOptions(options.sender, options.every_ack, unit=options.unit)
        self.specs = estimators.compared(options.estimators, options.miss)
        texts = [s.text for s in self.specs]
        references = (*BASELINES, *(REFERENCES if matching else ()))
        hidden = [estimators.parse(name) for name in dict.fromkeys(references) if name not in texts]
        self.measured = [*self.specs, *hidden]
        self.timers = _timers(self.specs)
        self.matching = matching
        self.curved = self._curves() if options.curves else []

    def _measure(self, specs: Sequence[estimators.Spec]) -> Measure:
        return Measure(specs, self.options.arithmetic, self.options.min_rto_us)

    def _curves(self) -> list[tuple[str, float, estimators.Spec]]:
        jacobson = estimators.parse("jacobson")
        out = [("jacobson", k, estimators.varied(jacobson, "k", k)) for k in FACTORS]
        for spec in self.timers:
            allowed = estimators.parameter(spec, "miss")
            rates = [r for r in RATES if allowed and allowed.low <= r <= allowed.high]
            out += [(spec.text, r, estimators.varied(spec, "miss", r)) for r in rates]
        return out

    def file(self, path: Path, progress: Callable[[float], None] | None = None) -> FileResult:
        out = FileResult(str(path))
        try:
            if not path.is_file():
                what = "is not a file" if path.exists() else "no such file"
                raise TraceError(f"{path}: {what}")
            reader = Reader(path, self.trace_options, self.options.flow)
            for name, flow in self.flows(path, reader):
                if flow.samples < min(TOO_SHORT, self.options.min_samples):
                    out.tiny += 1
                else:
                    out.series.append(self.measure(name, flow))
                if progress:
                    progress(reader.progress)
            out.warnings = [f"{path}: {line}" for line in reader.warnings]
        except (TraceError, OSError) as error:
            said = str(error) if isinstance(error, TraceError) else f"{path}: {error.strerror or error}"
            return FileResult(str(path), problem=printable(said))
        return out

    def flows(self, path: Path, reader: Reader) -> Iterator[tuple[str, Flow]]:
        """With a name for each: the file's where it has none of its own, numbered where it comes again."""
        inside = str(path.relative_to(self.directory))
        seen: Counter[str] = Counter()
        for flow in reader:
            name = inside if flow.name == path.name else f"{inside} {flow.name}"
            seen[name] += 1
            yield (name if seen[name] == 1 else f"{name} #{seen[name]}"), flow

    def measure(self, name: str, flow: Flow) -> Measured:
        all_ = self._measure(self.measured)
        labels = [s.text for s in self.measured]
        figures = dict(zip(labels, all_.flow(flow.rows), strict=True))
        judged = flow.samples >= self.options.min_samples
        out = Measured(name, flow.samples, judged, figures)
        if not judged:
            return out
        if self.curved:
            of_curves = self._measure([spec for _, _, spec in self.curved]).flow(flow.rows)
            out.curves.update({(c[0], c[1]): f for c, f in zip(self.curved, of_curves, strict=True)})
        if self.matching:
            self._match(out, flow)
        samples = samples_only(flow.rows) if self.options.restarts else {}
        for length in self.options.restarts:
            if starts := windows(flow.samples, length, WINDOWS_MOST):
                errors = all_.restarts(samples, starts, length)
                out.restarts[length] = dict(zip(labels, errors, strict=True))
        return out

    def _match(self, out: Measured, flow: Flow) -> None:
        """Each timer with a chosen miss rate, at the rate that the reference had here."""
        wanted: dict[tuple[str, str, str], estimators.Spec] = {}
        for spec, reference, when in itertools.product(self.timers, REFERENCES, WHEN):
            allowed = estimators.parameter(spec, "miss")
            theirs = out.figures[reference].timer(when)
            if theirs.misses < MISSES_LEAST or allowed is None:
                continue
            if allowed.low <= theirs.miss_rate <= allowed.high:
                wanted[spec.text, reference, when] = estimators.varied(spec, "miss", theirs.miss_rate)
        if wanted:
            found = self._measure(list(wanted.values())).flow(flow.rows)
            out.matched.update({key: f.timer(key[2]) for key, f in zip(wanted, found, strict=True)})


_worker: Worker | None = None


def _start(directory: str, options: Options, matching: bool) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    _worker = Worker(directory, options, matching)


def _work(path: str) -> FileResult:
    assert _worker is not None
    return _worker.file(Path(path))


def _results(
    worker: Worker, paths: Sequence[Path], options: Options, progress: Progress | None
) -> Iterator[tuple[int, FileResult]]:
    """Results in any order, with the number of their file."""
    sizes = [max(1, path.stat().st_size) if path.is_file() else 1 for path in paths]
    whole, done = sum(sizes), 0

    def tell(more: float, count: int) -> None:
        if progress:
            progress((done + more) / whole, f"{count} of {len(paths)} files")

    if min(options.jobs, len(paths)) <= 1:
        for i, path in enumerate(paths):
            yield i, worker.file(path, lambda share, i=i: tell(share * sizes[i], i))  # type: ignore[misc]
            done += sizes[i]
            tell(0, i + 1)
        return
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(options.jobs, len(paths)),
        multiprocessing.get_context("spawn"),  # a fork would copy the progress bar's thread in mid-step
        _start,
        (str(worker.directory), options, worker.matching),
    )
    try:
        order = sorted(range(len(paths)), key=lambda i: -sizes[i])  # the long ones first
        waiting: dict[Future[FileResult], int] = {pool.submit(_work, str(paths[i])): i for i in order}
        while waiting:
            ended, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ended:
                i = waiting.pop(future)
                done += sizes[i]
                yield i, future.result()
            tell(0, len(paths) - len(waiting))
    except BrokenProcessPool as error:
        raise FailedError("a worker process died, out of memory perhaps; give a smaller --jobs") from error
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def run(directory: Path, options: Options | None = None, progress: Progress | None = None) -> Suite:
    """Every trace below a directory. Raises UserError with one line that says what to do."""
    options = options or Options()
    shown = printable(directory)
    if not directory.is_dir():
        missing = "is a file; name it as FILE" if directory.exists() else "no such directory; check the path"
        raise UserError(f"{shown}: {missing}")
    specs = estimators.compared(options.estimators, options.miss)
    timers = [s.text for s in _timers(specs)]
    if options.match and not timers:
        raise UserError("--match: none of the estimators compared has a miss rate to set (parameter 'miss')")
    matching = bool(timers) and options.match is not False
    paths, problems = traces_in(directory)
    if not paths:
        raise UserError(problems[0] if problems else f"{shown}: no file in it; name a directory of traces")
    worker = Worker(str(directory), options, matching)
    files: list[FileResult | None] = [None] * len(paths)
    for i, result in _results(worker, paths, options, progress):
        files[i] = result
    out = Suite(str(directory), options, [s.text for s in specs], timers, matching)
    out.files = [FileResult(str(directory), problem=p) for p in problems] + [f for f in files if f]
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
    """Read again, for their pictures: times, samples, predictions."""
    options = suite.options
    worker = Worker(suite.directory, options, matching=False)
    specs = [spec for spec in worker.measured if spec.text in labels]
    names = {m.name for m in wanted}
    found: dict[str, Series] = {}
    for file in suite.files:
        if not names & {s.name for s in file.series}:
            continue
        path = Path(file.path)
        for name, flow in worker.flows(path, Reader(path, worker.trace_options, options.flow)):
            if name in names:
                found[name] = _series(name, flow, Engine(specs, options.arithmetic, options.min_rto_us))
    return [found[m.name] for m in wanted]


def _series(name: str, flow: Flow, fresh: Engine) -> Series:
    fresh.feed(flow.rows)
    done = fresh.finish(int(flow.rows["flow"][0]))
    assert done is not None
    return engine.series("", name, fresh.labels, done)
