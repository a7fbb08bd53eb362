# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Convert time series and distributions to compact columns, which are the data of the pictures in a page."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tcplearn.output.numbers import milliseconds
from tcplearn.replay import verdict
from tcplearn.replay.results import Distribution, Floats, Replay, Series
from tcplearn.replay.row import Row

#: The most bytes that all series of a page may take, and the approximate bytes of one value.
PAGE_BYTES = 1_500_000
VALUE_BYTES = 6
POINTS_LEAST, POINTS_MOST = 200, 2000
CDF_POINTS = 120

#: Errors below the clock's resolution of 1 us are drawn here, because a logarithmic axis has no zero.
ERROR_FLOOR_MS = 1e-3

Columns = dict[str, list[Any]]
#: The range of an axis.
Reach = tuple[float, float]
Key = tuple[str, str]  # source and flow


def rounded(value: float, digits: int = 4) -> float | None:
    """Return `value` rounded to `digits` significant digits, or None if it is not finite."""
    if not math.isfinite(value):
        return None
    if value == 0:
        return 0.0
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def _numbers(values: Floats) -> list[float | None]:
    """Return `values` with four significant digits, and None for those not finite or not above 0."""
    out = (rounded(v) for v in values.tolist())
    return [None if v is None or v <= 0 else int(v) if v == int(v) else v for v in out]


def points_for(replay: Replay) -> int:
    """Return the most points for the time series of each flow with which the report's page stays small."""
    columns = sum(3 + len(s.prediction_ms) + len(s.rto_ms) for s in replay.series)
    return max(POINTS_LEAST, min(POINTS_MOST, PAGE_BYTES // max(1, columns * VALUE_BYTES)))


def thinned(series: Series, most: int) -> Series:
    """Return `series` with at most `most` points. Each point stands for several samples: it has their
    smallest and largest RTT, their last prediction and their last RTO."""
    n = len(series.time_s)
    by = -(-n // most) if n else 1
    if by <= 1:
        return series
    starts = np.arange(0, n, by)
    ends = np.minimum(starts + by, n) - 1
    return replace(
        series,
        per_point=series.per_point * by,
        time_s=series.time_s[ends],
        rtt_low_ms=np.fmin.reduceat(series.rtt_low_ms, starts),
        rtt_high_ms=np.fmax.reduceat(series.rtt_high_ms, starts),
        prediction_ms={name: values[ends] for name, values in series.prediction_ms.items()},
        rto_ms={name: values[ends] for name, values in series.rto_ms.items()},
    )


def series_columns(series: Series, most: int) -> dict[str, Any]:
    """Return the time series `series` as columns of at most `most` points. Times are rounded to 0.1 ms, and
    other values of 0 become None."""
    s = thinned(series, most)
    return {
        "t": [round(float(t), 4) for t in s.time_s],
        "low": _numbers(s.rtt_low_ms),
        "high": _numbers(s.rtt_high_ms),
        "prediction": {name: _numbers(v) for name, v in s.prediction_ms.items()},
        "rto": {name: _numbers(v) for name, v in s.rto_ms.items()},
    }


def band_rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = zip(columns["t"], columns["low"], columns["high"], strict=True)
    return [{"t": t, "low": low, "high": high} for t, low, high in rows if low and high]


def line_rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"t": t, "e": estimator, "p": prediction, "r": rto}
        for estimator, predictions in columns["prediction"].items()
        for t, prediction, rto in zip(columns["t"], predictions, columns["rto"][estimator], strict=True)
    ]


def cdf_columns(distributions: Iterable[Distribution]) -> dict[str, Columns]:
    out: dict[str, Columns] = {}
    for d in distributions:
        if not len(d.error_ms):
            continue
        at = np.unique(np.linspace(0, len(d.error_ms) - 1, CDF_POINTS).round().astype(int))
        errors = np.maximum(d.error_ms[at], ERROR_FLOOR_MS)
        out[d.estimator] = {"x": _numbers(errors), "y": [round(float(p), 4) for p in d.probability[at]]}
    return out


def alike(values: Mapping[str, Any]) -> dict[str, str]:
    """Return groups of names with equal values, as a dict that maps the first name of a group to all its
    names, joined by commas."""
    together: dict[str, list[str]] = {}
    for name, value in values.items():
        first = next((other for other in together if values[other] == value), name)
        together.setdefault(first, []).append(name)
    return {first: ", ".join(names) for first, names in together.items()}


def cdf_rows(columns: Mapping[str, Columns]) -> list[dict[str, Any]]:
    return [
        {"e": estimator, "x": x, "y": y}
        for estimator, c in columns.items()
        for x, y in zip(c["x"], c["y"], strict=True)
        if x is not None
    ]


def miss_floor(rows: Sequence[Row]) -> float:
    """Return the height, in %, at which a miss rate of 0 is drawn: below the smallest rate that the samples
    of `rows` can show."""
    samples = max((row.samples for row in rows), default=1)
    return 100 / max(samples, 1) / 3


#: Where a count of 0 is drawn on a logarithmic axis: below 1.
NEVER = 1 / 3


def timer_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a point for each estimator in `rows`: its mean RTO (x, in ms) and its number of spurious
    timeouts (y). The number 0 is drawn at `NEVER`."""
    out: list[dict[str, Any]] = []
    for row in rows:
        wait, fires = row["mean_rto_ms"], row[verdict.SPURIOUS]
        if wait is not None and fires is not None and wait > 0:
            point = {"e": row.estimator, "x": rounded(wait), "y": max(fires, NEVER)}
            out.append({**point, "fires": int(fires), "never": fires == 0})
    return out


def reach(lows: Sequence[float], highs: Sequence[float], times: float) -> Reach:
    """Return the range of an axis, from min(lows) / times to max(highs) * times; 0 to 1e12 without
    samples."""
    return (min(lows) / times, max(highs) * times) if lows and highs else (0.0, 1e12)


def within(points: list[dict[str, Any]], times: float) -> list[dict[str, Any]]:
    """Return the points of timers with their names. A mean RTO of more than `times` times their median is
    drawn at that limit, with an arrow and the true value."""
    most = times * statistics.median(p["x"] for p in points) if points else 0.0
    out = []
    for p in points:
        wait, name = p["x"], p["e"]
        if wait > most:
            name = f"{name} → {milliseconds(wait)} ms"
        out.append({**p, "x": min(wait, most), "wait": wait, "name": name})
    return out


def frontier(points: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return those of `points` for which no other has both a shorter mean RTO and fewer spurious timeouts, in
    order of mean RTO."""
    best: list[Mapping[str, Any]] = []
    for point in sorted(points, key=lambda p: (p["x"], p["y"])):
        if not best or point["y"] < best[-1]["y"]:
            best.append(point)
    return best
