# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Flows held whole as columns, and estimators judged on them at once.

It gives the figures of `replay` (tests hold the two together) without its sketches and pictures: for work
that runs many parameter sets over the same samples.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcplearn import _native, estimators
from tcplearn.errors import UserError
from tcplearn.replay.results import Floats
from tcplearn.traces import TraceOptions, open_trace

BATCH_ROWS = 65_536

#: What judging needs of a batch.
_NEEDED = ("time_us", "sent_us", "rtt_us", "head_sent_us", "flight_segments", "ttl")

Table = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow, complete, its rows in order of arrival."""

    name: str
    rows: Table
    samples: int


class Reader:
    """The flows of a trace whose sender is the chosen side, each once it is complete."""

    def __init__(self, path: Path, options: TraceOptions, flow: str = "") -> None:
        """Raises TraceError."""
        self._trace = open_trace(path, options=options)
        self._flow = flow  # only flows whose name contains it

    @property
    def warnings(self) -> list[str]:
        """Complete after the last flow."""
        return list(self._trace.warnings)

    @property
    def progress(self) -> float:
        return self._trace.progress

    def __iter__(self) -> Iterator[Flow]:
        parts: dict[int, list[Table]] = {}
        for batch in self._trace.batches(BATCH_ROWS):
            for flow, rows in _by_flow(batch):
                parts.setdefault(flow, []).append(rows)
            for flow in batch["ended"].tolist():
                tables = parts.pop(flow, [])
                info = self._trace.flow(flow)
                self._trace.release(flow)
                if not tables or not info["chosen"] or self._flow not in info["name"]:
                    continue
                rows = {key: np.concatenate([t[key] for t in tables]) for key in tables[0]}
                samples = int((rows["rtt_us"] >= 0).sum())
                if samples:
                    yield Flow(info["name"], rows, samples)


def _by_flow(batch: Table) -> Iterator[tuple[int, Table]]:
    flow = batch["flow"]
    if not len(flow):
        return
    order = np.argsort(flow, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(flow[order]) != 0])
    for rows in np.split(order, starts[1:]):
        yield int(flow[rows[0]]), {key: batch[key][rows] for key in _NEEDED}


@dataclass(frozen=True, slots=True)
class Timer:
    """Sums of a timer over one flow; times in microseconds."""

    timed: int
    misses: int
    rto_us: float
    excess_us: float

    @property
    def miss_rate(self) -> float:
        return self.misses / self.timed if self.timed else 0.0

    @property
    def rto(self) -> float:
        return self.rto_us / self.timed if self.timed else 0.0

    @property
    def excess(self) -> float:
        return self.excess_us / self.timed if self.timed else 0.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums over one flow; times in microseconds."""

    scored: int
    error_us: float
    sent: int
    at_send_us: float
    send: Timer  # the RTO in force when the sample's segment was sent
    before: Timer  # the RTO that stood just before the sample

    @property
    def error(self) -> float | None:
        return self.error_us / self.scored if self.scored else None

    @property
    def at_send(self) -> float | None:
        return self.at_send_us / self.sent if self.sent else None

    def timer(self, when: str) -> Timer:
        return self.before if when == "before" else self.send


class Judge:
    """What of a flow's figures is the same for every estimator, found once."""

    def __init__(self, rows: Table) -> None:
        self.at = np.flatnonzero(rows["rtt_us"] >= 0)  # rows with a sample
        self.rtt_us: Floats = rows["rtt_us"][self.at].astype(np.float64)
        # the first row after the sending: until it came, what stood before it was in force; as far back as
        # the engine of `replay` remembers
        longest = np.maximum.accumulate(np.maximum(rows["rtt_us"], 0))
        oldest = np.maximum.accumulate(np.minimum(rows["head_sent_us"], rows["time_us"] - 8 * longest))
        since = np.maximum(rows["sent_us"], oldest)[self.at]
        self.at_send = np.minimum(np.searchsorted(rows["time_us"], since, side="right"), self.at)
        is_sample = (rows["rtt_us"] >= 0).astype(np.int64)
        before: NDArray[np.int64] = np.cumsum(is_sample) - is_sample
        self.known_at_send = before[self.at_send] > 0

    def errors(self, prediction_us: Floats) -> Floats:
        """|prediction - sample| of every sample but the first, whose prediction nobody can know."""
        errors: Floats = np.abs(prediction_us[self.at] - self.rtt_us)[1:]
        return errors

    def timer(self, rto_us: Floats) -> Timer:
        """Of an RTO for each sample."""
        return Timer(
            timed=len(rto_us),
            misses=int((self.rtt_us > rto_us).sum()),
            rto_us=float(rto_us.sum()),
            excess_us=float(np.maximum(rto_us - self.rtt_us, 0).sum()),
        )

    def figures(self, prediction_us: Floats, rto_us: Floats) -> Figures:
        errors = self.errors(prediction_us)
        at_send = np.abs(prediction_us[self.at_send] - self.rtt_us)[self.known_at_send]
        return Figures(
            scored=len(errors),
            error_us=float(errors.sum()),
            sent=len(at_send),
            at_send_us=float(at_send.sum()),
            send=self.timer(rto_us[self.at_send]),
            before=self.timer(rto_us[self.at]),
        )


class Candidate:
    """An estimator that is run from fresh on many tables; the core's over whole columns at once."""

    def __init__(self, spec: estimators.Spec, arithmetic: str = "double", min_rto_us: float = 0.0) -> None:
        """Raises UserError where the core refuses a parameter."""
        self.spec, self.arithmetic, self.min_rto_us = spec, arithmetic, min_rto_us
        self._fresh = None
        if spec.core:
            try:
                self._fresh = _native.Estimator(spec.name, arithmetic, dict(spec.params))
            except ValueError as error:
                raise UserError(str(error)) from error

    def run(self, rows: Table) -> tuple[Floats, Floats]:
        """Prediction and RTO that stood just before each row."""
        if self._fresh is None:
            prediction, rto = self._step(rows)
        else:
            prediction, rto = copy.copy(self._fresh).run(
                rows["rtt_us"],
                rows["time_us"],
                rows["sent_us"],
                flight_segments=rows["flight_segments"],
                ttl=rows["ttl"],
            )
        return prediction, np.maximum(rto, self.min_rto_us) if self.min_rto_us else rto

    def _step(self, rows: Table) -> tuple[Floats, Floats]:
        """A user's estimator, row by row in Python."""
        own = estimators.create(self.spec, self.arithmetic)
        count = len(rows["time_us"])
        prediction, rto = np.zeros(count), np.zeros(count)
        keys = ("time_us", "sent_us", "flight_segments", "ttl")
        columns = {key: rows[key].tolist() for key in keys}
        for k, y in enumerate(rows["rtt_us"].tolist()):
            x = {key: column[k] for key, column in columns.items()}
            prediction[k], rto[k] = own.predict_one(x), own.rto_one(x)
            if y >= 0:
                own.learn_one(x, y)
        if not (np.isfinite(prediction).all() and np.isfinite(rto).all()):
            raise UserError(f"estimator '{self.spec.text}' answered NaN or infinity")
        return prediction, rto

    def restarts(self, rows: Table, starts: Sequence[int], length: int) -> float:
        """Sum of |prediction - sample| over windows that each begin fresh; `rows` are samples all."""
        total = 0.0
        rtt = rows["rtt_us"].astype(np.float64)
        for a in starts:
            window = {key: values[a : a + length] for key, values in rows.items()}
            prediction, _ = self.run(window)
            total += float(np.abs(prediction[1:] - rtt[a + 1 : a + length]).sum())
        return total


def windows(samples: int, length: int, most: int) -> range:
    """Starts of at most `most` windows, spread evenly; they overlap where the series is short."""
    room = samples - length + 1
    return range(0, room, -(-room // most)) if room > 0 else range(0)


def samples_only(rows: Table) -> Table:
    kept = rows["rtt_us"] >= 0
    return {key: values[kept] for key, values in rows.items()}


def with_parameter(spec: estimators.Spec, key: str, value: float) -> estimators.Spec:
    """The same estimator with one parameter set; its text names it."""
    params = {**spec.params, key: value}
    text = f"{spec.name}:" + ",".join(f"{k}={v:.6g}" for k, v in params.items())
    return estimators.Spec(text, spec.name, params, spec.core)
