# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures a trace file for `study experts`: a job runs part of the parameter grid on all of its flows."""

import contextlib
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from tcplearn import estimators
from tcplearn.errors import printable
from tcplearn.jobs import Job, Progress, shape
from tcplearn.output import temporary
from tcplearn.replay import trace_jobs
from tcplearn.replay.engine import Figures, Measure
from tcplearn.replay.flows import Flow, Reader
from tcplearn.replay.trace_jobs import Json, Seen, Where
from tcplearn.traces import TraceError, TraceOptions, piped

#: Number of triples (N, eta, alpha) in a job: few enough for the processor's cache and to spread jobs evenly.
PART = 15

_SUMS = (int, float, int, float, int, int, float, float)  # the form of Sums in a stored result


class Sums(NamedTuple):
    """An estimator's sums over flows: scored samples and errors of the first halves, then of the whole flows;
    timed samples, misses (RTTs above the RTO), RTOs and excess waits (RTO minus RTT where positive)."""

    first_scored: int = 0
    first_error_us: float = 0.0
    scored: int = 0
    error_us: float = 0.0
    timed: int = 0
    misses: int = 0
    rto_us: float = 0.0
    excess_us: float = 0.0

    def plus(self, other: Sequence[float]) -> "Sums":
        return Sums._make(a + b for a, b in zip(self, other, strict=True))

    @property
    def error(self) -> float:
        return self.error_us / max(1, self.scored)

    def half(self, which: int) -> float:
        """Return the mean error in us over the first (`which` = 0) or second (1) halves of the flows."""
        if which == 0:
            return self.first_error_us / max(1, self.first_scored)
        return (self.error_us - self.first_error_us) / max(1, self.scored - self.first_scored)

    @property
    def miss_rate(self) -> float:
        return self.misses / max(1, self.timed)


def seen(path: Path, stack: contextlib.ExitStack) -> Seen:
    """Return the path, hash, size and modification time of the file `path`. A pipe ("-": standard input) is
    copied, because it is read repeatedly; the copy exists until `stack` closes. Raise TraceError."""
    try:
        if str(path) != "-" and (path.is_file() or not path.exists()):
            return Seen.of(path)
        name = "stdin" if str(path) == "-" else path.name
        copy = stack.enter_context(temporary.folder()) / "trace"
        with contextlib.ExitStack() as opened:
            source = sys.stdin.buffer if str(path) == "-" else opened.enter_context(path.open("rb"))
            piped.copy(source, opened.enter_context(copy.open("wb")), printable(name))
        return Seen.of(copy, name)
    except OSError as error:
        raise TraceError(trace_jobs.problem(path, error)) from error


def jobs(file: Seen, settings: Json, specs: Sequence[str]) -> list[Job]:
    """Return the jobs that measure the estimators `specs` on `file`, at most PART estimators in each."""
    known = {**settings, "title": Path(file.shown).name}
    parts = [specs[i : i + PART] for i in range(0, len(specs), PART)]
    return [
        trace_jobs.job(part, file, known, of, max(1, file.bytes), partial(_check, count=len(of)))
        for of in parts
    ]


def _check(plain: Json, count: int) -> None:
    """Raise ValueError unless `plain` has the scores of `count` estimators for each flow."""
    flows = {"samples": [int], "names": [str], "copies_keys": [str]}
    shape.check(plain, {"skipped": int, **flows, "warnings": [str], "scores": [[_SUMS]]})
    of_each = [*(plain[key] for key in flows), *plain["scores"]]
    if len({len(one) for one in of_each}) != 1 or len(plain["scores"]) != count:
        raise ValueError("scores are not of each estimator and flow")


def run(work: Mapping[str, Job], progress: Progress | None, where: Where) -> Json:
    """Run the jobs `work` and return their results by key. Raise TraceError if a file cannot be read."""
    try:
        done = trace_jobs.run(list(work.values()), "study", where, progress, "parts of the grid")
    finally:
        _flows.cache_clear()
    for key in work:
        if "problem" in done[key]:
            raise TraceError(done[key]["problem"])
    return done


def part(document: Json) -> Json:
    options = document["options"]
    read = TraceOptions(sender=options["sender"], every_ack=options["every_ack"])
    specs = [estimators.parse(text) for text in document["estimators"]]
    measure = Measure(specs, options["arithmetic"])

    def measured(file: Seen) -> Json:
        with _reading:
            found = _flows(file, read, options["flow"], options["min_samples"])
        scores = zip(*(measure.halves(flow.rows) for flow in found.judged), strict=True)
        return {
            "skipped": found.skipped,
            "samples": [flow.samples for flow in found.judged],
            "names": [flow.name for flow in found.judged],
            "copies_keys": [flow.copies_key for flow in found.judged],
            "warnings": found.warnings,
            "scores": [[_plain(*halves) for halves in flows] for flows in scores] or [[] for _ in specs],
        }

    return trace_jobs.outcome(document, measured)


def _plain(first: Figures, whole: Figures) -> Sums:
    return Sums(first.scored, first.error_us, whole.scored, whole.error_us, *astuple(whole.send))


@dataclass(frozen=True)
class _Flows:
    judged: list[Flow]
    skipped: int  # flows left out because they have too few samples
    warnings: list[str]


_reading = threading.Lock()


@lru_cache(maxsize=1)
def _flows(file: Seen, read: TraceOptions, flow: str, min_samples: int) -> _Flows:
    """Return the flows of `file`, and keep them until another file is read."""
    reader = Reader(Path(file.path), read, flow, printable(file.shown))
    flows = list(reader)
    judged = [flow for flow in flows if flow.samples >= min_samples]
    return _Flows(judged, len(flows) - len(judged), reader.warnings)
