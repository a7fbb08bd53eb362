# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the result rows of a suite of traces: each estimator's errors, waits and misses divided by those of
baselines, over all flows, with intervals."""

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcplearn import estimators, metrics
from tcplearn.output.rows import Record, head_of, tidy
from tcplearn.replay.engine import Timer
from tcplearn.replay.results import KEPT, MISSES_LEAST, Floats
from tcplearn.replay.verdict import LINUX, LINUX_RATIO
from tcplearn.suite import timers as suite_timers
from tcplearn.suite.measure import REFERENCES, WHEN, Measured
from tcplearn.suite.suite import Suite

RESAMPLES, SEED = suite_timers.RESAMPLES, suite_timers.SEED
_BLOCK = 2_000_000  # indices drawn at a time

#: An estimator whose ratio is at most this counts as good as the baseline.
AS_GOOD = 1.03

#: The columns of a row that identify it and are not metrics.
KEYS = ("group", "estimator", "arithmetic")


@dataclass(frozen=True, slots=True)
class Ratios:
    """A ratio for each series, such as an estimator's error divided by a baseline's; below 1 is better."""

    names: tuple[str, ...]
    values: Floats

    @property
    def mean(self) -> float | None:
        """Return the geometric mean, or None without ratios."""
        return float(np.exp(np.log(self.values).mean())) if len(self.values) else None

    def worst(self) -> tuple[float | None, str | None]:
        if not len(self.values):
            return None, None
        i = int(np.argmax(self.values))
        return float(self.values[i]), self.names[i]


def interval(values: Floats) -> tuple[float | None, float | None]:
    """Return the ends of the 95 % bootstrap interval of the geometric mean of `values`, or (None, None) for
    fewer than two values."""
    n = len(values)
    if n < 2:
        return None, None
    logs, rng = np.log(values), np.random.default_rng(SEED)
    means = np.empty(RESAMPLES)
    step = max(1, _BLOCK // n)
    for a in range(0, RESAMPLES, step):
        b = min(a + step, RESAMPLES)
        means[a:b] = logs[rng.integers(0, n, (b - a, n))].mean(axis=1)
    low, high = np.exp(np.quantile(means, (0.025, 0.975)))
    return float(low), float(high)


def _ratios(pairs: Sequence[tuple[str, float | None, float | None]]) -> Ratios:
    """Return value / reference for each of `pairs` (series, value, reference), without those that lack one or
    have the reference 0."""
    kept = [(name, v / base) for name, v, base in pairs if v is not None and base]
    values = np.array([max(r, 1e-9) for _, r in kept], dtype=np.float64)  # 0 has no logarithm
    return Ratios(tuple(name for name, _ in kept), values)


def error_ratios(series: Sequence[Measured], label: str, *, at_send: bool = False) -> Ratios:
    """Return, for each series, the mean absolute error of the RTT predictions of the estimator `label`
    divided by the smaller of those of `jacobson` and `last`. With `at_send`, the errors are those of the
    predictions in force when segments were sent."""

    pairs = []
    for s in series:
        figures = (s.figures[name] for name in (label, "jacobson", "last"))
        own, *simple = (f.at_send if at_send else f.error for f in figures)
        pairs.append((s.name, own, min((v for v in simple if v is not None), default=None)))
    return _ratios(pairs)


def restart_ratios(series: Sequence[Measured], label: str, length: int) -> Ratios:
    errors = [(s.name, s.restarts[length]) for s in series if length in s.restarts]
    return _ratios([(name, e[label], min(e["jacobson"], e["last"])) for name, e in errors])


def wait_ratios(series: Sequence[Measured], label: str, figure: str = "excess", when: str = "send") -> Ratios:
    timers = [(s.name, s.figures[label].timer(when), s.figures["jacobson"].timer(when)) for s in series]
    return _ratios([(name, getattr(t, figure), getattr(base, figure)) for name, t, base in timers])


def match_ratios(
    series: Sequence[Measured], label: str, reference: str, when: str, figure: str = "excess"
) -> Ratios:
    """Return, for each series (flow), how the timer `label`, set to the share of RTTs above the RTO that the
    timer `reference` has, compares with `reference`: the ratio of their mean excess waits, max(RTO - RTT, 0)
    (`figure` "excess"), or of their mean RTOs ("rto"). `when` is one of WHEN."""
    both = _matched_timers(series, label, reference, when)
    return _ratios([(name, getattr(t, figure), getattr(base, figure)) for name, t, base in both])


def _matched_timers(
    series: Sequence[Measured], label: str, reference: str, when: str
) -> list[tuple[str, Timer, Timer]]:
    key = label, reference, when
    return [(s.name, s.matched[key], s.figures[reference].timer(when)) for s in series if key in s.matched]


def miss_ratios(series: Sequence[Measured], label: str, target: float, when: str = "send") -> Ratios:
    """Return, for each series (flow), the share of RTTs above the RTO of the timer `label` divided by the
    requested share `target`. Series with fewer than MISSES_LEAST expected misses are left out."""
    known = [(s.name, s.figures[label].timer(when)) for s in series]
    known = [(name, t) for name, t in known if t.timed * target >= MISSES_LEAST]
    names = tuple(name for name, _ in known)
    return Ratios(names, np.array([t.miss_rate / target for _, t in known], dtype=np.float64))


def _described(prefix: str, ratios: Ratios) -> Record:
    low, high = interval(ratios.values)
    return {f"{prefix}_ratio": ratios.mean, f"{prefix}_ratio_low": low, f"{prefix}_ratio_high": high}


def _judged(prefix: str, ratios: Ratios) -> Record:
    worst, name = ratios.worst()
    return {
        **_described(prefix, ratios),
        f"{prefix}_series": len(ratios.values),
        f"{prefix}_worst": worst,
        f"{prefix}_worst_series": name,
        f"{prefix}_wins": int((ratios.values < 1).sum()),
        f"{prefix}_as_good_share": float((ratios.values <= AS_GOOD).mean()) if len(ratios.values) else None,
    }


def _pooled(series: Sequence[Measured], label: str) -> Record:
    timers = [s.figures[label].send for s in series]
    timed = sum(t.timed for t in timers)
    before = [s.figures[label].before for s in series]
    return {
        "rto_miss_rate": sum(t.misses for t in timers) / timed,
        "rto_miss_rate_mean": statistics.fmean(t.miss_rate for t in timers),
        "rto_miss_rate_before": sum(t.misses for t in before) / sum(t.timed for t in before),
        "rto_miss_rate_before_mean": statistics.fmean(t.miss_rate for t in before),
        **suite_timers.fired(series, label),
        "mean_rto_ms": suite_timers.mean_rto_ms(series, label),
        "excess_wait_ms": sum(t.excess_us for t in timers) / timed / 1000,
    }


def _over_linux(
    series: Sequence[Measured], label: str, ends: tuple[float, float] | None, *, known: bool
) -> Record:
    """Return the ratio of the mean RTOs of `label` and of Linux's timer, and its interval. Without
    `known`, Linux's timer was not measured."""
    rto, linux = (suite_timers.mean_rto_ms(series, name) if known else None for name in (label, LINUX))
    low, high = ends or (None, None)
    ratio = rto / linux if rto is not None and linux else None
    return {LINUX_RATIO: ratio, f"{LINUX_RATIO}_low": low, f"{LINUX_RATIO}_high": high}


def _promise(series: Sequence[Measured], label: str) -> Record:
    """Return statistics of the achieved miss rate divided by the requested one, which are None for a timer
    without a parameter for the miss rate."""
    target = estimators.miss_rate(label)
    out: Record = {"rto_miss_rate_requested": target}
    for when in WHEN:
        p = f"miss_{when}"
        names = ("series", "kept", "pooled", "least", "median", "most", "most_series")
        out |= dict.fromkeys(f"{p}_{name}" for name in names)
        if target is None:
            continue
        ratios = miss_ratios(series, label, target, when)
        timers = [s.figures[label].timer(when) for s in series]
        values = ratios.values
        out[f"{p}_series"] = len(values)
        out[f"{p}_pooled"] = sum(t.misses for t in timers) / (sum(t.timed for t in timers) * target)
        if len(values):
            out[f"{p}_kept"] = int(((values >= KEPT[0]) & (values <= KEPT[1])).sum())
            out[f"{p}_least"], out[f"{p}_median"] = float(values.min()), float(np.median(values))
            out[f"{p}_most"], out[f"{p}_most_series"] = ratios.worst()
    return out


def _matched(suite: Suite, series: Sequence[Measured], label: str) -> Record:
    out: Record = {}
    timer = label in suite.timers
    for reference, when in itertools.product(REFERENCES, WHEN):
        p = f"match_{reference}_{when}"
        both = _matched_timers(series, label, reference, when)
        excess = match_ratios(series, label, reference, when)
        out |= {
            f"{p}_series": len(excess.values) if timer else None,
            f"{p}_skipped": len(series) - len(excess.values) if timer else None,
            f"{p}_misses_ratio": sum(t.misses for _, t, _ in both) / sum(r.misses for *_, r in both)
            if both
            else None,
            **_described(f"{p}_excess_wait", excess),
            **_described(f"{p}_mean_rto", match_ratios(series, label, reference, when, "rto")),
        }
    return out


def _restarted(suite: Suite, series: Sequence[Measured], label: str) -> Record:
    out: Record = {}
    for length in suite.options.restarts:
        ratios = restart_ratios(series, label, length)
        worst, name = ratios.worst()
        out |= _described(f"restart_{length}", ratios)
        out |= {f"restart_{length}_worst": worst, f"restart_{length}_worst_series": name}
    return out


def rows(suite: Suite) -> list[Record]:
    """Return a result row for each estimator over the series with enough samples, then over the shorter
    ones."""
    out: list[Record] = []
    for group, series in (("series", suite.series), ("short", suite.short)):
        if not series:
            continue
        over_linux = suite_timers.over(series, suite.labels, LINUX) if LINUX in suite.labels else {}
        for label in suite.labels:
            row: dict[str, Any] = {
                "group": group,
                "estimator": label,
                "arithmetic": suite.options.arithmetic,
                "series": len(series),
                "samples": sum(s.samples for s in series),
                **_judged("error", error_ratios(series, label)),
                **_judged("at_send", error_ratios(series, label, at_send=True)),
                **_pooled(series, label),
                **_described("excess_wait", wait_ratios(series, label)),
                **_described("mean_rto", wait_ratios(series, label, "rto")),
                **_over_linux(series, label, over_linux.get(label), known=LINUX in suite.labels),
                **_promise(series, label),
            }
            if suite.matching:
                row |= _matched(suite, series, label)
            row |= _restarted(suite, series, label)
            out.append(row)
    return out


def tidied(suite: Suite, wide: Sequence[Record]) -> Iterator[Record]:
    """Yield a row for each metric of each of `wide`. Its `flow` is "series" or, for shorter ones, "short"."""
    for row in wide:
        names = {"source": suite.directory, "flow": row["group"], "algorithm": row["estimator"]}
        head = head_of(metrics.REPLAY, suite.made_by, **names)
        yield from tidy(head, {key: value for key, value in row.items() if key not in KEYS})
