# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures one file of a suite of traces: replays each flow with enough RTTs under every estimator."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from tcplearn import estimators
from tcplearn.errors import printable
from tcplearn.jobs import Job, advance, shape
from tcplearn.replay import trace_jobs
from tcplearn.replay.copies import Copied
from tcplearn.replay.engine import Figures, Measure, Timer
from tcplearn.replay.flows import Flow, Reader, samples_only, windows
from tcplearn.replay.results import MISSES_LEAST, TOO_SHORT
from tcplearn.replay.trace_jobs import Json, Seen
from tcplearn.replay.verdict import PROBES, SPURIOUS
from tcplearn.traces import TraceOptions

FIRED = (SPURIOUS, PROBES)

#: The least RTT samples of a series; shorter series are reported separately.
MIN_SAMPLES = 500
WINDOWS_MOST = 120

#: The estimators in the denominators of ratios; every series is also measured under these.
BASELINES = ("last", "jacobson")
#: Reference timers: a timer is set to the miss rate of each of these and then compared with it.
REFERENCES = ("jacobson", "linux")
#: The RTO with which an RTT sample is compared: the RTO when its segment was sent ("send", as in `replay`) or
#: the RTO just before the sample ("before"), whose misses a timer can count and control.
WHEN = ("send", "before")

#: The points of a timer's curve of miss rate against wait have these factors of RTTVAR (`jacobson`) or these
#: requested miss rates (other timers).
FACTORS = (0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class Options:
    estimators: tuple[str, ...] = ()  # empty: the default estimators of a replay
    arithmetic: str = "double"
    sender: str = "auto"
    every_ack: bool = False
    unit: str = ""  # unit of RTTs that have none in the file
    min_samples: int = MIN_SAMPLES
    min_rto_us: int = 0
    flow: str = ""
    restarts: tuple[int, ...] = ()
    match: bool | None = None  # compare at equal miss rates; None: if an estimator's rate can be set
    miss: float | None = None  # sets the miss rate of every timer that has this parameter
    curves: bool = False  # whether to measure the points of the report's curves


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of replaying one series (a flow with enough RTT samples) under each estimator."""

    name: str
    samples: int
    judged: bool  # whether it has at least Options.min_samples samples
    figures: dict[str, Figures]
    fired: dict[str, dict[str, int]]  # by estimator and key of FIRED
    copies_key: str  # equal for equal samples in another file
    matched: dict[tuple[str, str, str], Timer] = field(default_factory=dict)  # (timer, reference, when)
    curves: dict[tuple[str, float], Figures] = field(default_factory=dict)  # (timer, its parameter)
    restarts: dict[int, dict[str, float]] = field(default_factory=dict)  # by window length: mean errors


@dataclass(slots=True)
class FileResult:
    path: str
    problem: str = ""  # why the file cannot be read
    warnings: list[str] = field(default_factory=list)  # warnings, without the file's path
    series: list[Measured] = field(default_factory=list)
    tiny: int = 0  # flows too short to be reported
    copies: list[Copied] = field(default_factory=list)  # series left out because an earlier file has them


def timers_of(specs: Sequence[estimators.Spec]) -> list[estimators.Spec]:
    return [s for s in specs if estimators.parameter(s, "miss")]


def named_flows(inside: str, reader: Reader) -> Iterator[tuple[str, Flow]]:
    """Yield each flow with its name: the file's path `inside` the suite's directory and, unless it is the
    file's name, the flow's own name. If this name occurs again, a number is appended."""
    title = inside.rpartition("/")[2]
    seen: Counter[str] = Counter()
    for flow in reader:
        name = inside if flow.name == title else f"{inside} {flow.name}"
        seen[name] += 1
        yield (name if seen[name] == 1 else f"{name} #{seen[name]}"), flow


class Worker:
    """Measures trace files one after the other."""

    def __init__(self, options: Options, matching: bool) -> None:
        self.options = options
        self.trace_options = TraceOptions(options.sender, options.every_ack, unit=options.unit)
        self.specs = estimators.compared(options.estimators, options.miss)
        texts = [s.text for s in self.specs]
        references = (*BASELINES, *(REFERENCES if matching else ()))
        hidden = [estimators.parse(name) for name in dict.fromkeys(references) if name not in texts]
        self.measured = [*self.specs, *hidden]
        self.timers = timers_of(self.specs)
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

    def file(self, file: Seen, inside: str) -> FileResult:
        """Return the results for `file`, whose path in the suite is `inside`. Raise TraceError or OSError."""
        out = FileResult(file.shown)
        reader = Reader(Path(file.path), self.trace_options, self.options.flow, printable(file.shown))
        for name, flow in named_flows(inside, reader):
            if flow.samples < min(TOO_SHORT, self.options.min_samples):
                out.tiny += 1
            else:
                out.series.append(self.measure(name, flow))
            advance(reader.progress)
        out.warnings = reader.warnings
        return out

    def measure(self, name: str, flow: Flow) -> Measured:
        all_ = self._measure(self.measured)
        labels = [s.text for s in self.measured]
        timed = dict(zip(labels, all_.timed(flow.rows), strict=True))
        judged = flow.samples >= self.options.min_samples
        figures = {label: of for label, (of, _) in timed.items()}
        fired = {label: {key: of[key] for key in FIRED} for label, (_, of) in timed.items()}
        out = Measured(name, flow.samples, judged, figures, fired, flow.copies_key)
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
        """Set each timer to the share of RTTs above the RTO that each reference timer had on `flow`, and
        measure it again. Add the results to `out.matched`."""
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


def job(file: Seen, inside: str, options: Options, matching: bool) -> Job:
    specs = [s.text for s in estimators.compared(options.estimators, options.miss)]
    settings = {"inside": inside, "suite": asdict(options), "matching": matching}
    labels = (*specs, *BASELINES, *(REFERENCES if matching else ()))
    return trace_jobs.job(
        measured_file, file, settings, specs, max(1, file.bytes), partial(_check, labels=labels)
    )


def _check(plain: Json, labels: Sequence[str]) -> None:
    """Raise ValueError if `plain` lacks the form that `from_plain` needs, for the estimators `labels`."""
    series = {
        "name": str,
        "samples": int,
        "judged": bool,
        "figures": dict.fromkeys(labels, Figures),
        "fired": dict.fromkeys(labels, dict.fromkeys(FIRED, int)),
        "matched": [(str, str, str, Timer)],
        "curves": [(str, float, Figures)],
        "restarts": [(int, dict.fromkeys(labels, float))],
    }
    shape.check(plain, {"warnings": [str], "tiny": int, "series": [series]})


def measured_file(document: Json) -> Json:
    given = document["options"]
    options: Json = {k: tuple(v) if isinstance(v, list) else v for k, v in given["suite"].items()}
    worker = Worker(Options(**options), given["matching"])
    return trace_jobs.outcome(document, lambda file: to_plain(worker.file(file, given["inside"])))


def to_plain(file: FileResult) -> Json:
    """Return `file` without its path as JSON. Every bit of a float is kept."""
    return {"warnings": file.warnings, "series": [*map(_series_to_plain, file.series)], "tiny": file.tiny}


def from_plain(path: str, plain: Json) -> FileResult:
    """Return the FileResult of `path` from a result of `to_plain`, or from the reason why it could not be
    read."""
    if "problem" in plain:
        return FileResult(path, problem=plain["problem"])
    return FileResult(path, "", plain["warnings"], [_series_of(s) for s in plain["series"]], plain["tiny"])


def _series_to_plain(s: Measured) -> Json:
    plain = asdict(s)
    for name in ("matched", "curves"):
        plain[name] = [[*key, of] for key, of in plain[name].items()]
    return {**plain, "restarts": [*map(list, s.restarts.items())]}


def _series_of(plain: Json) -> Measured:
    made = {
        "figures": {label: _figures_of(f) for label, f in plain["figures"].items()},
        "matched": {(label, reference, when): Timer(**t) for label, reference, when, t in plain["matched"]},
        "curves": {(label, value): _figures_of(f) for label, value, f in plain["curves"]},
        "restarts": dict(plain["restarts"]),
    }
    return Measured(**{**plain, **made})


def _figures_of(plain: Json) -> Figures:
    return Figures(**{**plain, "send": Timer(**plain["send"]), "before": Timer(**plain["before"])})
