# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a Replay of invented flows by simple implementations of the estimators, on a sawtooth, a step and
outliers."""

from __future__ import annotations

import numpy as np

from tcplearn.replay.results import TOO_SHORT, Distribution, Floats, Replay, Series
from tcplearn.replay.row import Row

ESTIMATORS = (
    "last",
    "jacobson",
    "jacobson/rfc6298",
    "linux",
    "rfc9002",
    "eifel",
    "experts",
    "experts/fitted",
    "experts/nunes2014-linux",
    "linreg",
    "linreg/magnitude",
)
POINTS = 3000


def sawtooth(n: int, seed: int) -> Floats:
    """Return `n` RTTs in ms of a bufferbloated access link: the queue fills, a loss halves it, and some RTTs
    are far longer."""
    rng = np.random.default_rng(seed)
    phase = (np.arange(n) % 700) / 700
    rtt = 22 + 180 * phase**1.5 + rng.gamma(2.0, 1.5, n)
    return np.asarray(rtt + np.where(rng.random(n) < 0.002, rng.uniform(200, 900, n), 0.0))


def step(n: int, seed: int) -> Floats:
    """Return `n` RTTs in ms that change from 12 to 48 ms, with little jitter."""
    rng = np.random.default_rng(seed)
    return np.asarray(np.where(np.arange(n) < n // 2, 12.0, 48.0) + rng.gamma(1.5, 0.3, n))


def _smoothed(rtt: Floats, gain: float, floor: float, rto_min: float) -> tuple[Floats, Floats]:
    prediction, rto = np.full(len(rtt), np.nan), np.full(len(rtt), 1000.0)
    srtt, var = rtt[0], rtt[0] / 2
    for i in range(1, len(rtt)):
        prediction[i], rto[i] = srtt, max(srtt + max(4 * var, floor), rto_min)
        var += (abs(rtt[i] - srtt) - var) / 4
        srtt += gain * (rtt[i] - srtt)
    return prediction, rto


def _run(estimator: str, rtt: Floats) -> tuple[Floats, Floats]:
    settings = {
        "last": (1.0, 0.0, 0.0),
        "jacobson": (1 / 8, 0.0, 0.0),
        "jacobson/rfc6298": (1 / 8, 0.0, 1000.0),
        "linux": (1 / 8, 200.0, 0.0),
        "rfc9002": (1 / 8, 1.0, 0.0),
        "eifel": (1 / 3, 0.0, 0.0),
        "experts/fitted": (0.5, 0.0, 0.0),
        "linreg": (0.8, 4.0, 0.0),
        "linreg/magnitude": (0.7, 8.0, 0.0),
    }
    if estimator in settings:
        return _smoothed(rtt, *settings[estimator])
    prediction, rto = _smoothed(rtt, 0.3, 0.0, 1000.0)
    shift = 501.0 if estimator == "experts" else 460.0
    return prediction * 0.01 + shift, rto + shift


def flow(
    source: str, name: str, rtt: Floats, estimators: tuple[str, ...] = ESTIMATORS
) -> tuple[list[Row], Series, list[Distribution]]:
    n = len(rtt)
    time = np.cumsum(np.random.default_rng(n).exponential(0.01, n))
    judged = n >= TOO_SHORT
    rows: list[Row] = []
    distributions: list[Distribution] = []
    predictions: dict[str, Floats] = {}
    rtos: dict[str, Floats] = {}
    probability = np.linspace(0, 1, 201)
    base: dict[str, float] = {}
    for estimator in ("jacobson", *(e for e in estimators if e != "jacobson")):
        prediction, rto = _run(estimator, rtt)
        predictions[estimator], rtos[estimator] = prediction, rto
        error = prediction[1:] - rtt[1:]
        size = np.abs(error)
        at_send = np.abs(prediction[:-8] - rtt[8:])[1:] if n > 10 else size
        missed = rtt[1:] > rto[1:]
        values = {
            "mean_abs_error": float(size.mean()),
            "at_send_error": float(at_send.mean()),
            "rto_miss_rate": float(missed.mean()),
            "mean_rto": float(rto[1:].mean()),
            "excess_wait": float(np.maximum(rto[1:] - rtt[1:], 0).mean()),
        }
        base = base or values
        rows.append(
            Row(
                source=source,
                flow=name,
                estimator=estimator,
                arithmetic="double",
                samples=n,
                judged=judged,
                note="" if judged else f"too short to judge ({n} samples)",
                values={
                    "mean_abs_error_ms": values["mean_abs_error"],
                    "median_abs_error_ms": float(np.median(size)),
                    "p95_abs_error_ms": float(np.quantile(size, 0.95)),
                    "bias_ms": float(error.mean()),
                    "at_send_error_ms": values["at_send_error"],
                    "rto_miss_rate": values["rto_miss_rate"],
                    "rto_miss_rate_before": values["rto_miss_rate"] / 2,
                    "spurious_timeouts": int(missed.sum()) // 3,
                    "spurious_timeouts_tlp": int(missed.sum()) // 5,
                    "spurious_probes": int(missed.sum()) // 2,
                    "mean_rto_ms": values["mean_rto"],
                    "excess_wait_ms": values["excess_wait"],
                    **{f"{k}_ratio": v / base[k] if base[k] else None for k, v in values.items()},
                },
            )
        )
        if judged:
            distributions.append(
                Distribution(source, name, estimator, probability, np.quantile(size, probability))
            )
    rows.sort(key=lambda row: estimators.index(row.estimator) if row.estimator in estimators else -1)
    per_point = -(-n // POINTS)
    starts = np.arange(0, n, per_point)
    ends = np.minimum(starts + per_point, n) - 1
    series = Series(
        source,
        name,
        per_point,
        time[ends],
        np.minimum.reduceat(rtt, starts),
        np.maximum.reduceat(rtt, starts),
        {e: predictions[e][ends] for e in estimators},
        {e: rtos[e][ends] for e in estimators},
    )
    return rows, series, distributions


def replay(flows: int = 3, short: int = 0, samples: int = 8000) -> Replay:
    """Return a Replay of `flows` flows that are long enough to be judged, every second one a step, and of
    `short` flows with a dozen samples."""
    out = Replay(
        notes=["home.pcapng: sender seen at 192.168.1.20 (near the capture: its ACKs follow data by 0.1 ms)"],
        warnings=["home.pcapng: 12 packets were cut short by the snap length"],
        made_by={
            "version": "0.1.0",
            "commit": "7749e64",
            "command": "tcplearn replay home.pcapng --report out.html",
            "parameters": "arithmetic=double sender=auto every_ack=false min_samples=30 min_rto_us=0",
        },
    )
    for i in range(flows):
        make = step if i % 2 else sawtooth
        name = f"192.168.1.20:{50000 + i} > 93.184.216.34:443"
        rows, series, distributions = flow("home.pcapng", name, make(samples // (i + 1), i))
        out.rows += rows
        out.series.append(series)
        out.distributions += distributions
    for i in range(short):
        rows, _, _ = flow("home.pcapng", f"192.168.1.20:{60000 + i} > 93.184.216.34:80", step(12 + i % 5, i))
        out.rows += rows
    if flows > 1:
        rtt = np.concatenate([sawtooth(samples, 0), step(samples // 2, 1)])
        rows, _, distributions = flow("", "total", rtt)
        out.totals, out.distributions = rows, out.distributions + distributions
    return out
