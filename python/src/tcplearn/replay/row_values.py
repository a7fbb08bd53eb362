# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Convert sums over flows to metrics of estimators, and add ratios, bootstrap intervals and regret (the
ratio of an estimator's error to that of the best choice in hindsight)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tcplearn import metrics
from tcplearn.replay import bootstrap, verdict
from tcplearn.replay.results import Floats
from tcplearn.replay.row import Row

BASELINE = "jacobson"


def _rate(count: int, of: int) -> float | None:
    return count / of if of else None


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base


#: Each metric's key, the counters whose ratio it is, and its name in the engine, which counts microseconds.
_SOURCES = tuple(
    (m.key, m.share_of, f"{metrics.without_unit(m.key)}_us" if m.unit == "ms" else "")
    for m in metrics.METRICS
)
#: The keys of each metric and of its ratio to `jacobson` (RFC 6298 without its minimum RTO).
_RATIOS = tuple((m.key, m.ratio_key) for m in metrics.with_ratio())


def values_of(measured: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the values `measured` by the native code, by metric. Microseconds become milliseconds."""
    out: dict[str, float | None] = {}
    for key, counters, us in _SOURCES:
        if counters:
            out[key] = _rate(*(measured[counter] for counter in counters))
        elif us in measured:
            out[key] = None if measured[us] is None else measured[us] / 1000
        elif key in measured:
            out[key] = measured[key]
    return out


Bounds = tuple[Floats, Floats]


def with_intervals(rows: list[Row], bounds: Bounds | None) -> list[Row]:
    """Return `rows` with the ends of the 95 % interval of each ratio to the estimator `jacobson` (RFC 6298),
    from `bounds`. Ends that are not finite become None."""
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


def with_regret(rows: list[Row], hindsight: Mapping[str, float]) -> list[Row]:
    """Return `rows` with regret: the mean error divided by that of each kind of best choice in hindsight.
    `hindsight` has the mean error in µs of each kind, by name."""
    best = {f"regret_{metrics.without_unit(key)}_ratio": us / 1000 for key, us in hindsight.items()}
    return [r.changed({key: _ratio(r["mean_abs_error_ms"], ms) for key, ms in best.items()}) for r in rows]


def with_ratios(rows: list[Row]) -> list[Row]:
    base, linux = (next((r for r in rows if r.estimator == n), None) for n in (BASELINE, verdict.LINUX))
    out = []
    for r in rows:
        ratios = {ratio: _ratio(r[key], base[key]) for key, ratio in _RATIOS} if base else {}
        if linux:
            ratios[verdict.LINUX_RATIO] = _ratio(r["mean_rto_ms"], linux["mean_rto_ms"])
        out.append(r.changed(ratios))
    return out


def with_linux(rows: list[Row], bounds: Bounds | None) -> list[Row]:
    """Return `rows` with the interval in `bounds` of each mean RTO divided by that of Linux's timer."""
    if bounds is None:
        return rows
    low, high = (of[:, bootstrap.RTO].tolist() for of in bounds)
    return [
        r.changed({f"{verdict.LINUX_RATIO}_low": a, f"{verdict.LINUX_RATIO}_high": b})
        for r, a, b in zip(rows, low, high, strict=True)
    ]
