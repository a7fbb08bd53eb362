# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replay a trace under every estimator: traces -> samples -> estimators -> rows."""

from __future__ import annotations

import copy
import functools
import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn import _native, estimators, metrics, provenance
from tcplearn.errors import UserError, printable
from tcplearn.output.numbers import counted
from tcplearn.output.rows import TOTAL
from tcplearn.replay import bootstrap, verdict
from tcplearn.replay.engine import Engine, series
from tcplearn.replay.flows import BATCH_ROWS
from tcplearn.replay.results import TOO_SHORT, Distribution, Floats, Replay, Row, Series
from tcplearn.traces import CaptureTrace, Interface, Trace, TraceOptions, open_trace, read_in_part

#: How many flows get pictures: those with most samples.
PICTURED = 8
#: How many senders of a file are named in its notes.
SIDES_NAMED = 3
BASELINE = "jacobson"

Measured = _native.ReplayedFlow | _native.ReplayTotals
Progress = Callable[[float, str], None]
#: Called several times a second while something live is read, with its trace, which it may stop, and with
#: what gives the result so far, None while there is none.
Watch = Callable[[CaptureTrace, Callable[[], "Replay | None"]], None]
Source = Path | Interface


@dataclass(frozen=True, slots=True)
class Options:
    estimators: tuple[str, ...] = ()  # empty: estimators.DEFAULTS
    arithmetic: str = "double"  # or "fixed"
    sender: str = "auto"  # near, far, client, server, both, or an address
    every_ack: bool = False
    unit: str = ""  # of numbers that come without one
    min_samples: int = TOO_SHORT
    min_rto_us: int = 0
    flow: str = ""  # only flows whose name contains it
    miss: float | None = None  # of every timer that takes a miss rate
    seed: int = 0  # of the resamples behind the intervals


def _host(flow_name: str) -> str:
    """The sender's address out of "10.0.0.1:80 > 10.0.0.2:4242"."""
    return flow_name.partition(" > ")[0].rpartition(":")[0]


def _rate(count: int, of: int) -> float | None:
    return count / of if of else None


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base


#: Each metric with the engine's name of it, were it in microseconds there.
_IN_US = tuple((metric, f"{metrics.without_unit(metric.key)}_us") for metric in metrics.METRICS)


def _values(measured: Mapping[str, Any]) -> dict[str, float | None]:
    """The engine's figures under the keys of `metrics`, its microseconds as milliseconds."""
    out: dict[str, float | None] = {}
    for metric, us in _IN_US:
        if metric.share_of:
            out[metric.key] = _rate(*(measured[counter] for counter in metric.share_of))
        elif us in measured and metric.unit == "ms":
            out[metric.key] = None if measured[us] is None else measured[us] / 1000
        elif metric.key in measured:
            out[metric.key] = measured[metric.key]
    return out


Bounds = tuple[Floats, Floats]


def _with_intervals(rows: list[Row], bounds: Bounds | None) -> list[Row]:
    """Low and high beside each ratio there is; nothing where either end is not bounded."""
    if bounds is None:
        return rows
    out = []
    for row, low, high in zip(rows, *bounds, strict=True):
        ends: dict[str, float | None] = {}
        for name, a, b in zip(bootstrap.RATIOS, low.tolist(), high.tolist(), strict=True):
            known = row[name] is not None
            ends[f"{name}_low"] = a if known and math.isfinite(a) else None
            ends[f"{name}_high"] = b if known and math.isfinite(b) else None
        out.append(row.changed(ends))
    return out


def _with_regret(rows: list[Row], hindsight: Mapping[str, float]) -> list[Row]:
    """`hindsight`: errors of the best in hindsight, as `best_ewma_us`."""
    best = {f"regret_{metrics.without_unit(key)}_ratio": us / 1000 for key, us in hindsight.items()}
    return [r.changed({key: _ratio(r["mean_abs_error_ms"], ms) for key, ms in best.items()}) for r in rows]


def _with_ratios(rows: list[Row]) -> list[Row]:
    base, linux = (next((r for r in rows if r.estimator == n), None) for n in (BASELINE, verdict.LINUX))
    out = []
    for r in rows:
        ratios = {m.ratio_key: _ratio(r[m.key], base[m.key]) for m in metrics.with_ratio()} if base else {}
        if linux:
            ratios[verdict.LINUX_RATIO] = _ratio(r["mean_rto_ms"], linux["mean_rto_ms"])
        out.append(r.changed(ratios))
    return out


def _with_linux(rows: list[Row], bounds: Bounds | None) -> list[Row]:
    """The interval of each mean RTO over that of Linux's timer."""
    if bounds is None:
        return rows
    low, high = (of[:, bootstrap.RTO].tolist() for of in bounds)
    return [
        r.changed({f"{verdict.LINUX_RATIO}_low": a, f"{verdict.LINUX_RATIO}_high": b})
        for r, a, b in zip(rows, low, high, strict=True)
    ]


@dataclass
class Sides:
    """Who sent the data of a source."""

    source: str
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)  # flows, by host and why it is the sender
    skipped: int = 0  # flows of the other side

    def notes(self) -> list[str]:
        out = [
            f"{self.source}: data sent by {host} ({reason})"
            + (f", flows: {flows}" if len(self.sent) > 1 else "")
            for (host, reason), flows in self.sent.most_common(SIDES_NAMED)
        ]
        if len(self.sent) > SIDES_NAMED:
            out.append(f"{self.source}: and {len(self.sent) - SIDES_NAMED} more senders")
        if self.skipped:
            out.append(f"{self.source}: {counted(self.skipped, 'direction')} left out (--sender both)")
        return out


class _Run:
    """One call of `run`: what it has gathered so far."""

    def __init__(self, options: Options) -> None:
        specs = estimators.compared(options.estimators, options.miss)
        self.options = options
        self.specs = specs
        self.labels = self._engine().labels
        self.requested = {label: estimators.miss_rate(label) for label in self.labels}
        self.totals = _native.ReplayTotals(len(specs))
        self.base, self.linux = (
            self.labels.index(name) if name in self.labels else None for name in (BASELINE, verdict.LINUX)
        )
        self.total = bootstrap.Total(self.options.seed)
        self.lossy = False
        self.part = False
        self.alone: list[verdict.Alone] = []
        self.out = Replay()
        self._pictured: list[tuple[int, int, Series, list[Distribution]]] = []  # a heap by samples
        self._flows = 0
        self._names: Counter[tuple[str, str]] = Counter()

    def _engine(self) -> Engine:
        return Engine(self.specs, self.options.arithmetic, self.options.min_rto_us)

    def _rows(self, source: str, name: str, of: Measured, *, lossy: bool) -> list[Row]:
        """Of a flow or of the totals, a row for each estimator; `lossy`: the trace shows what was lost."""
        least, samples = self.options.min_samples, of.samples
        judged = samples >= least
        note = "" if judged else f"too short to judge: {samples} samples, fewer than {least}"
        rows = []
        for label, measured in zip(self.labels, of.metrics(), strict=True):
            values = _values(measured)
            values["rto_miss_rate_requested"] = self.requested[label]
            values["mean_flight_segments"] = of.flight_segments
            if not lossy:
                values["losses"] = None
            arithmetic = self.options.arithmetic
            rows.append(Row(source, name, label, arithmetic, samples, judged, note, values))
        return _with_ratios(rows)

    def _finish_flow(self, source: str, name: str, flow: Any, *, lossy: bool) -> None:
        if flow is None or flow.samples == 0:
            return
        self._flows += 1
        self._names[source, name] += 1
        if (again := self._names[source, name]) > 1:  # the ports were used again, or the file named twice
            name = f"{name} #{again}"
        rows = self._rows(source, name, flow, lossy=lossy)
        self.lossy = self.lossy or lossy
        blocks, bounds, over_linux = flow.blocks(), None, None
        if flow.samples >= self.options.min_samples:
            rows = _with_regret(rows, flow.hindsight())
            rng = bootstrap.of_data(self.options.seed, blocks)
            low, high, drawn = bootstrap.of_flow(blocks, self.base or 0, rng)
            self.total.add(drawn, len(blocks))
            if self.base is not None:
                bounds = low, high
            if self.linux is not None:
                over_linux = bootstrap.intervals(drawn, self.linux, bootstrap.tail_of(len(blocks)))
            self._judge_alone(rows, name, drawn, len(blocks))
        else:
            self.total.pool(blocks)
        self.out.rows += _with_linux(_with_intervals(rows, bounds), over_linux)
        self.totals.add(flow)
        if flow.samples < self.options.min_samples:
            return
        if len(self._pictured) == PICTURED and flow.samples <= self._pictured[0][0]:
            return
        entry = (
            flow.samples,
            -self._flows,
            series(source, name, self.labels, flow),
            self._cdf(source, name, flow),
        )
        if len(self._pictured) < PICTURED:
            heapq.heappush(self._pictured, entry)
        else:
            heapq.heapreplace(self._pictured, entry)

    def _judge_alone(self, rows: list[Row], name: str, drawn: Floats, blocks: int) -> None:
        def waits(base: str) -> dict[str, verdict.Interval]:
            of = bootstrap.intervals(drawn, self.labels.index(base), bootstrap.tail_of(blocks))
            return self._waits(of)

        if found := verdict.alone(rows, name, waits):
            self.alone.append(found)

    def _cdf(self, source: str, name: str, measured: Any) -> list[Distribution]:
        return [
            Distribution(source, name, label, p, e / 1e3)
            for label, (p, e) in zip(self.labels, measured.cdf(), strict=True)
            if len(e)
        ]

    def add(self, path: Source, progress: Progress | None, watch: Watch | None) -> None:
        engine = self._engine()
        source = printable(path)
        of = self.options
        trace = open_trace(path, options=TraceOptions(of.sender, of.every_ack, unit=of.unit))
        sides = Sides(source)
        live = trace if isinstance(trace, CaptureTrace) and trace.live and watch else None
        unended: set[int] = set()
        for batch in trace.batches(BATCH_ROWS):
            engine.feed(batch)
            if live:
                unended.update(np.unique(batch["flow"]).tolist())
            for flow in batch["ended"].tolist():
                done = engine.finish(flow)
                self._take(source, trace, flow, done, sides, lossy="losses" in batch)
                trace.release(flow)
                unended.discard(flow)
            if progress:
                progress(trace.progress, str(path).rpartition("/")[2])
            if live and watch:
                watch(live, functools.partial(self._so_far, source, live, engine, unended, sides))
        self.out.warnings += [f"{source}: {line}" for line in trace.warnings]
        self.part = self.part or any(map(read_in_part, trace.warnings))
        self.out.notes += sides.notes()

    def _take(
        self,
        source: str,
        trace: Trace,
        flow: int,
        replayed: _native.ReplayedFlow | None,
        sides: Sides,
        *,
        lossy: bool,
    ) -> None:
        info = trace.flow(flow)
        if self.options.flow not in info["name"]:
            return
        if not info["chosen"]:
            sides.skipped += replayed is not None and replayed.samples > 0
            return
        self._finish_flow(source, info["name"], replayed, lossy=lossy)
        if trace.kind == "capture" and replayed is not None and replayed.samples:
            sides.sent[_host(info["name"]), info["near_reason"]] += 1

    def _so_far(
        self, source: str, trace: CaptureTrace, engine: Engine, unended: set[int], sides: Sides
    ) -> Replay | None:
        """What there would be, were this the end of the trace; all goes on."""
        now = copy.copy(self)
        now.totals, now.total = copy.copy(self.totals), copy.deepcopy(self.total)
        now._pictured, now._names = list(self._pictured), self._names.copy()
        now.alone = list(self.alone)
        now.out = replace(self.out, rows=list(self.out.rows), notes=list(self.out.notes))
        now.out.series, now.out.distributions = [], []
        sides = copy.deepcopy(sides)
        for flow in sorted(unended):
            now._take(source, trace, flow, engine.so_far(flow), sides, lossy=True)
        if not now.out.rows:
            return None
        now.out.notes += sides.notes()
        return now.result()

    def _waits(self, bounds: Bounds) -> dict[str, verdict.Interval]:
        """By estimator: the interval of its mean RTO over the base's, where it is bounded."""
        low, high = (of[:, bootstrap.RTO].tolist() for of in bounds)
        ends = zip(self.labels, low, high, strict=True)
        return {label: (a, b) for label, a, b in ends if math.isfinite(a) and math.isfinite(b)}

    def result(self) -> Replay:
        out = self.out
        if out.rows:
            out.totals = self._rows(TOTAL, TOTAL, self.totals, lossy=self.lossy)
            waits: dict[str, dict[str, verdict.Interval]] = {}
            if out.totals[0].judged:
                over = self.total.intervals(*range(len(self.labels)))
                out.totals = _with_intervals(out.totals, None if self.base is None else over[self.base])
                out.totals = _with_linux(out.totals, None if self.linux is None else over[self.linux])
                waits = {base: self._waits(bounds) for base, bounds in zip(self.labels, over, strict=True)}
            if found := verdict.of(out.totals, self._flows, waits):
                out.verdict = replace(
                    found,
                    alone=tuple(self.alone) if self._flows > 1 else (),
                    part=self.part,
                    requested=tuple(s.text for s in self.specs if "miss" in s.params),
                )
        for _, _, picture, distributions in sorted(self._pictured, key=lambda p: (-p[0], -p[1])):
            out.series.append(picture)
            out.distributions += distributions
        if self._flows > 1:
            out.distributions += self._cdf(TOTAL, TOTAL, self.totals)
        out.made_by = provenance.made_by(
            estimators=" ".join(self.labels),
            arithmetic=self.options.arithmetic,
            sender=self.options.sender,
            every_ack=str(self.options.every_ack).lower(),
            min_rto_us=str(self.options.min_rto_us),
            min_samples=str(self.options.min_samples),
            flow=self.options.flow,
            seed=str(self.options.seed),
        )
        return out


def run(
    paths: Sequence[Source],
    options: Options | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Replay:
    """Replays every file, and what passes an interface. Raises UserError or TraceError with one line that
    says what to do."""
    this = _Run(options or Options())
    for path in paths:
        this.add(path, progress, watch)
    if not this.out.rows:
        files = ", ".join(map(str, paths))
        if this.options.flow:
            raise UserError(f"{files}: no flow with a sample has '{this.options.flow}' in its name")
        raise UserError(f"{files}: no RTT sample of the chosen side; try --sender far or both")
    return this.result()
