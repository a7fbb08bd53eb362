# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds the timer that suits a suite's series (flows) best; intervals come from a bootstrap over series."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tcplearn.output.rows import TOTAL
from tcplearn.replay import verdict
from tcplearn.replay.results import Floats
from tcplearn.replay.row import Row
from tcplearn.suite.measure import FIRED, Measured
from tcplearn.suite.suite import Suite

#: Number of bootstrap resamples of the series, and a fixed seed: the same input gives the same interval.
RESAMPLES, SEED = 2000, 20140047


def mean_rto_ms(series: Sequence[Measured], label: str) -> float | None:
    """Return the mean RTO in ms of `label` over all samples of all `series`, or None without samples."""
    timers = [s.figures[label].send for s in series]
    timed = sum(t.timed for t in timers)
    return sum(t.rto_us for t in timers) / timed / 1000 if timed else None


def fired(series: Sequence[Measured], label: str) -> dict[str, float | None]:
    """Return the numbers of spurious timeouts and tail loss probes of `label` over all `series`."""
    return {key: sum(s.fired[label][key] for s in series) for key in FIRED}


def over(series: Sequence[Measured], labels: Sequence[str], base: str) -> dict[str, verdict.Interval]:
    """Return the 95 % interval, by a bootstrap over series, of the mean RTO of each of `labels` divided by
    that of `base`. Return {} for fewer than two series."""
    if len(series) < 2:
        return {}
    rto_us: Floats = np.array([[s.figures[label].send.rto_us for label in (base, *labels)] for s in series])
    drawn = np.random.default_rng(SEED).multinomial(len(series), [1 / len(series)] * len(series), RESAMPLES)
    sums = drawn @ rto_us
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = np.quantile(sums[:, 1:] / sums[:, :1], (0.025, 0.975), axis=0)
    ends = zip(labels, low.tolist(), high.tolist(), strict=True)
    return {label: (a, b) for label, a, b in ends if np.isfinite((a, b)).all()}


def _rows(series: Sequence[Measured], suite: Suite, flow: str) -> list[Row]:
    samples = sum(s.samples for s in series)
    out = []
    for label in suite.labels:
        values = {**fired(series, label), "mean_rto_ms": mean_rto_ms(series, label)}
        arithmetic = suite.options.arithmetic
        out.append(Row(suite.directory, flow, label, arithmetic, samples, True, "", values))
    return out


def of(suite: Suite) -> verdict.Verdict | None:
    """Return the verdict on which timer suits the series best, or None without series. In a single series,
    which has no bootstrap interval, timers count as equal if their mean RTOs differ by less than 5 %."""
    series = suite.series
    if not series:
        return None
    waits = {base: over(series, suite.labels, base) for base in suite.labels}
    found = verdict.of(_rows(series, suite, TOTAL), len(series), waits)
    if found is None or found.lead is None or len(series) < 2:
        return found
    lead, alone = found.lead.estimator, []
    for s in series:
        own = verdict.alone(_rows([s], suite, s.name), s.name, lambda _: {})
        if own:
            alone.append(own if own.refuses(lead) else own.agreeing(lead))
    return replace(found, alone=tuple(alone))
