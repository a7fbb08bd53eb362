# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replay a trace under every estimator: traces -> samples -> estimators -> rows."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn import _native, estimators, metrics, provenance
from tcplearn.errors import UserError, printable
from tcplearn.output.numbers import counted
from tcplearn.output.rows import TOTAL
from tcplearn.replay import bootstrap, verdict
from tcplearn.replay.engine import Engine, series
from tcplearn.replay.flows import BATCH_ROWS
from tcplearn.replay.results import TOO_SHORT, Distribution, Floats, Replay, Row, Series
from tcplearn.traces import TraceOptions, open_trace

#: How many flows get pictures: those with most samples.
PICTURED = 8
#: Of flows too short to be judged, those of each file whose rows are kept when not all are.
SHORT_KEPT = 4
#: How many senders of a file are named in its notes.
SIDES_NAMED = 3
BASELINE = "jacobson"

Measured = _native.ReplayedFlow | _native.ReplayTotals
Progress = Callable[[float, str], None]
#: Takes the rows of one flow.
Sink = Callable[[list[Row]], None]


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


def made_by(options: Options) -> dict[str, str]:
    """Raises UserError where an estimator is not known or refuses a parameter."""
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
    """One call of `run`: what it has gathered so far."""

    def __init__(self, options: Options, sink: Sink | None, *, all_rows: bool) -> None:
        self.options, self.sink, self.all_rows = options, sink, all_rows
        self.labels = _engine(options).labels
        self.requested = {label: estimators.miss_rate(label) for label in self.labels}
        self.totals = _native.ReplayTotals(len(self.labels))
        self.base, self.linux = (
            self.labels.index(name) if name in self.labels else None for name in (BASELINE, verdict.LINUX)
        )
        self.total = bootstrap.Total(self.options.seed)
        self.lossy = False
        self.out = Replay()
        self._pictured: list[tuple[int, int, Series, list[Distribution]]] = []  # a heap by samples
        self._flows = 0
        self._short_kept: Counter[str] = Counter()
        self._times: dict[int, int] = {}  # that a source and name came, by their hash: names are many

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
        rows = self._judged(self._rows(source, name, flow, lossy=lossy), flow, blocks)
        self.out.rows += rows
        if self.sink:
            self.sink(rows)
        self._picture(source, name, flow)

    def _numbered(self, source: str, name: str) -> str:
        """The ports may be used again, or a file named twice."""
        key = hash((source, name))
        again = self._times[key] = self._times.get(key, 0) + 1
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

    def _judged(self, rows: list[Row], flow: _native.ReplayedFlow, blocks: Floats) -> list[Row]:
        """With what many samples allow to say."""
        rows = _with_regret(rows, flow.hindsight())
        rng = bootstrap.of_data(self.options.seed, blocks)
        low, high, drawn = bootstrap.of_flow(blocks, self.base or 0, rng)
        self.total.add(drawn, len(blocks))
        if self.base is not None:
            rows = _with_intervals(rows, (low, high))
        if self.linux is not None:
            over = bootstrap.intervals(drawn, self.linux, bootstrap.tail_of(len(blocks)))
            rows = _with_linux(rows, over)
        return rows

    def _picture(self, source: str, name: str, flow: _native.ReplayedFlow) -> None:
        """Of the flows with most samples, the first of those with as many."""
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

    def add(self, path: Path, progress: Progress | None) -> None:
        engine = _engine(self.options)
        source = printable(path)
        of = self.options
        trace = open_trace(path, options=TraceOptions(of.sender, of.every_ack, unit=of.unit))
        skipped = 0
        sides: Counter[tuple[str, str]] = Counter()
        for batch in trace.batches(BATCH_ROWS):
            engine.feed(batch)
            for flow in batch["ended"].tolist():
                info = trace.flow(flow)
                done = engine.finish(flow)
                trace.release(flow)
                if self.options.flow not in info["name"]:
                    continue
                if not info["chosen"]:
                    skipped += done is not None and done.samples > 0
                    continue
                if done is None or done.samples == 0:
                    continue
                self._finish_flow(source, info["name"], done, lossy="losses" in batch)
                if trace.kind == "capture":
                    sides[_host(info["name"]), info["near_reason"]] += 1
            if progress:
                progress(trace.progress, path.name)
        self.out.warnings += [f"{source}: {line}" for line in trace.warnings]
        for (host, reason), flows in sides.most_common(SIDES_NAMED):
            self.out.notes.append(f"{source}: data sent by {host} ({reason}), flows: {flows}")
        if len(sides) > SIDES_NAMED:
            self.out.notes.append(f"{source}: and {len(sides) - SIDES_NAMED} more senders")
        if skipped:
            left_out = f"{counted(skipped, 'direction')} left out: not the chosen side's"
            self.out.notes.append(f"{source}: {left_out} (--sender both shows them)")

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
            out.verdict = verdict.of(out.totals, self._flows, waits)
        for _, _, picture, distributions in sorted(self._pictured, key=lambda p: (-p[0], -p[1])):
            out.series.append(picture)
            out.distributions += distributions
        if self._flows > 1:
            out.distributions += self._cdf(TOTAL, TOTAL, self.totals)
        out.made_by = _made_by(self.options, self.labels)
        return out


def run(
    paths: list[Path],
    options: Options | None = None,
    progress: Progress | None = None,
    sink: Sink | None = None,
    *,
    all_rows: bool = True,
) -> Replay:
    """Replays every file. `sink`: takes the rows of each flow as it ends; without `all_rows`, rows of flows
    too short to be judged are not kept but for the first few. Raises UserError or TraceError with one line
    that says what to do."""
    this = _Run(options or Options(), sink, all_rows=all_rows)
    for path in paths:
        this.add(path, progress)
    if not this.out.rows:
        files = ", ".join(map(str, paths))
        if this.options.flow:
            raise UserError(f"{files}: no flow with a sample has '{this.options.flow}' in its name")
        raise UserError(f"{files}: no RTT sample of the chosen side; try --sender far or both")
    return this.result()
