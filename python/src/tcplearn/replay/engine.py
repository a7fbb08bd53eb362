# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Run RTT estimators over the rows (ACKs) of traces and return sums of their errors and RTOs. The C core's
estimators run in native code, the user's own in Python; native code measures both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcplearn import _native, estimators
from tcplearn.errors import UserError
from tcplearn.replay.flows import middle_of, windowed
from tcplearn.replay.results import Floats, Series
from tcplearn.traces import Columns, schema


@dataclass(frozen=True, slots=True)
class Timer:
    """Sums over one flow that compare RTOs with `timed` RTT samples: the number of misses (samples above the
    RTO) and, in us, the RTOs and the excess waits (RTO - sample, at least 0)."""

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
    """An estimator's sums over one flow. `error_us` is the sum of |prediction - sample| over `scored` RTT
    samples, with the prediction just before each sample; `at_send_us` is that over `sent` samples, with the
    prediction when the sample's segment was sent. `before` and `send` have the sums of the RTOs at these two
    times."""

    scored: int
    error_us: float
    sent: int
    at_send_us: float
    send: Timer  # with the RTO in force when the sample's segment was sent
    before: Timer  # with the RTO in force just before the sample

    @property
    def error(self) -> float | None:
        return self.error_us / self.scored if self.scored else None

    @property
    def at_send(self) -> float | None:
        return self.at_send_us / self.sent if self.sent else None

    def timer(self, when: str) -> Timer:
        return self.before if when == "before" else self.send


class _Users:
    """The user's own RTT estimators, which run in Python. Each flow has new instances."""

    KNOWN = ("time_us", "sent_us", "flight_segments", "ttl", *schema.OPTIONAL)  # what an estimator receives

    def __init__(self, specs: Sequence[estimators.Spec], arithmetic: str) -> None:
        self.specs, self.arithmetic = specs, arithmetic
        self._flows: dict[int, list[estimators.CoreEstimator | estimators.WithTimer]] = {}

    def predict(self, batch: Mapping[str, Any]) -> tuple[Floats, Floats] | tuple[None, None]:
        """Return the RTTs that the user's estimators predict and their RTOs, in us, before each row (ACK) of
        `batch`, as flat arrays indexed [row, estimator], or (None, None) if there are no such estimators.
        They learn from the rows. Raise UserError if an estimator raises an error or gives NaN or infinity."""
        if not self.specs:
            return None, None
        rows = len(batch["time_us"])
        rtt_us = np.zeros((rows, len(self.specs)))
        rto_us = np.zeros((rows, len(self.specs)))
        columns = {key: batch[key].tolist() for key in self.KNOWN if key in batch}
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
        finite = np.isfinite(rtt_us) & np.isfinite(rto_us)
        if not finite.all():
            wrong = self.specs[int(np.argmin(finite.all(axis=0)))]
            raise UserError(f"estimator '{wrong.text}' gave NaN or infinity as a prediction or an RTO")
        return rtt_us.ravel(), rto_us.ravel()

    def finish(self, flow: int) -> None:
        self._flows.pop(flow, None)


class Engine:
    """Runs RTT estimators over flows, with new instances for each flow. Results are in the order of the
    attribute `specs`: first the C core's estimators, then the user's own."""

    def __init__(
        self,
        specs: Sequence[estimators.Spec],
        arithmetic: str = "double",
        min_rto_us: float = 0.0,
        *,
        sums_only: bool = False,
    ) -> None:
        """Create an engine for the estimators `specs`, whose RTOs are at least `min_rto_us`. With
        `sums_only`, it computes sums of errors and RTOs but no metrics. Raise UserError if the C core refuses
        a parameter."""
        core, users = [s for s in specs if s.core], [s for s in specs if not s.core]
        self.specs = (*core, *users)
        self._users = _Users(users, arithmetic)
        try:
            self._native = _native.ReplayEngine(
                [(s.name, arithmetic, dict(s.params)) for s in core], len(users), float(min_rto_us), sums_only
            )
        except ValueError as error:
            raise UserError(str(error)) from error

    @property
    def labels(self) -> list[str]:
        return [s.text for s in self.specs]

    def feed(self, batch: Mapping[str, Any]) -> None:
        self._native.feed(batch, *self._users.predict(batch))

    def figures(self, flow: int) -> list[Figures]:
        """Return each estimator's sums over flow number `flow`, of which a row must have been fed."""
        sums = self._native.sums(flow)
        assert sums is not None
        return [Figures(**s | {when: Timer(**s[when]) for when in ("send", "before")}) for s in sums]

    def so_far(self, flow: int) -> _native.ReplayedFlow | None:
        """Return the result of flow number `flow` that `finish` would return now. The flow continues."""
        return self._native.so_far(flow)

    def finish(self, flow: int) -> _native.ReplayedFlow | None:
        """Remove flow number `flow` and return its result, or None if none of its rows (ACKs) was fed."""
        self._users.finish(flow)
        return self._native.finish(flow)


@dataclass(frozen=True, slots=True)
class Measure:
    """Measures the RTT estimators `specs` over complete flows. Threads can share an instance."""

    specs: Sequence[estimators.Spec]
    arithmetic: str = "double"
    min_rto_us: float = 0.0

    def _engine(self, *, sums_only: bool = True) -> Engine:
        return Engine(self.specs, self.arithmetic, self.min_rto_us, sums_only=sums_only)

    def _figures(self, engine: Engine, flow: int) -> list[Figures]:
        """Return the sums of errors and RTOs over flow number `flow` in the order of `specs`."""
        found = {id(s): f for s, f in zip(engine.specs, engine.figures(flow), strict=True)}
        return [found[id(s)] for s in self.specs]

    def timed(self, rows: Columns) -> list[tuple[Figures, Mapping[str, Any]]]:
        """Return each estimator's sums of errors and RTOs over the flow `rows`, and its metrics by name."""
        engine, flow = self._engine(sums_only=False), int(rows["flow"][0])
        engine.feed(rows)
        figures, replayed = self._figures(engine, flow), engine.finish(flow)
        assert replayed is not None
        metrics = {id(s): of for s, of in zip(engine.specs, replayed.metrics(), strict=True)}
        return [(f, metrics[id(s)]) for f, s in zip(figures, self.specs, strict=True)]

    def flow(self, rows: Columns) -> list[Figures]:
        engine = self._engine()
        engine.feed(rows)
        return self._figures(engine, int(rows["flow"][0]))

    def halves(self, rows: Columns) -> list[tuple[Figures, Figures]]:
        """Return a pair for each estimator: its sums of errors and RTOs over the first half of the scored
        samples (all but the first) of the flow `rows`, and over all scored samples."""
        engine, flow, middle = self._engine(), int(rows["flow"][0]), middle_of(rows)
        engine.feed({name: column[:middle] for name, column in rows.items()})
        first = self._figures(engine, flow)
        engine.feed({name: column[middle:] for name, column in rows.items()})
        return list(zip(first, self._figures(engine, flow), strict=True))

    def restarts(self, rows: Columns, starts: Sequence[int], length: int) -> list[float]:
        """Return each estimator's mean |prediction - sample| in us over windows of `length` rows from each
        index in `starts` on, with a new estimator for each window. Every row must have an RTT sample."""
        engine = self._engine()
        engine.feed(windowed(rows, starts, length))
        windows = [self._figures(engine, window) for window in range(len(starts))]
        scored = len(starts) * (length - 1)
        return [sum(f.error_us for f in each) / scored for each in zip(*windows, strict=True)]


def series(source: str, flow_name: str, labels: Sequence[str], flow: _native.ReplayedFlow) -> Series:
    """Return a replayed flow as a time series, for pictures. `labels` are the estimators' names."""
    s = flow.series()
    return Series(
        source=source,
        flow=flow_name,
        per_point=s["per_point"],
        time_s=s["time_us"] / 1e6,
        rtt_low_ms=s["low_us"] / 1e3,
        rtt_high_ms=s["high_us"] / 1e3,
        prediction_ms={n: v / 1e3 for n, v in zip(labels, s["prediction_us"], strict=True)},
        rto_ms={n: v / 1e3 for n, v in zip(labels, s["rto_us"], strict=True)},
    )
