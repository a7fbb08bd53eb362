# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the detection of losses: the engine against a simple implementation that follows docs/metrics.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from samples import Batch, batch
from tcplearn import _native

NAMES = ["last", "jacobson", "linux", "eifel", "experts/fitted"]
MS = 1000
INT64 = (
    "sent_us",
    "resent_us",
    "armed_us",
    "head_sent_us",
    "probe_from_us",
    "delivered_us",
    "rack_us",
    "rtt_us",
)
TYPES = {
    **dict.fromkeys(("flow", "row", "id", "withdrawn_flow", "withdrawn_id"), np.uint32),
    **dict.fromkeys(INT64, np.int64),
    **dict.fromkeys(("tail", "alone"), np.uint8),
}
Losses = list[dict[str, int]]


def columns(losses: Losses, withdrawn: list[int] | None = None) -> dict[str, Any]:
    out = {name: np.array([loss.get(name, 0) for loss in losses], kind) for name, kind in TYPES.items()}
    out["withdrawn_id"] = np.array(withdrawn or [], np.uint32)
    out["withdrawn_flow"] = np.zeros(len(out["withdrawn_id"]), np.uint32)
    return out


def invented(b: Batch, seed: int) -> Losses:
    """Return losses of every kind that meet the reader's guarantees, each reported with a row after its
    repair."""
    rng = np.random.default_rng(seed)
    out: Losses = []
    for row in sorted(rng.choice(np.arange(5, len(b["time_us"])), 60, replace=False).tolist()):
        acked, sent = int(b["time_us"][row]), int(b["head_sent_us"][row])
        resent = int(rng.integers(sent, acked))
        before = b["time_us"][b["time_us"] <= resent]
        armed = int(before[-1]) if len(before) and rng.random() < 0.8 else resent - int(rng.integers(0, 5))
        armed = max(armed, int(before[-1]) if len(before) else 0)
        delivered = int(rng.integers(sent, acked)) if rng.random() < 0.5 else -1
        out.append(
            {
                "row": row,
                "id": len(out),
                "sent_us": sent,
                "resent_us": resent,
                "armed_us": armed,
                "head_sent_us": armed - int(rng.integers(0, 60 * MS)),
                "probe_from_us": armed + int(rng.integers(0, 30 * MS)),
                "delivered_us": delivered,
                "rack_us": delivered + int(rng.integers(0, 20 * MS)) if delivered >= 0 else -1,
                "rtt_us": int(rng.integers(10 * MS, 200 * MS)) if rng.random() < 0.9 else -1,
                "tail": int(rng.random() < 0.3),
                "alone": int(rng.random() < 0.3),
            }
        )
    return out


def twin(b: Batch, losses: Losses, name: str) -> dict[str, float]:
    rtt, rto = _native.Estimator(name).run(
        b["rtt_us"], b["time_us"], b["sent_us"], flight_segments=b["flight_segments"], ttl=b["ttl"]
    )
    alone, rack = [], []
    for loss in losses:
        row = int(np.flatnonzero(b["time_us"] > loss["armed_us"])[0])  # in force until then
        known = bool((b["rtt_us"][:row] >= 0).any())
        timeout = float(rto[row])
        start = loss["head_sent_us"] if name == "eifel" else loss["armed_us"]
        expiry = max(loss["armed_us"], start + timeout)
        if expiry < loss["sent_us"]:
            expiry = loss["sent_us"] + timeout
        alone.append(expiry - loss["sent_us"])
        ways = [expiry]
        pto = 2 * float(rtt[row]) + 200 * MS * loss["alone"] if known else 1000 * MS
        probe = min(loss["probe_from_us"] + pto, expiry)
        quiet = loss["delivered_us"] < 0 or loss["delivered_us"] > probe
        if quiet:
            answer = timeout if loss["rtt_us"] < 0 else min(loss["rtt_us"], timeout)
            ways = [probe if loss["tail"] else probe + answer]
        if loss["rack_us"] >= 0:
            ways.append(loss["rack_us"])
        rack.append(max(min(ways) - loss["sent_us"], 0))
    return {
        "losses": len(losses),
        "loss_detect_actual_us": float(np.mean([loss["resent_us"] - loss["sent_us"] for loss in losses])),
        "loss_detect_rto_us": float(np.mean(alone)),
        "loss_detect_rack_us": float(np.mean(rack)),
    }


def fed(b: Batch, losses: Losses, cut: int, withdrawn: list[int] | None = None) -> list[dict[str, Any]]:
    engine = _native.ReplayEngine([(n, "double", {}) for n in NAMES])
    for low, high, gone in ((0, cut, None), (cut, len(b["time_us"]), withdrawn)):
        part: dict[str, Any] = {key: np.ascontiguousarray(v[low:high]) for key, v in b.items()}
        mine = [{**loss, "row": loss["row"] - low} for loss in losses if low <= loss["row"] < high]
        engine.feed({**part, "losses": columns(mine, gone)})
    flow = engine.finish(0)
    assert flow is not None
    return flow.metrics()


@pytest.mark.parametrize("flight", [1, 5, 40])
def test_engine_equals_the_definitions(flight: int) -> None:
    for seed in range(6):
        b = batch(seed, 300, flight)
        losses = invented(b, seed)
        for name, got in zip(NAMES, fed(b, losses, 37), strict=True):
            for key, value in twin(b, losses, name).items():
                assert got[key] == pytest.approx(value, rel=1e-12), f"{name} {key}, seed {seed}"


def test_withdrawn_losses_do_not_count() -> None:
    b = batch(1, 300)
    losses = invented(b, 1)
    gone = [3, 17, 59]
    want = twin(b, [loss for loss in losses if loss["id"] not in gone], "jacobson")
    got = fed(b, losses, 150, gone)[NAMES.index("jacobson")]
    assert {key: got[key] for key in want} == pytest.approx(want)
    nothing = fed(b, [], 150)[0]
    assert (nothing["losses"], nothing["loss_detect_rto_us"]) == (0, None)


def test_losses_out_of_order_are_refused() -> None:
    b = batch(1, 300)
    losses = invented(b, 1)
    with pytest.raises(ValueError, match="order of the rows"):
        fed(b, losses[::-1], 0)
    with pytest.raises(ValueError, match="order of the rows"):
        fed(b, [{**losses[0], "flow": 7}], 0)


def test_by_hand() -> None:
    """Test by hand-computed values: with RTTs of 100 ms, jacobson's RTO is 100 ms + 4 RTTVAR."""
    n = 60
    time = (np.arange(n, dtype=np.int64) + 2) * 100 * MS
    b = {
        "time_us": time,
        "sent_us": time - 100 * MS,
        "rtt_us": np.full(n, 100 * MS, np.int64),
        "armed_us": time - 100 * MS,
        "head_sent_us": time - 100 * MS,
        "flow": np.zeros(n, np.uint32),
        "flight_segments": np.full(n, 2, np.uint32),
        "retransmitted": np.zeros(n, np.uint8),
        "ttl": np.zeros(n, np.uint8),
    }
    armed = int(time[-2])
    rto = float(_native.Estimator("jacobson").run(b["rtt_us"], time, b["sent_us"])[1][-1])
    assert 100 * MS <= rto < 101 * MS
    loss = {
        "row": n - 1,
        "sent_us": armed + 10 * MS,
        "resent_us": armed + 90 * MS,
        "armed_us": armed,
        "head_sent_us": armed,
        "probe_from_us": armed + 10 * MS,
        "delivered_us": armed + 50 * MS,
        "rack_us": armed + 60 * MS,
        "rtt_us": 100 * MS,
    }
    got = fed(b, [loss], 30)[NAMES.index("jacobson")]
    assert got["loss_detect_actual_us"] == 80 * MS
    assert got["loss_detect_rto_us"] == pytest.approx(rto - 10 * MS)
    assert got["loss_detect_rack_us"] == 50 * MS
    # nothing arrives later: linux waits 300 ms; its probe goes after 210 ms, is the lost one or is answered
    loss |= {"delivered_us": -1, "rack_us": -1}
    for tail, want in ((1, 200 * MS), (0, 300 * MS)):
        got = fed(b, [{**loss, "tail": tail}], 30)[NAMES.index("linux")]
        assert got["loss_detect_rto_us"] == pytest.approx(290 * MS, rel=1e-3)
        assert got["loss_detect_rack_us"] == pytest.approx(want, rel=1e-3)
