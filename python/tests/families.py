# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Generates seeded families of RTT series that are difficult for estimators, for statistical tests and
bench/ablation.py.

RTTs are whole microseconds and at least 1. The parameters of a series are drawn from its seed too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samples import Batch

Floats = NDArray[np.float64]
Rtts = NDArray[np.int64]
Family = Callable[[np.random.Generator, int, float], Floats]


def _noise(r: np.random.Generator, n: int, base: float) -> Floats:
    return base * (1 + r.choice([0.001, 0.01, 0.1]) * r.standard_normal(n))


def _lognormal(r: np.random.Generator, n: int, base: float) -> Floats:
    return base * (1 + r.choice([0.05, 0.3, 1.0]) * r.lognormal(0, r.choice([0.3, 0.7, 1.0]), n))


def _memory(r: np.random.Generator, n: int, base: float) -> Floats:
    phi, x, e = r.choice([0.6, 0.9, 0.97, 0.99]), 0.0, r.standard_normal(n)
    out = np.empty(n)
    for i in range(n):
        out[i] = x = phi * x + e[i]
    return base * (1 + 0.3 * np.abs(out))


def _walk(r: np.random.Generator, n: int, base: float) -> Floats:
    return base * (1 + np.abs(np.cumsum(r.choice([0.005, 0.02, 0.1]) * r.standard_normal(n))))


def _sawtooth(r: np.random.Generator, n: int, base: float) -> Floats:
    step, left = r.uniform(0.3, 3) / r.choice([10, 30, 100, 300]), r.choice([0.0, 0.5, 0.7])
    queue, top, out = 0.0, 1.0, np.empty(n)
    e, ripple = r.standard_normal(n), r.choice([0.005, 0.03]) * np.abs(r.standard_normal(n))
    for i in range(n):
        queue += step * (1 + 0.3 * e[i])
        if queue > top:
            queue, top = queue * left, r.uniform(0.7, 1.3)
        out[i] = max(queue, 0) + ripple[i]
    return base * (1 + out)


def _stalls(r: np.random.Generator, n: int, base: float) -> Floats:
    """Return RTTs of a mobile link in whole milliseconds, with stalls that drain, peaks that build up, and
    single peaks."""
    y, i, rate = base + np.round(r.gamma(1.5, 1.2, n)) * 1000, 0, r.choice([0.008, 0.03])
    while i < n:
        if r.random() >= rate:
            i += 1
            continue
        peak, kind, rows = r.choice([40, 100, 200, 400, 900]) * 1000 * r.uniform(0.5, 1.5), r.random(), 1
        if kind < 0.5:
            rows = min(n - i, int(peak / 14_000) + 1)
            y[i : i + rows] = np.maximum(y[i : i + rows], base + peak - 14_000 * np.arange(rows))
        elif kind < 0.75:
            y[i] += peak
        else:
            rows = min(n - i, int(r.integers(3, 9)))
            y[i : i + rows] += peak * np.sort(r.random(rows))
        i += rows
    return np.round(y / 1000) * 1000


def _spikes(r: np.random.Generator, n: int, base: float) -> Floats:
    """Return RTTs with isolated spikes over noise of whole milliseconds."""
    y = base + np.round(r.gamma(1.5, r.choice([0.7, 1.5, 4.0]), n)) * 1000
    spike = r.random(n) < r.choice([0.01, 0.04, 0.12])
    return y + spike * r.choice([20, 60, 200]) * 1000 * r.exponential(1, n)


def _two_levels(r: np.random.Generator, n: int, base: float) -> Floats:
    level = np.cumsum(r.random(n) < r.choice([0.02, 0.2, 0.5])) % 2
    return base * (1 + level * r.uniform(0.3, 3)) * (1 + 0.03 * np.abs(r.standard_normal(n)))


def _pareto(r: np.random.Generator, n: int, base: float) -> Floats:
    return base * (1 + r.choice([0.02, 0.3]) * r.pareto(r.choice([1.5, 2, 3]), n))


def _steps(r: np.random.Generator, n: int, base: float) -> Floats:
    period = int(r.choice([50, 100, 300, 1000]))
    level = np.exp(r.uniform(-1, 1.5, n // period + 1))[np.arange(n) // period]
    return base * level * (1 + r.choice([0.002, 0.02, 0.1]) * np.abs(r.standard_normal(n)))


def _sine(r: np.random.Generator, n: int, base: float) -> Floats:
    wave = np.sin(2 * np.pi * np.arange(n) / r.choice([5, 13, 40, 150]))
    return base * (1.3 + 0.5 * wave + r.choice([0.01, 0.1]) / 2 * r.standard_normal(n))


def _ticks(r: np.random.Generator, n: int, base: float) -> Floats:
    return np.round(base / 1000 + r.gamma(1, r.choice([0.6, 2.0]), n)) * 1000


def _ramps(r: np.random.Generator, n: int, base: float) -> Floats:
    """Return RTTs of segments that are sent together in windows and queue behind one another."""
    y, i, window = np.empty(n), 0, 4
    while i < n:
        rows = min(window, n - i)
        y[i : i + rows] = base * (1 + 0.02 * np.arange(rows) * r.uniform(0.5, 1.5))
        i += rows
        window = min(window + int(r.integers(0, 3)), 60) if r.random() > 0.03 else max(window // 2, 4)
    return y + 200 * np.abs(r.standard_normal(n))


def _outages(r: np.random.Generator, n: int, base: float) -> Floats:
    y = base * (1 + 0.02 * np.abs(r.standard_normal(n)))
    for k in np.flatnonzero(r.random(n) < 0.006):
        y[k : k + int(r.integers(1, 20))] += base * r.uniform(2, 60) * r.random()
    return y


def _trend(r: np.random.Generator, n: int, base: float) -> Floats:
    return base * (1 + r.choice([0.5, 3, 20]) * np.arange(n) / n + 0.02 * np.abs(r.standard_normal(n)))


def _bloat(r: np.random.Generator, n: int, base: float) -> Floats:
    filling = np.where(np.cumsum(r.random(n) < 0.01) % 2, 1, -1)
    change, queue, out = filling * r.uniform(0, 0.12, n), 0.0, np.empty(n)
    for i in range(n):
        out[i] = queue = min(max(queue + change[i], 0.0), 8.0)
    return base * (1 + out + 0.01 * np.abs(r.standard_normal(n)))


def _on_off(r: np.random.Generator, n: int, base: float) -> Floats:
    on = np.cumsum(r.random(n) < 0.01) % 2
    return base * (1 + 0.01 * np.abs(r.standard_normal(n)) + on * r.exponential(0.5, n))


def _first_off(r: np.random.Generator, n: int, base: float) -> Floats:
    """Return RTTs whose first sample is far too low or too high, as a handshake's may be."""
    y = (_noise, _lognormal, _ticks, _stalls)[int(r.integers(0, 4))](r, n, base)
    y[0] *= r.choice([0.2, 3, 10, 50])
    return y


def _alternating(r: np.random.Generator, n: int, base: float) -> Floats:
    period = int(r.integers(2, 7))
    return base * (1 + r.random(period)[np.arange(n) % period] * r.choice([0.1, 1.0])) + 100 * r.random(n)


FAMILIES: dict[str, Family] = {
    f.__name__.removeprefix("_"): f
    for f in (
        _noise, _lognormal, _memory, _walk, _sawtooth, _stalls, _spikes, _two_levels, _pareto, _steps, _sine,
        _ticks, _ramps, _outages, _trend, _bloat, _on_off, _first_off, _alternating,
    )
}  # fmt: skip


def whole(y: Floats) -> Rtts:
    return np.clip(np.round(y), 1, 2**32).astype(np.int64)


def family(name: str, seed: int, rows: int = 2000) -> Rtts:
    r = np.random.default_rng([seed, *name.encode()])
    return whole(FAMILIES[name](r, rows, float(np.exp(r.uniform(np.log(5e3), np.log(3e5))))))


def long_series(seed: int, rows: int = 200_000) -> dict[str, Rtts]:
    """Return long series of RTTs by name: stationary, drifting, bursty and stepping ones."""
    r, t = np.random.default_rng(seed), np.arange(rows)
    on = np.cumsum(r.random(rows) < 0.005) % 2
    level = np.exp(r.uniform(-1, 1.5, rows))
    tail = np.abs(r.standard_normal(rows))
    y = {
        "gaussian": 100 + 5 * r.standard_normal(rows),
        "lognormal": 50 + 30 * r.lognormal(0, 0.7, rows),
        "pareto": 50 + 20 * r.pareto(2, rows),
        "drifting": (80 + 40 * np.sin(t / 7000)) * (1 + 0.05 * tail),
        "walking": 100 + np.abs(np.cumsum(0.3 * r.standard_normal(rows))) % 200 + 5 * tail,
        "bursty": 50 + r.exponential(1, rows) * np.where(on, 20, 2),
        "steps of 500": 60 * level[t // 500] * (1 + 0.05 * tail),
        "steps of 5000": 60 * level[t // 5000] * (1 + 0.05 * tail),
    }
    return {name: whole(1000 * v) for name, v in y.items()}


def stepped(seed: int, factor: float, noise: str, before: int = 1000, after: int = 151) -> Rtts:
    """Return `before` RTTs, and `after` RTTs that are `factor` times as long."""
    r = np.random.default_rng([seed, int(1000 * factor), *noise.encode()])
    n, base = before + after, float(np.exp(r.uniform(9, 11)))
    if noise == "gaussian":
        y = np.abs(r.standard_normal(n)) * r.choice([0.02, 0.1, 0.3])
    elif noise == "lognormal":
        y = r.choice([0.05, 0.3]) * r.lognormal(0, 0.6, n)
    else:
        y = 0.1 * r.pareto(float(noise), n)
    y = base * (1 + y)
    y[before:] *= factor
    return whole(y)


def flow_of(rtts: Rtts, window: int) -> Batch:
    """Return the samples of one flow with `window` packets per round trip, evenly spaced and clocked by ACKs,
    over a path that delays packet k by rtts[k] and keeps the order. The flow always has data to send, so that
    each ACK restarts the timer (RFC 6298, 5.3)."""
    n = len(rtts)
    sent, time, last = np.zeros(n, np.int64), np.zeros(n, np.int64), 0
    gap = max(int(rtts[0]) // window, 1)
    for k, rtt in enumerate(rtts.tolist()):
        sent[k] = k * gap if k < window else time[k - window]
        time[k] = last = max(last + (window > 1), int(sent[k]) + rtt)
    return {
        "time_us": time,
        "sent_us": sent,
        "rtt_us": time - sent,
        "armed_us": np.maximum(np.concatenate([[0], time[:-1]]), sent),
        "head_sent_us": sent,
        "flow": np.zeros(n, np.uint32),
        "flight_segments": np.full(n, window, np.uint32),
        "retransmitted": np.zeros(n, np.uint8),
        "ttl": np.full(n, 52, np.uint8),
    }
