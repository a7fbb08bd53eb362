# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the best estimators in hindsight: values computed while streaming against those computed from a whole
flow."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from samples import Batch, batch
from tcplearn import _native

NAMES = ["last", "jacobson", "linux", "eifel", "linreg", "experts/fitted"]
Floats = NDArray[np.float64]


def streamed(b: Batch, names: list[str] = NAMES) -> dict[str, float]:
    engine = _native.ReplayEngine([(n, "double", {}) for n in names])
    for part in (slice(0, 51), slice(51, None)):
        engine.feed({key: np.ascontiguousarray(v[part]) for key, v in b.items()})
    flow = engine.finish(0)
    assert flow is not None
    return flow.hindsight()


def errors_of(b: Batch, names: list[str] = NAMES) -> Floats:
    """Return the absolute error of each scored sample under each estimator, in an array [sample,
    estimator]."""
    scored = np.flatnonzero(b["rtt_us"] >= 0)[1:]
    out = []
    for name in names:
        rtt, _ = _native.Estimator(name).run(
            b["rtt_us"], b["time_us"], b["sent_us"], flight_segments=b["flight_segments"], ttl=b["ttl"]
        )
        out.append(np.abs(rtt - b["rtt_us"])[scored])
    return np.array(out).T


def exact_switching(errors: Floats, switches: int) -> float:
    """Return the least sum of errors of all sequences of estimators with at most `switches` switches, found
    by dynamic programming."""
    samples, estimators = errors.shape
    least = np.full((switches + 1, estimators), np.inf)
    least[0] = 0
    for t in range(samples):
        if t:
            moved = least[:-1].min(axis=1, keepdims=True)
            least[1:] = np.minimum(least[1:], np.broadcast_to(moved, least[1:].shape))
        least = least + errors[t]
    return float(least.min())


def penalised(errors: Floats, switches: int) -> float:
    """Return the lower bound on this sum as docs/metrics.md defines it, from a list of penalties per
    switch."""
    bounds = [errors.min(axis=1).sum()]
    for penalty in 2.0 ** (np.arange(48) / 2):
        cost = errors[0].copy()
        for row in errors[1:]:
            cost = np.minimum(cost, cost.min() + penalty) + row
        bounds.append(cost.min() - penalty * switches)
    return float(max(bounds))


def mixed(seed: int, rows: int) -> Batch:
    """Return samples of a path that is at times calm with noise and at times a ramp, so that the best
    estimator changes."""
    rng = np.random.default_rng(seed)
    phase = (np.arange(rows) // 90) % 3
    ramp = np.cumsum(np.where(phase == 1, 900.0, np.where(phase == 2, -900.0, 0.0)))
    b = batch(seed, rows, 1)
    rtt = np.maximum(1, 60_000 + ramp + rng.normal(0, 4000, rows) * (phase == 0)).astype(np.int64)
    time = np.cumsum(rng.integers(150_000, 400_000, rows)) + rtt
    return b | {"time_us": time, "sent_us": time - rtt, "rtt_us": rtt, "armed_us": time - rtt}


@pytest.mark.parametrize("rows", [40, 400, 1500])
def test_constant_and_ewma_equal_the_definitions(rows: int) -> None:
    for seed in range(3):
        b = batch(seed, rows)
        y = b["rtt_us"][b["rtt_us"] >= 0].astype(float)
        got = streamed(b)
        assert got["best_constant_us"] == pytest.approx(np.abs(y[1:] - np.median(y[1:])).mean(), rel=1e-12)
        best = np.inf
        for gain in 2.0 ** -np.arange(8):
            ewma, total = y[0], 0.0
            for value in y[1:]:
                total += abs(value - ewma)
                ewma += gain * (value - ewma)
            best = min(best, total / (len(y) - 1))
        assert got["best_ewma_us"] == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("tail", [False, True])
def test_the_best_constant_of_many_samples_is_near(tail: bool) -> None:
    rng = np.random.default_rng(3)
    rows = 60_000
    b = batch(3, rows, 1)
    rtt = (20_000 + rng.lognormal(8, 2.5 if tail else 0.5, rows)).astype(np.int64)
    time = np.cumsum(rtt)
    b |= {"time_us": time, "sent_us": time - rtt, "rtt_us": rtt, "armed_us": time - rtt, "head_sent_us": time}
    exact = np.abs(rtt[1:] - np.median(rtt[1:])).mean()
    assert streamed(b, ["last"])["best_constant_us"] == pytest.approx(exact, rel=0.005)


@pytest.mark.parametrize("rows", [60, 250, 500, 1200])
def test_switching_is_a_tight_lower_bound(rows: int) -> None:
    for seed in range(3):
        for make in (batch, mixed):
            b = make(seed, rows)
            errors = errors_of(b)
            switches = len(errors) // 100
            exact = exact_switching(errors, switches) / len(errors)
            got = streamed(b)["best_switching_us"]
            alone = errors.mean(axis=0).min()
            if switches:
                assert got == pytest.approx(penalised(errors, switches) / len(errors), rel=1e-12)
            assert got <= exact * (1 + 1e-12), f"{make.__name__} {seed}: not a lower bound"
            assert got >= exact * 0.97, f"{make.__name__} {seed}: {got / exact:.4f} of the exact"
            assert exact <= alone * (1 + 1e-12)
            if not switches:
                assert got == pytest.approx(alone, rel=1e-12)


def test_switching_pays_where_paths_change() -> None:
    b = mixed(1, 1200)
    assert streamed(b)["best_switching_us"] < 0.9 * errors_of(b).mean(axis=0).min()


def test_nothing_scored_is_nothing_said() -> None:
    b = {key: v[:1] for key, v in batch(1, 40).items()}
    b["rtt_us"] = np.array([50_000])
    engine = _native.ReplayEngine([("last", "double", {})])
    engine.feed(b)
    flow = engine.finish(0)
    assert flow is not None and flow.hindsight() == {}


def test_the_delay_a_peer_reports_reaches_the_estimator() -> None:
    b = batch(5, 200)
    delay = np.where(np.arange(200) % 3 == 0, 8_000, 0)
    engine = _native.ReplayEngine([("rfc9002", "double", {})])
    engine.feed({**b, "ack_delay_us": delay})
    flow = engine.finish(0)
    assert flow is not None
    for known in (delay, None):
        rtt, _ = _native.Estimator("rfc9002").run(
            b["rtt_us"], b["time_us"], b["sent_us"], ack_delay_us=known, flight_segments=b["flight_segments"]
        )
        scored = np.flatnonzero(b["rtt_us"] >= 0)[1:]
        want = np.abs(rtt - b["rtt_us"])[scored].mean()
        assert (flow.metrics()[0]["mean_abs_error_us"] == pytest.approx(want)) == (known is not None)
