# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test confidence intervals of ratios: their blocks and resamples against simple implementations, and how
often they contain the true ratio."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray

from samples import Batch, batch
from tcplearn import _native
from tcplearn.replay import bootstrap, replay

NAMES = ["jacobson", "last", "linux", "eifel"]
Floats = NDArray[np.float64]


def blocks_of(b: Batch, names: list[str] = NAMES) -> Floats:
    engine = _native.ReplayEngine([(n, "double", {}) for n in names])
    engine.feed(b)
    flow = engine.finish(0)
    assert flow is not None
    return flow.blocks()


def plain_sums(b: Batch) -> list[Floats]:
    """Return for each sample an array [estimator, sum] of what the sample adds to each sum, as
    docs/metrics.md defines it."""
    in_force = [
        _native.Estimator(n).run(
            b["rtt_us"], b["time_us"], b["sent_us"], flight_segments=b["flight_segments"], ttl=b["ttl"]
        )
        for n in NAMES
    ]
    sampled = b["rtt_us"] >= 0
    out = []
    for k in np.flatnonzero(sampled):
        y, sent = b["rtt_us"][k], np.searchsorted(b["time_us"], b["sent_us"][k], side="right")
        sums = np.zeros((len(NAMES), 5))
        known = sampled[:sent].any()  # before the first sample the RTO is the initial one, and in no sum
        for e, (rtt, rto) in enumerate(in_force):
            sums[e] = (
                abs(rtt[k] - y) if sampled[:k].any() else 0,
                abs(rtt[sent] - y) if known else 0,
                known and y > rto[sent],
                rto[sent] if known else 0,
                max(rto[sent] - y, 0) if known else 0,
            )
        out.append(sums)
    return out


def plain_blocks(samples: list[Floats]) -> Floats:
    """Return the sums of the shortest equal blocks, of 1, 2, 4, ... samples, of which there are at most
    128."""
    length = 1
    while -(-len(samples) // length) > 128:
        length *= 2
    return np.array([np.sum(samples[i : i + length], axis=0) for i in range(0, len(samples), length)])


@pytest.mark.parametrize("rows", [3, 128, 150, 700, 2000])
def test_blocks_equal_the_definition(rows: int) -> None:
    b = batch(rows, rows)
    want = plain_blocks(plain_sums(b))
    got = blocks_of(b)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_resamples_equal_a_plain_twin() -> None:
    sums = blocks_of(batch(3, 90))
    blocks = len(sums)
    run = bootstrap.run_length(blocks)
    assert run == 5 and (run - 1) ** 3 < blocks <= run**3
    runs = -(-blocks // run)
    starts = bootstrap.generator(1, "a").integers(0, blocks, (bootstrap.RESAMPLES, runs))
    got = bootstrap.resampled(sums, bootstrap.generator(1, "a"))
    for r in (0, 1, 999):
        want = sum(sums[(s + k) % blocks] for s in starts[r] for k in range(run))
        np.testing.assert_allclose(got[r], want * blocks / (runs * run), rtol=1e-12)
    np.testing.assert_allclose(got.mean(axis=0), sums.sum(axis=0), rtol=0.05)


def test_ends_are_the_order_statistics() -> None:
    drawn = bootstrap.resampled(blocks_of(batch(4, 300)), bootstrap.generator(0, "x"))
    low, high = bootstrap.intervals(drawn, 0, 0.025)
    ratio = np.sort(drawn[:, 1, 0] / drawn[:, 0, 0])
    assert (low[1, 0], high[1, 0]) == (ratio[24], ratio[-25])
    assert (low[0] == 1).all() and (high[0] == 1).all()


def test_a_denominator_that_may_be_nothing_bounds_nothing() -> None:
    drawn = np.ones((1000, 2, 5))
    drawn[:100, 0] = 0  # jacobson did not miss in a tenth of the resamples
    drawn[:50, 1] = 0  # nor did the other one in half of these
    low, high = bootstrap.intervals(drawn, 0, 0.025)
    assert (low[1] == 0).all() and np.isinf(high[1]).all()
    drawn[:, 1, 2] = 0  # never
    low, high = bootstrap.intervals(drawn, 0, 0.025)
    assert np.isnan(low[1, 2]) and np.isnan(high[1, 2])


def test_few_runs_widen_the_interval() -> None:
    assert bootstrap.tail(1e9) == pytest.approx(0.025, rel=1e-6)
    assert 0.005 < bootstrap.tail(10) < bootstrap.tail(30) < 0.025
    # Student's quantile at 9 degrees of freedom is 2.2622, times the root of 10/9
    assert bootstrap.tail(10) == pytest.approx(NormalDist().cdf(-2.2622 * (10 / 9) ** 0.5), rel=0.02)


def autoregressive(rng: np.random.Generator, rows: int, phi: float) -> Batch:
    noise = rng.normal(0, 3000, rows)
    noise[0] /= np.sqrt(1 - phi * phi)
    deviation = np.empty(rows)
    at = 0.0
    for i, step in enumerate(noise):
        at = phi * at + step
        deviation[i] = at
    rtt = np.maximum(1000, np.round(50_000 + deviation)).astype(np.int64)
    time = np.cumsum(np.full(rows, 200_000, np.int64)) + rtt
    return {
        "time_us": time,
        "sent_us": time - rtt,
        "rtt_us": rtt,
        "armed_us": time - rtt,
        "head_sent_us": time - rtt,
        "flow": np.zeros(rows, np.uint32),
        "flight_segments": np.ones(rows, np.uint32),
        "retransmitted": np.zeros(rows, np.uint8),
        "ttl": np.zeros(rows, np.uint8),
    }


@pytest.mark.parametrize(("rows", "phi", "least"), [(30, 0.5, 0.85), (300, 0.9, 0.90), (2000, 0.9, 0.90)])
def test_coverage_on_autoregressive_series(rows: int, phi: float, least: float) -> None:
    """Test how often intervals contain the true ratio, with 200 series. docs/metrics.md has results of more
    series."""
    rng = np.random.default_rng(7)
    names = ["jacobson", "last"]
    truth = sum(blocks_of(autoregressive(rng, rows, phi), names).sum(axis=0) for _ in range(300_000 // rows))
    truth = truth[1] / truth[0]
    within, half = np.zeros(5), np.zeros(5)
    series = 200
    for i in range(series):
        sums = blocks_of(autoregressive(rng, rows, phi), names)
        low, high, drawn = bootstrap.of_flow(sums, 0, bootstrap.generator(i, "coverage"))
        within += (low[1] <= truth) & (truth <= high[1])
        low, high = bootstrap.intervals(drawn, 0, 0.25)
        half += (low[1] <= truth) & (truth <= high[1])
    print(f"{rows} samples, phi {phi}: 95 % {within / series}, 50 % {half / series}")
    for error in (0, 1):
        assert least <= within[error] / series <= 0.995
        assert 0.35 <= half[error] / series <= 0.65


def write(path: Path, seed: int, rows: int) -> Path:
    b = batch(seed, rows, 1)
    lines = [f"{t / 1e6:.6f},{r / 1e3:.3f}" for t, r in zip(b["time_us"], b["rtt_us"], strict=True) if r > 0]
    path.write_text("time_s,rtt_ms\n" + "\n".join(lines) + "\n")
    return path


RATIOS = [f"{name}_{end}" for name in bootstrap.RATIOS for end in ("low", "high")]


def test_rows_have_intervals_that_hold_their_ratios(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{i}.csv", i, 400) for i in range(3)]
    options = replay.Options(estimators=("jacobson", "last", "linux"))
    out = replay.run(files, options)
    for row in [*out.rows, *out.totals]:
        for name in ("mean_abs_error_ratio", "at_send_error_ratio", "mean_rto_ratio", "excess_wait_ratio"):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            assert low <= row[name] <= high, (row.flow, row.estimator, name)
            assert low < high or row.estimator == "jacobson" or high == 1
    # a flow's interval depends on nothing but itself and the seed
    assert replay.run(files[1:2], options).rows == [r for r in out.rows if r.source == str(files[1])]
    assert replay.run(files, options).rows == out.rows
    other = replay.run(files, dataclasses.replace(options, seed=1)).rows
    assert [r["mean_abs_error_ratio"] for r in other] == [r["mean_abs_error_ratio"] for r in out.rows]
    assert other != out.rows
    # more flows, narrower totals
    wide = [(r["mean_abs_error_ratio_high"] or 0) - (r["mean_abs_error_ratio_low"] or 0) for r in out.rows]
    total = next(r for r in out.totals if r.estimator == "last")
    assert (total["mean_abs_error_ratio_high"] or 0) - (total["mean_abs_error_ratio_low"] or 0) < max(wide)


def test_no_intervals_where_nothing_is_claimed(tmp_path: Path) -> None:
    short = write(tmp_path / "short.csv", 1, 20)
    for row in replay.run([short], replay.Options(estimators=("jacobson", "last"))).rows:
        assert not row.judged and row["mean_abs_error_ratio"] is not None
        assert all(row[name] is None for name in RATIOS)
        assert row["regret_best_constant_ratio"] is None
    long = write(tmp_path / "long.csv", 1, 200)
    for row in replay.run([long], replay.Options(estimators=("last", "linux"))).rows:
        assert all(row[name] is None for name in RATIOS)
    # a baseline that never missed has no ratio
    for row in replay.run([long], replay.Options(estimators=("jacobson", "last"), min_rto_us=10**9)).rows:
        assert (
            row["rto_miss_rate_ratio"]
            is row["rto_miss_rate_ratio_low"]
            is row["rto_miss_rate_ratio_high"]
            is None
        )
        assert row["mean_abs_error_ratio_low"] is not None


def test_short_flows_are_pooled_in_bounded_memory() -> None:
    total = bootstrap.Total(0)
    rng = np.random.default_rng(5)
    flows = rng.random((1000, 7, 2, 5))
    for sums in flows:
        total.pool(sums)
    assert len(total._pooled) == 125
    np.testing.assert_allclose(np.sum(total._pooled, axis=0), flows.sum(axis=(0, 1)))
    ((low, high),) = total.intervals(0)
    truth = flows.sum(axis=(0, 1))[1] / flows.sum(axis=(0, 1))[0]
    assert (low[1] < truth).all() and (truth < high[1]).all() and (high[1] - low[1] < 0.1).all()


def test_a_second_base_is_of_the_same_resamples() -> None:
    sums = blocks_of(batch(9, 400))
    total = bootstrap.Total(0)
    total.add(bootstrap.resampled(sums, bootstrap.generator(0, "x")), len(sums))
    (low, high), (other_low, other_high) = total.intervals(0, 2)
    assert total.intervals(0)[0][0].tolist() == low.tolist()
    # the ratio the other way round, resample by resample: its ends are the inverses of the ends
    rto = bootstrap.RTO
    np.testing.assert_allclose(other_low[0, rto], 1 / high[2, rto], rtol=1e-12)
    np.testing.assert_allclose(other_high[0, rto], 1 / low[2, rto], rtol=1e-12)
    assert bootstrap.Total(0).intervals(0, 1) == []


def test_flows_of_one_name_are_independent_in_the_totals() -> None:
    sums = blocks_of(batch(9, 400))
    total = bootstrap.Total(0)
    for _ in range(25):
        _, _, drawn = bootstrap.of_flow(sums, 0, bootstrap.generator(0, "the same"))
        total.add(drawn, len(sums))
    low, high, _ = bootstrap.of_flow(sums, 0, bootstrap.generator(0, "the same"))
    (bounds,) = total.intervals(0)
    # as of one flow 25 times as long: a fifth as wide, not just as wide
    shrunk = (bounds[1] - bounds[0])[1, 0] / (high - low)[1, 0]
    assert 0.12 < shrunk < 0.25
