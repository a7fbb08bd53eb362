# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the statistical claims of docs/algorithms/tracking.md and conformal.md on seeded random series.

The proofs are checked in core/tests/test_guarantees.c. The docs quote what these tests print (pytest -s)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from families import FAMILIES, Floats, Rtts, family, flow_of, long_series, stepped
from tcplearn import _native

#: Achieved rate over chosen rate.
LEAST, MOST = 0.7, 1.3
OVER = ("tracking", "jacobson", "last")


def run(name: str, y: Rtts, arithmetic: str = "double", **params: float) -> tuple[Floats, Floats]:
    """Return the predicted RTT and the RTO of estimator `name` just before each sample of `y`."""
    now = np.cumsum(y)
    rtt, rto = _native.Estimator(name, arithmetic, params).run(y, now, now - y)
    return rtt, rto


def misses(
    y: Rtts, miss: float, arithmetic: str = "double", name: str = "conformal", **params: float
) -> np.ndarray:
    """Return for each RTT but the first whether it exceeds the RTO before it."""
    return (y > run(name, y, arithmetic, miss=miss, **params)[1])[1:]


def said(text: str, values: Iterable[float]) -> None:
    print(f"\n{text}:", " ".join(f"{v:.2f}" for v in values), end="")


@pytest.mark.parametrize("arithmetic", ["double", "fixed"])
@pytest.mark.parametrize("miss", [0.01, 0.001])
def test_long_series_have_the_chosen_rate(miss: float, arithmetic: str) -> None:
    rates = {
        (name, over): misses(y, miss, arithmetic, over=OVER.index(over)).mean() / miss
        for seed in (1, 2)
        for name, y in long_series(seed).items()
        for over in OVER
    }
    said(f"200,000 samples, {miss:.1%}", (min(rates.values()), max(rates.values())))
    assert all(LEAST < v < MOST for v in rates.values()), rates


def after_steps(factor: float, noise: str, seeds: int, over: int = 0, name: str = "conformal") -> float:
    """Return the miss rate in samples 51 to 150 after a step of the RTT, over `seeds` series, divided by the
    chosen 1 %. The RTO has no floor here."""
    hits = [
        misses(stepped(s, factor, noise), 0.01, name=name, over=over, rto_min_us=1)[1000 + 49 :][:100]
        for s in range(seeds)
    ]
    return float(np.mean(hits)) / 0.01


@pytest.mark.parametrize("factor", [10, 0.1])
def test_after_a_tenfold_step(factor: float) -> None:
    rate = np.mean([after_steps(factor, noise, 500) for noise in ("gaussian", "lognormal")])
    said(f"1,000 steps of {factor}", [rate])
    assert LEAST < rate < MOST


@pytest.mark.parametrize("factor", [10, 0.1])
def test_after_a_tenfold_step_it_waits_no_longer_than_the_first_form(factor: float) -> None:
    window, waits = slice(1050, 1150), []
    for name in ("conformal", "conformal/first"):
        series = [stepped(s, factor, noise) for noise in ("gaussian", "lognormal") for s in range(200)]
        over = [np.maximum(run(name, y, rto_min_us=1)[1] - y, 0)[window].mean() for y in series]
        waits.append(float(np.mean(over)))
    said(f"steps of {factor}, wait over the first form's", [waits[0] / waits[1]])
    assert waits[0] < 1.2 * waits[1]


def test_a_miss_is_seldom_followed_by_another() -> None:
    """Test how often a miss follows a miss at the miss rate of jacobson, over all families together."""
    again = missed = 0
    for y in (family(f, seed) for f in FAMILIES for seed in range(6)):
        rate = float((y > run("jacobson", y)[1])[1:].mean())
        if rate * len(y) >= 20 and rate <= 0.5:
            m = misses(y, rate)
            again, missed = again + int((m[1:] & m[:-1]).sum()), missed + int(m[:-1].sum())
    said("missed again after a miss", [again / missed])
    assert again <= 0.05 * missed


@pytest.mark.parametrize("window", [10, 50])
def test_at_send_keeps_the_rate_at_the_sending(window: int) -> None:
    rates = []
    for name, seed in itertools.product(FAMILIES, range(2)):
        flow = flow_of(family(name, seed, 20_000), window)
        engine = _native.ReplayEngine([("conformal/at-send", "double", {})])
        engine.feed(flow)
        found = engine.finish(0)
        assert found is not None
        rates.append(found.metrics()[0]["misses"] / (len(flow["rtt_us"]) - 1) / 0.01)
    said(f"at send, {window} a round trip: mean, least, most", (np.mean(rates), min(rates), max(rates)))
    assert LEAST < np.mean(rates) < MOST
    assert np.mean([LEAST <= r <= MOST for r in rates]) >= 0.95


def test_with_one_segment_a_round_trip_at_send_is_at_ack() -> None:
    y = family("stalls", 1)
    one, other = (run(name, y) for name in ("conformal", "conformal/at-send"))
    assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.full
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("factor", [2, 3, 5, 10, 30, 100])
def test_never_too_many_misses_after_a_step_as_first_released(factor: float, over: str) -> None:
    for f in (factor, 1 / factor):
        rates = after_steps_by_noise(f, 3 if over == "tracking" else OVER.index(over), "conformal/first")
        # one noise alone has 300 expected misses: 2 sigma are 0.12
        assert np.mean(rates[:2]) < MOST and np.mean(rates[2:]) < MOST, f


def after_steps_by_noise(factor: float, over: int, name: str) -> list[float]:
    rates = [
        after_steps(factor, noise, 300, over, name) for noise in ("gaussian", "lognormal", "1.5", "2", "3")
    ]
    said(f"steps of {factor:.3g}, {name} over {over}, by noise", rates)
    return rates


@pytest.mark.full
@pytest.mark.parametrize("factor", [2, 3, 5, 10, 30, 100])
def test_misses_after_a_step(factor: float) -> None:
    """Test the miss rate after a step of the RTT. It exceeds that of the first released form,
    `conformal/first`, after a twofold step, and with Pareto tails after any step."""
    for f in (factor, 1 / factor):
        rates = after_steps_by_noise(f, 0, "conformal")
        assert np.mean(rates[:2]) < (MOST if f != 2 else 1.7) and np.mean(rates[2:]) < 2.5, f


@pytest.mark.full
def test_rows_of_steps_keep_the_mean_only() -> None:
    r = np.random.default_rng(1)
    for period, factor in itertools.product((300, 1000, 3000), (2, 10)):
        t = np.arange(100 * period)
        y = 20_000 * (1 + 0.05 * np.abs(r.standard_normal(len(t)))) * np.where(t // period % 2, factor, 1)
        missed = misses(np.round(y).astype(np.int64), 0.01) / 0.01
        t = t[1:]
        window = (t % period >= 50) & (t % period < 150) & (t > period)
        up = t // period % 2 == 1
        rates = (missed.mean(), missed[window & up].mean(), missed[window & ~up].mean())
        said(f"{factor}x each {period}: all, after up, after down", rates)
        assert LEAST < rates[0] < MOST


def test_the_first_hundred_samples_miss_no_more_than_jacobson() -> None:
    ours = theirs = samples = 0
    for name, seed in itertools.product(FAMILIES, range(5)):
        for y in np.split(family(name, seed), 20):
            ours += int(misses(y, 0.01).sum())
            theirs += int((y > run("jacobson", y)[1])[1:].sum())
            samples += len(y) - 1
    print(f"\nfirst 100 of {samples} samples: {ours / samples:.2%}, jacobson {theirs / samples:.2%}", end="")
    assert ours <= theirs


def loss(name: str, y: Rtts) -> float:
    return float(np.abs(run(name, y)[0] - y)[1:].sum())


def ratios(name: str, rows: int, seeds: int) -> Floats:
    """Return for each series the error of `name` divided by that of the better of jacobson and last. The
    estimators restart every `rows` samples."""
    out = []
    for f, seed in itertools.product(FAMILIES, range(seeds)):
        y = family(f, seed)
        parts = np.split(y, len(y) // rows)
        ours, *best = (sum(loss(e, p) for p in parts) for e in (name, "jacobson", "last"))
        out.append(ours / min(best))
    return np.array(out)


@pytest.mark.parametrize(("rows", "mean", "worst"), [(2000, 0.85, 1.15), (100, 0.93, 1.2), (50, 0.96, 1.2)])
def test_tracking_against_the_better_baseline(rows: int, mean: float, worst: float) -> None:
    r = ratios("tracking", rows, 4)
    study = ratios("tracking/study", rows, 4)
    gm = float(np.exp(np.log(r).mean()))
    said(
        f"tracking, {rows} samples: mean, worst; study",
        (gm, r.max(), np.exp(np.log(study).mean()), study.max()),
    )
    assert gm < mean
    assert r.max() < worst


@pytest.mark.parametrize(("window", "low", "high"), [(1, 0.7, 1.3), (10, 0.03, 0.25)])
def test_misses_become_timeouts_in_thin_flows_only(window: int, low: float, high: float) -> None:
    """Test that with 10 packets per round trip, ACKs in between prevent the timeouts of most misses."""
    before, at_send, timeouts = [], [], []
    for name, seed in itertools.product(FAMILIES, range(2)):
        flow = flow_of(family(name, seed, 5000), window)
        engine = _native.ReplayEngine([("conformal", "double", {})])
        engine.feed(flow)
        found = engine.finish(0)
        assert found is not None
        m = found.metrics()[0]
        rows = len(flow["rtt_us"]) - 1
        rto = _native.Estimator("conformal").run(flow["rtt_us"], flow["time_us"], flow["sent_us"])[1]
        before.append(float((flow["rtt_us"] > rto)[1:].mean()))
        at_send.append(m["misses"] / rows)
        timeouts.append(m["spurious_timeouts"] / rows)
    said(
        f"{window} a round trip: % missed before the sample, at send, timeouts",
        (100 * float(np.mean(v)) for v in (before, at_send, timeouts)),
    )
    assert LEAST < np.mean(before) / 0.01 < MOST
    assert low < np.mean(timeouts) / 0.01 < high
    assert np.mean(at_send) >= np.mean(before)
