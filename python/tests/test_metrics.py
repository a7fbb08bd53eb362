# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the engine against a slow, simple implementation that follows the definitions row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samples import Batch, batch
from tcplearn import _native

NAMES = ["last", "jacobson", "linux", "eifel", "linreg", "experts/fitted"]


def replayed(b: Batch, names: list[str] = NAMES, floor_us: float = 0) -> list[dict[str, Any]]:
    engine = _native.ReplayEngine([(n, "double", {}) for n in names], 0, floor_us)
    for part in (slice(0, 37), slice(37, None)):  # batches must not matter
        engine.feed({key: np.ascontiguousarray(v[part]) for key, v in b.items()})
    metrics: list[dict[str, Any]] = engine.finish(0).metrics()
    return metrics


def twin(b: Batch, name: str, floor_us: float = 0) -> dict[str, float]:
    """Return the metrics of estimator `name` as docs/metrics.md defines them."""
    rtt, rto = _native.Estimator(name).run(
        b["rtt_us"], b["time_us"], b["sent_us"], flight_segments=b["flight_segments"], ttl=b["ttl"]
    )
    rto = np.maximum(rto, floor_us)
    counts = "misses misses_before handshakes spurious_timeouts spurious_timeouts_tlp spurious_probes"
    out: dict[str, float] = dict.fromkeys(counts.split(), 0)
    errors, at_send, waits, excess = [], [], [], []
    sampled = b["rtt_us"] >= 0
    for k in range(len(rtt)):
        y, first = b["rtt_us"][k], not sampled[:k].any()
        if not b["retransmitted"][k]:
            start = b["head_sent_us"][k] if name == "eifel" else b["armed_us"][k]
            fires = max(b["armed_us"][k], start + rto[k])
            tail = 200_000 if b["flight_segments"][k] == 1 else 0
            probes = min(b["armed_us"][k] + (1e6 if first or rtt[k] <= 0 else 2 * rtt[k] + tail), fires)
            out["spurious_timeouts"] += fires < b["time_us"][k]
            out["spurious_probes"] += probes < b["time_us"][k]
            out["spurious_timeouts_tlp"] += probes + rto[k] < b["time_us"][k]
        if not sampled[k]:
            continue
        if not first:
            errors.append(rtt[k] - y)
        # in force when the segment was sent: just before the first row that came after that
        sent = np.searchsorted(b["time_us"], b["sent_us"][k], side="right")
        if sampled[:sent].any():
            at_send.append(abs(rtt[sent] - y))
            waits.append(rto[sent])
            excess.append(max(rto[sent] - y, 0))
            out["misses"] += y > rto[sent]
        out["handshakes"] += not sampled[:sent].any()
        out["misses_before"] += not first and y > rto[k]
    out["mean_abs_error_us"] = float(np.abs(errors).mean())
    out["bias_us"] = float(np.mean(errors))
    out["at_send_error_us"] = float(np.mean(at_send))
    out["mean_rto_us"] = float(np.mean(waits))
    out["excess_wait_us"] = float(np.mean(excess))
    return out


@pytest.mark.parametrize("floor_us", [0, 120_000])
@pytest.mark.parametrize("overtaking", [False, True])
@pytest.mark.parametrize("flight", [1, 5, 40])
def test_engine_equals_the_definitions(flight: int, floor_us: float, overtaking: bool) -> None:
    for seed in range(4):
        b = batch(seed, 300, flight, overtaking=overtaking)
        for name, got in zip(NAMES, replayed(b, NAMES, floor_us), strict=True):
            for key, value in twin(b, name, floor_us).items():
                assert got[key] == pytest.approx(value, rel=1e-12), f"{name} {key}, seed {seed}"


def test_percentiles_are_exact_while_few() -> None:
    b = batch(1, 1000)
    rtt, _ = _native.Estimator("last").run(b["rtt_us"], b["time_us"], b["sent_us"])
    sampled = np.flatnonzero(b["rtt_us"] >= 0)[1:]
    errors = np.sort(np.abs(rtt - b["rtt_us"])[sampled])
    got = replayed(b, ["last"])[0]
    for key, p in (("median_abs_error_us", 0.5), ("p95_abs_error_us", 0.95)):
        assert got[key] == errors[int(np.ceil(p * len(errors))) - 1]


@settings(max_examples=12, deadline=None)
@given(
    st.integers(3_000, 120_000),
    st.integers(0, 2**32),
    st.sampled_from(["random", "rising", "sawtooth", "ties"]),
)
def test_percentiles_of_many_are_within_half_a_percent_of_rank(rows: int, seed: int, shape: str) -> None:
    rng = np.random.default_rng(seed)
    values = {
        "random": rng.lognormal(0, 2, rows),
        "rising": np.arange(rows, dtype=float),
        "sawtooth": (np.arange(rows) % 97).astype(float),
        "ties": rng.integers(0, 5, rows).astype(float),
    }[shape]
    values = np.round(values * 100) + 1
    # `last` errs by exactly these values when the RTT alternates between 10^9 and 10^9 + value
    rtt = np.full(2 * rows + 1, 10**9, dtype=np.int64)
    rtt[1::2] += values.astype(np.int64)
    n = len(rtt)
    time = np.arange(1, n + 1, dtype=np.int64) * 10**10
    b = {
        "time_us": time,
        "sent_us": time - rtt,
        "rtt_us": rtt,
        "armed_us": time - rtt,
        "head_sent_us": time - rtt,
        "flow": np.zeros(n, np.uint32),
        "flight_segments": np.ones(n, np.uint32),
        "retransmitted": np.zeros(n, np.uint8),
        "ttl": np.zeros(n, np.uint8),
    }
    engine = _native.ReplayEngine([("last", "double", {})])
    engine.feed(b)
    (probability, error), *_ = engine.finish(0).cdf()
    ordered = np.sort(np.repeat(values, 2))
    for p, e in zip(probability, error, strict=True):
        low = np.searchsorted(ordered, e, "left") / len(ordered)
        high = np.searchsorted(ordered, e, "right") / len(ordered)
        assert low - 0.005 <= p <= high + 0.005


def test_totals_add_up() -> None:
    engine = _native.ReplayEngine([("last", "double", {})])
    totals = _native.ReplayTotals(1)
    flows = []
    for flow in range(3):
        engine.feed(batch(flow, 500, 5, flow))
        flows.append(engine.finish(flow))
        totals.add(flows[-1])
    each = [f.metrics()[0] for f in flows]
    total = totals.metrics()[0]
    assert totals.samples == sum(f.samples for f in flows)
    assert total["misses"] == sum(m["misses"] for m in each)
    weights = [f.samples - 1 for f in flows]
    assert total["mean_abs_error_us"] == pytest.approx(
        np.average([m["mean_abs_error_us"] for m in each], weights=weights)
    )
