# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that `linreg` in fixed point uses coefficients as small as baddam2018's. The authors' kernel stored
them in integers, which made each 0."""

from __future__ import annotations

import pytest

from tcplearn import _native

NONE = {"b0_ms": 0.0, "b1_hops_ms": 0.0, "b2_min": 0.0, "b3_max": 0.0, "b4_ttl_ms": 0.0}
RTT_US, HOPS, TTL = 90_800, 14, 50
#: What each coefficient is multiplied by, in microseconds.
OF = {"b0_ms": 1000, "b1_hops_ms": 1000 * HOPS, "b2_min": RTT_US, "b3_max": RTT_US, "b4_ttl_ms": 1000 * TTL}


def predicted_us(arithmetic: str, **coefficients: float) -> float:
    estimator = _native.Estimator("linreg", arithmetic, {**NONE, **coefficients})
    estimator.update(RTT_US, RTT_US, 0, ttl=TTL, hops=HOPS)
    return estimator.rtt_us


@pytest.mark.parametrize("value", [0.00157301, -0.00311428, 0.0015, 0.0001, -0.00001])
@pytest.mark.parametrize("name", OF)
def test_a_small_coefficient_is_not_lost(name: str, value: float) -> None:
    expected = value * OF[name]
    assert predicted_us("double", **{name: value}) == pytest.approx(expected, rel=1e-12)
    # a half of the last of 8 fractional bits; 30 of the coefficient
    assert predicted_us("fixed", **{name: value}) == pytest.approx(expected, abs=2**-9 + OF[name] * 2**-30)


@pytest.mark.parametrize("preset", ["linreg", "linreg/reno", "linreg/vegas", "linreg/magnitude"])
@pytest.mark.parametrize("rtt_us", [400, 2_700, 90_800, 347_200, 3_000_000])
def test_published_presets_in_both_arithmetics(preset: str, rtt_us: int) -> None:
    both = [_native.Estimator(preset, arithmetic) for arithmetic in ("double", "fixed")]
    for k in range(20):
        for estimator in both:
            estimator.update(rtt_us + 37 * k, 10_000 * k, 0, ttl=TTL, hops=HOPS)
    double, fixed = both
    assert fixed.rtt_us == pytest.approx(double.rtt_us, abs=0.1)
    assert fixed.rto_us == pytest.approx(double.rto_us, abs=0.2)


@pytest.mark.parametrize("arithmetic", ["double", "fixed"])
@pytest.mark.parametrize(
    ("preset", "ms", "times"), [("kernel", 9, 2), ("reno-kernel", 93, 1), ("vegas-kernel", 93, 2)]
)
def test_the_authors_kernels_predict_a_constant(arithmetic: str, preset: str, ms: int, times: int) -> None:
    estimator = _native.Estimator(f"linreg/{preset}", arithmetic)
    error_us = 0.0
    for k, rtt_us in enumerate((200_000, 4_000, 300_000, *[150_000] * 40)):
        error = 1000 * ms - rtt_us if rtt_us <= 1000 * ms else 3000
        error_us = 1_000_000 + error if k == 0 else (error_us + error) / 2
        estimator.update(rtt_us, 200_000 * (k + 1), 0, ttl=TTL, hops=HOPS)
        assert estimator.rtt_us == 1000 * ms
        assert estimator.rto_us == pytest.approx(1000 * ms + times * error_us, abs=0.1)
    assert estimator.rto_us == pytest.approx(1000 * ms + times * 3000, abs=0.1)
