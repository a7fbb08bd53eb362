# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Replay a trace under every estimator: traces -> samples -> estimators -> rows."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tcplearn import _native, estimators, provenance
from tcplearn.errors import UserError, printable
from tcplearn.replay import bootstrap
from tcplearn.replay.results import TOO_SHORT, Distribution, Floats, Replay, Row, Series
from tcplearn.traces import TraceOptions, open_trace

#: How many flows get pictures: those with most samples.
PICTURED = 8
BATCH_ROWS = 65_536
#: How many senders of a file are named in its notes.
SIDES_NAMED = 3
BASELINE = "jacobson"

Measured = _native.ReplayedFlow | _native.ReplayTotals
Progress = Callable[[float, str], None]
Batch = Mapping[str, Any]


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


class _UserBank:
    """The user's estimators, one of each for every flow, stepped in Python."""

    def __init__(self, specs: list[estimators.Spec], arithmetic: str) -> None:
        self.specs, self.arithmetic = specs, arithmetic
        self._flows: dict[int, list[estimators.CoreEstimator | estimators.WithTimer]] = {}

    def predict(self, batch: Batch) -> tuple[Floats | None, Floats | None]:
        """What stood before each row, row-major: [row * estimators + e]."""
        if not self.specs:
            return None, None
        rows = len(batch["time_us"])
        rtt_us = np.zeros((rows, len(self.specs)))
        rto_us = np.zeros((rows, len(self.specs)))
        keys = ("time_us", "sent_us", "flight_segments", "ttl", "ack_delay_us")
        columns = {key: batch[key].tolist() for key in keys if key in batch}
        for k, (flow, y) in enumerate(zip(batch["flow"].tolist(), batch["rtt_us"].tolist(), strict=True)):
            bank = self._flows.get(flow)
            if bank is None:
                bank = self._flows[flow] = [estimators.create(s, self.arithmetic) for s in self.specs]
            x = {key: column[k] for key, column in columns.items()}
            for e, estimator in enumerate(bank):
                try:
                    rtt_us[k, e], rto_us[k, e] = estimator.predict_one(x), estimator.rto_one(x)
                    if y >= 0:
                        estimator.learn_one(x, y)
                except Exception as error:
                    text = f"estimator '{self.specs[e].text}' raised {type(error).__name__}: {error}"
                    raise UserError(text) from error
        if not (np.isfinite(rtt_us).all() and np.isfinite(rto_us).all()):
            raise UserError("an estimator of yours answered NaN or infinity")
        return rtt_us.ravel(), rto_us.ravel()

    def finish(self, flow: int) -> None:
        self._flows.pop(flow, None)


def _host(flow_name: str) -> str:
    """The sender's address out of "10.0.0.1:80 > 10.0.0.2:4242"."""
    return flow_name.partition(" > ")[0].rpartition(":")[0]


def _ms(us: float | None) -> float | None:
    return None if us is None else us / 1000


def _rate(count: int, of: int) -> float | None:
    return count / of if of else None


def _row(
    source: str, flow: str, label: str, options: Options, of: Measured, m: Mapping[str, Any], *, told: bool
) -> Row:
    """`of`: the flow or the totals that m was measured of; `told`: the trace tells of losses."""
    samples = of.samples
    judged = samples >= options.min_samples
    return Row(
        source=source,
        flow=flow,
        estimator=label,
        arithmetic=options.arithmetic,
        samples=samples,
        judged=judged,
        note="" if judged else f"too short to judge: {samples} samples, fewer than {options.min_samples}",
        mean_abs_error_ms=_ms(m["mean_abs_error_us"]),
        median_abs_error_ms=_ms(m["median_abs_error_us"]),
        p95_abs_error_ms=_ms(m["p95_abs_error_us"]),
        bias_ms=_ms(m["bias_us"]),
        at_send_error_ms=_ms(m["at_send_error_us"]),
        rto_miss_rate=_rate(m["misses"], m["timed"]),
        rto_miss_rate_before=_rate(m["misses_before"], m["timed"]),
        spurious_timeouts=m["spurious_timeouts"],
        spurious_timeouts_tlp=m["spurious_timeouts_tlp"],
        spurious_probes=m["spurious_probes"],
        mean_rto_ms=_ms(m["mean_rto_us"]),
        excess_wait_ms=_ms(m["excess_wait_us"]),
        rto_miss_rate_asked=estimators.miss_rate(label),
        mean_flight_segments=of.flight_segments,
        losses=m["losses"] if told else None,
        loss_detect_actual_ms=_ms(m["loss_detect_actual_us"]),
        loss_detect_rto_ms=_ms(m["loss_detect_rto_us"]),
        loss_detect_rack_ms=_ms(m["loss_detect_rack_us"]),
    )


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base


Bounds = tuple[Floats, Floats]


def _with_intervals(rows: list[Row], bounds: Bounds | None) -> list[Row]:
    """Low and high beside each ratio there is; nothing where either end is not bounded."""
    if bounds is None:
        return rows
    out = []
    for row, low, high in zip(rows, *bounds, strict=True):
        ends: dict[str, float | None] = {}
        for name, a, b in zip(bootstrap.RATIOS, low.tolist(), high.tolist(), strict=True):
            known = getattr(row, name) is not None
            ends[f"{name}_low"] = a if known and math.isfinite(a) else None
            ends[f"{name}_high"] = b if known and math.isfinite(b) else None
        out.append(replace(row, **ends))  # type: ignore[arg-type]
    return out


def _with_regret(rows: list[Row], hindsight: Mapping[str, float]) -> list[Row]:
    best = {key: _ms(hindsight.get(f"best_{key}_us")) for key in ("constant", "ewma", "switching")}
    return [
        replace(
            r,
            regret_best_constant_ratio=_ratio(r.mean_abs_error_ms, best["constant"]),
            regret_best_ewma_ratio=_ratio(r.mean_abs_error_ms, best["ewma"]),
            regret_best_switching_ratio=_ratio(r.mean_abs_error_ms, best["switching"]),
        )
        for r in rows
    ]


def _with_ratios(rows: list[Row]) -> list[Row]:
    base = next((r for r in rows if r.estimator == BASELINE), None)
    if base is None:
        return rows
    return [
        replace(
            r,
            mean_abs_error_ratio=_ratio(r.mean_abs_error_ms, base.mean_abs_error_ms),
            at_send_error_ratio=_ratio(r.at_send_error_ms, base.at_send_error_ms),
            rto_miss_rate_ratio=_ratio(r.rto_miss_rate, base.rto_miss_rate),
            mean_rto_ratio=_ratio(r.mean_rto_ms, base.mean_rto_ms),
            excess_wait_ratio=_ratio(r.excess_wait_ms, base.excess_wait_ms),
        )
        for r in rows
    ]


class _Run:
    """One call of `run`: what it has gathered so far."""

    def __init__(self, options: Options) -> None:
        specs = estimators.compared(options.estimators, options.miss)
        self.options = options
        self.core = [s for s in specs if s.core]
        self.users = [s for s in specs if not s.core]
        self.labels = [s.text for s in (*self.core, *self.users)]
        self.totals = _native.ReplayTotals(len(specs))
        self.base = self.labels.index(BASELINE) if BASELINE in self.labels else None
        self.total = bootstrap.Total(self.options.seed)
        self.told = False
        self.out = Replay()
        self._pictured: list[tuple[int, int, Series, list[Distribution]]] = []  # a heap by samples
        self._flows = 0
        self._names: Counter[tuple[str, str]] = Counter()

    def _finish_flow(self, source: str, name: str, flow: Any, *, told: bool) -> None:
        if flow is None or flow.samples == 0:
            return
        self._flows += 1
        self._names[source, name] += 1
        if (again := self._names[source, name]) > 1:  # the ports were used again, or the file named twice
            name = f"{name} #{again}"
        measured = zip(self.labels, flow.metrics(), strict=True)
        rows = [_row(source, name, label, self.options, flow, m, told=told) for label, m in measured]
        self.told = self.told or told
        rows = _with_ratios(rows)
        blocks, bounds = flow.blocks(), None
        if flow.samples >= self.options.min_samples:
            rows = _with_regret(rows, flow.hindsight())
            if self.base is not None:
                rng = bootstrap.generator(self.options.seed, name)
                low, high, drawn = bootstrap.of_flow(blocks, self.base, rng)
                bounds = low, high
                self.total.add(drawn, len(blocks))
        else:
            self.total.pool(blocks)
        self.out.rows += _with_intervals(rows, bounds)
        self.totals.add(flow)
        if flow.samples < self.options.min_samples:
            return
        if len(self._pictured) == PICTURED and flow.samples <= self._pictured[0][0]:
            return
        entry = (flow.samples, -self._flows, self._series(source, name, flow), self._cdf(source, name, flow))
        if len(self._pictured) < PICTURED:
            heapq.heappush(self._pictured, entry)
        else:
            heapq.heapreplace(self._pictured, entry)

    def _series(self, source: str, name: str, flow: Any) -> Series:
        s = flow.series()
        return Series(
            source=source,
            flow=name,
            per_point=s["per_point"],
            time_s=s["time_us"] / 1e6,
            rtt_low_ms=s["low_us"] / 1e3,
            rtt_high_ms=s["high_us"] / 1e3,
            prediction_ms={n: v / 1e3 for n, v in zip(self.labels, s["prediction_us"], strict=True)},
            rto_ms={n: v / 1e3 for n, v in zip(self.labels, s["rto_us"], strict=True)},
        )

    def _cdf(self, source: str, name: str, measured: Any) -> list[Distribution]:
        return [
            Distribution(source, name, label, p, e / 1e3)
            for label, (p, e) in zip(self.labels, measured.cdf(), strict=True)
            if len(e)
        ]

    def add(self, path: Path, progress: Progress | None) -> None:
        engine = _native.ReplayEngine(
            [(s.name, self.options.arithmetic, dict(s.params)) for s in self.core],
            len(self.users),
            float(self.options.min_rto_us),
        )
        users = _UserBank(self.users, self.options.arithmetic)
        source = printable(path)
        asked = self.options
        trace = open_trace(path, options=TraceOptions(asked.sender, asked.every_ack, unit=asked.unit))
        skipped = 0
        sides: Counter[tuple[str, str]] = Counter()
        for batch in trace.batches(BATCH_ROWS):
            engine.feed(batch, *users.predict(batch))
            for flow in batch["ended"].tolist():
                info = trace.flow(flow)
                done = engine.finish(flow)
                users.finish(flow)
                trace.release(flow)
                if self.options.flow not in info["name"]:
                    continue
                if not info["chosen"]:
                    skipped += done is not None and done.samples > 0
                    continue
                self._finish_flow(source, info["name"], done, told="losses" in batch)
                if trace.kind == "capture" and done is not None and done.samples:
                    sides[_host(info["name"]), info["near_reason"]] += 1
            if progress:
                progress(trace.progress, path.name)
        self.out.warnings += [f"{source}: {line}" for line in trace.warnings]
        for (host, reason), flows in sides.most_common(SIDES_NAMED):
            self.out.notes.append(f"{source}: data sent by {host} ({reason}), flows: {flows}")
        if len(sides) > SIDES_NAMED:
            self.out.notes.append(f"{source}: and {len(sides) - SIDES_NAMED} more senders")
        if skipped:
            self.out.notes.append(
                f"{source}: {skipped} directions left out: their sender is not the chosen side, "
                "so their ACKs time only the near host (--sender both shows them)"
            )

    def result(self) -> Replay:
        out = self.out
        if out.rows:
            measured = zip(self.labels, self.totals.metrics(), strict=True)
            totals = [
                _row("total", "total", label, self.options, self.totals, m, told=self.told)
                for label, m in measured
            ]
            bounds = None if self.base is None else self.total.intervals(self.base)
            out.totals = _with_intervals(_with_ratios(totals), bounds if totals[0].judged else None)
        for _, _, series, distributions in sorted(self._pictured, key=lambda p: (-p[0], -p[1])):
            out.series.append(series)
            out.distributions += distributions
        if self._flows > 1:
            out.distributions += self._cdf("total", "total", self.totals)
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


def run(paths: list[Path], options: Options | None = None, progress: Progress | None = None) -> Replay:
    """Replays every file. Raises UserError or TraceError with one line that says what to do."""
    this = _Run(options or Options())
    for path in paths:
        this.add(path, progress)
    if not this.out.rows:
        files = ", ".join(map(str, paths))
        if this.options.flow:
            raise UserError(f"{files}: no flow with a sample has '{this.options.flow}' in its name")
        raise UserError(f"{files}: no RTT sample of the chosen side; try --sender far or both")
    return this.result()
