# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replay traces: feed their RTT samples to every RTT estimator, and return rows of metrics."""

from __future__ import annotations

import copy
import functools
import heapq
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn import _native, estimators, provenance
from tcplearn.errors import UserError, printable
from tcplearn.output.numbers import counted
from tcplearn.output.rows import TOTAL
from tcplearn.replay import bootstrap, copies, row_values, verdict
from tcplearn.replay.engine import Engine, series
from tcplearn.replay.flows import BATCH_ROWS
from tcplearn.replay.results import TOO_SHORT, Distribution, Floats, Replay, Series
from tcplearn.replay.row import Row
from tcplearn.traces import CaptureTrace, Interface, Trace, TraceOptions, open_trace, read_in_part

PICTURED = 8  # the flows with the most samples have pictures
SHORT_KEPT = 4  # flows of a file with too few samples to be judged that keep their rows
SIDES_NAMED = 3  # senders that the notes on a file name


Measured = _native.ReplayedFlow | _native.ReplayTotals
Progress = Callable[[float, str], None]
Sink = Callable[[list[Row]], None]
#: Called several times a second while a live capture is read, with the trace (which may be stopped) and a
#: function that returns the result so far, or None.
Watch = Callable[[CaptureTrace, Callable[[], "Replay | None"]], None]
Source = Path | Interface


@dataclass(frozen=True, slots=True)
class Options:
    estimators: tuple[str, ...] = ()  # specs; empty: estimators.DEFAULTS
    arithmetic: str = "double"  # or "fixed"
    sender: str = "auto"  # near, far, client, server, both, or an address
    every_ack: bool = False
    unit: str = ""  # unit of bare numbers in tables of samples
    min_samples: int = TOO_SHORT
    min_rto_us: int = 0
    flow: str = ""  # only flows whose names contain this text
    miss: float | None = None  # the miss rate of every timer that has this parameter
    seed: int = 0  # seed of the intervals' bootstrap


def _host(flow_name: str) -> str:
    """Return the sender's address in `flow_name`, such as "10.0.0.1:80 > 10.0.0.2:4242"."""
    return flow_name.partition(" > ")[0].rpartition(":")[0]


@dataclass
class Sides:
    """Counts the flows of a file or interface by sender, for notes on which sender was replayed."""

    source: str
    sent: Counter[tuple[str, str]] = field(default_factory=Counter)  # by (sender, why chosen)
    skipped: int = 0  # flows that the other side sends

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


def made_by(options: Options) -> dict[str, str]:
    """Return, by name, tcplearn's version and commit, and the replay's seed and `options`. Raise UserError
    for a wrong estimator or parameter."""
    return _made_by(options, _engine(options).labels)


def _made_by(options: Options, labels: Sequence[str]) -> dict[str, str]:
    return provenance.made_by(
        estimators=" ".join(labels),
        arithmetic=options.arithmetic,
        sender=options.sender,
        every_ack=str(options.every_ack).lower(),
        min_rto_us=str(options.min_rto_us),
        min_samples=str(options.min_samples),
        flow=options.flow,
        seed=str(options.seed),
    )


def _engine(options: Options) -> Engine:
    specs = estimators.compared(options.estimators, options.miss)
    return Engine(specs, options.arithmetic, options.min_rto_us)


class _Run:
    """The state of one call of `run`, which replays several sources."""

    def __init__(self, options: Options, sink: Sink | None, *, all_rows: bool) -> None:
        self.options, self.sink, self.all_rows = options, sink, all_rows
        self.specs = estimators.compared(options.estimators, options.miss)
        self.labels = _engine(options).labels
        self.requested = {label: estimators.miss_rate(label) for label in self.labels}
        self.totals = _native.ReplayTotals(len(self.labels))
        self.base, self.linux = (
            self.labels.index(name) if name in self.labels else None
            for name in (row_values.BASELINE, verdict.LINUX)
        )
        self.total = bootstrap.Total(self.options.seed)
        self.lossy = False
        self.part = False
        self.alone: list[verdict.Alone] = []
        self.out = Replay()
        self._pictured: list[tuple[int, int, Series, list[Distribution]]] = []  # a heap by number of samples
        self._flows = 0
        self._short_kept: Counter[str] = Counter()
        self._names = copies.Names()
        self._copies = copies.Flows()

    def _rows(self, source: str, name: str, of: Measured, *, lossy: bool) -> list[Row]:
        """Return a row of metrics for each estimator. `lossy` says whether the trace shows losses."""
        least, samples = self.options.min_samples, of.samples
        judged = samples >= least
        note = "" if judged else f"too short to judge: {samples} samples, fewer than {least}"
        rows = []
        for label, measured in zip(self.labels, of.metrics(), strict=True):
            values = row_values.values_of(measured)
            values["rto_miss_rate_requested"] = self.requested[label]
            values["mean_flight_segments"] = of.flight_segments
            if not lossy:
                values["losses"] = None
            arithmetic = self.options.arithmetic
            rows.append(Row(source, name, label, arithmetic, samples, judged, note, values))
        return row_values.with_ratios(rows)

    def _finish_flow(self, source: str, name: str, flow: _native.ReplayedFlow, *, lossy: bool) -> None:
        self._flows += 1
        name = self._numbered(source, name)
        self.lossy = self.lossy or lossy
        self.totals.add(flow)
        blocks = flow.blocks()
        if flow.samples < self.options.min_samples:
            self.total.pool(blocks)
            self._short(source, name, flow, lossy=lossy)
            return
        rows = self._judged(self._rows(source, name, flow, lossy=lossy), name, flow, blocks)
        self.out.rows += rows
        if self.sink:
            self.sink(rows)
        self._picture(source, name, flow)

    def _numbered(self, source: str, name: str) -> str:
        """Return `name`, with a number appended if it occurred before (because ports were reused)."""
        again = self._names.times(source, name)
        return name if again == 1 else f"{name} #{again}"

    def _short(self, source: str, name: str, flow: _native.ReplayedFlow, *, lossy: bool) -> None:
        keep = self.all_rows or self._short_kept[source] < SHORT_KEPT
        if keep or self.sink:
            rows = self._rows(source, name, flow, lossy=lossy)
            if self.sink:
                self.sink(rows)
        if keep:
            self._short_kept[source] += 1
            self.out.rows += rows
        else:
            self.out.unlisted.add(flow.samples)

    def _judged(self, rows: list[Row], name: str, flow: _native.ReplayedFlow, blocks: Floats) -> list[Row]:
        """Return `rows`, of a flow with enough samples to be judged, with regret and bootstrap intervals."""
        rows = row_values.with_regret(rows, flow.hindsight())
        rng = bootstrap.of_data(self.options.seed, blocks)
        low, high, drawn = bootstrap.of_flow(blocks, self.base or 0, rng)
        self.total.add(drawn, len(blocks))
        cut = bootstrap.tail_of(len(blocks))

        def over(base: int) -> row_values.Bounds:
            return bootstrap.intervals(drawn, base, cut)

        if found := verdict.alone(rows, name, lambda base: self._waits(over(self.labels.index(base)))):
            self.alone.append(found)
        rows = row_values.with_intervals(rows, None if self.base is None else (low, high))
        return row_values.with_linux(rows, None if self.linux is None else over(self.linux))

    def _picture(self, source: str, name: str, flow: _native.ReplayedFlow) -> None:
        """Keep the data of the pictures of `flow` if it is among the flows with the most samples so far."""
        if len(self._pictured) == PICTURED and flow.samples <= self._pictured[0][0]:
            return
        drawn = series(source, name, self.labels, flow)
        entry = (flow.samples, -self._flows, drawn, self._cdf(source, name, flow))
        if len(self._pictured) < PICTURED:
            heapq.heappush(self._pictured, entry)
        else:
            heapq.heapreplace(self._pictured, entry)

    def _cdf(self, source: str, name: str, measured: Any) -> list[Distribution]:
        return [
            Distribution(source, name, label, p, e / 1e3)
            for label, (p, e) in zip(self.labels, measured.cdf(), strict=True)
            if len(e)
        ]

    def add(self, path: Source, progress: Progress | None, watch: Watch | None) -> None:
        engine = _engine(self.options)
        source = printable(path)
        of = self.options
        trace = open_trace(path, options=TraceOptions(of.sender, of.every_ack, unit=of.unit))
        sides = Sides(source)
        self._copies.begin()
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
        self.out.warnings += self._copies.warnings(source)
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
        if replayed is None or replayed.samples == 0:
            return
        title = source.rpartition("/")[2]
        key = copies.key_of(replayed.digest, replayed.samples, info["name"], title, info["first_us"])
        if self._copies.is_copy(key, source, judged=replayed.samples >= self.options.min_samples):
            return
        self._finish_flow(source, info["name"], replayed, lossy=lossy)
        if trace.kind == "capture":
            sides.sent[_host(info["name"]), info["near_reason"]] += 1

    def _so_far(
        self, source: str, trace: CaptureTrace, engine: Engine, unended: set[int], sides: Sides
    ) -> Replay | None:
        """Return the replay's result as if the trace `trace` ended now, or None if no flow has a sample yet.
        The trace continues."""
        now = copy.copy(self)
        now.totals, now.total = copy.copy(self.totals), copy.deepcopy(self.total)
        now._pictured, now._names = list(self._pictured), copy.copy(self._names)
        now._copies = copy.copy(self._copies)
        now._short_kept, now.sink = self._short_kept.copy(), None
        now.alone = list(self.alone)
        now.out = replace(self.out, rows=list(self.out.rows), notes=list(self.out.notes))
        now.out.unlisted = replace(self.out.unlisted)
        now.out.series, now.out.distributions = [], []
        sides = copy.deepcopy(sides)
        for flow in sorted(unended):
            now._take(source, trace, flow, engine.so_far(flow), sides, lossy=True)
        if not now.out.rows:
            return None
        now.out.notes += sides.notes()
        return now.result()

    def _waits(self, bounds: row_values.Bounds) -> dict[str, verdict.Interval]:
        """Return, by estimator, the interval in `bounds` of its mean RTO, if both ends are finite."""
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
                base, linux = (None if index is None else over[index] for index in (self.base, self.linux))
                out.totals = row_values.with_linux(row_values.with_intervals(out.totals, base), linux)
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
        out.made_by = _made_by(self.options, self.labels)
        return out


def run(
    paths: Sequence[Source],
    options: Options | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    sink: Sink | None = None,
    *,
    all_rows: bool = True,
) -> Replay:
    """Replay every source in `paths`, files or interfaces. Return rows of metrics for each flow and for all
    flows together, and the verdict on which timer suits the traffic best. `watch` is called while a live
    capture is read, `sink` with each flow's rows when the flow ends. Without `all_rows`, the result lists
    only a few of the flows that have too few samples to be judged. Raise UserError or TraceError."""
    this = _Run(options or Options(), sink, all_rows=all_rows)
    for path in paths:
        this.add(path, progress, watch)
    if not this.out.rows:
        files = ", ".join(map(str, paths))
        if this.options.flow:
            raise UserError(f"{files}: no flow with a sample has '{this.options.flow}' in its name")
        raise UserError(f"{files}: no RTT sample of the chosen side; try --sender far or both")
    return this.result()
