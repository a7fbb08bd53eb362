# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Computes for bench/ablation.py how `conformal` and `jacobson` behave after bursts of long RTTs, and on RTTs
with heavy tails."""

from collections.abc import Iterator

import numpy as np
from ablation_variants import Params

from families import Rtts
from tcplearn import _native


def run(name: str, y: Rtts, params: Params) -> tuple[np.ndarray, np.ndarray]:
    """Return the RTTs predicted and the RTOs set by the estimator `name` with the parameters `params`, in us,
    before each RTT of the series `y` but the first."""
    now = np.cumsum(y)
    rtt, rto = _native.Estimator(name, "double", params).run(y, now, now - y)
    return rtt[1:], rto[1:]


def disturbed(most: int, low: float, high: float) -> Iterator[str]:
    """Yield means over 200 series with a burst, in which up to `most` RTTs are multiplied by a factor from
    `low` to `high`. The first three are RTOs divided by the same timer's RTO before the burst: of `conformal`
    and `jacobson` after the burst, and of `conformal` 200 samples later. The last is the share of RTTs after
    the burst above `conformal`'s RTO, divided by the target of 1 %."""
    out = []
    for seed in range(200):
        r = np.random.default_rng([seed, most])
        y, n = 50_000 * (1 + 0.05 * np.abs(r.standard_normal(4000))), int(r.integers(1, most + 1))
        y[2000 : 2000 + n] *= r.uniform(low, high)
        whole = np.round(y).astype(np.int64)
        rtos = [run(name, whole, {})[1] for name in ("conformal", "jacobson")]
        near, far = slice(2000 + n + 8, 2000 + n + 50), slice(2000 + n + 200, 2000 + n + 300)
        before = [np.median(rto[1500:1990]) for rto in rtos]
        after = [np.median(rto[near]) / b for rto, b in zip(rtos, before, strict=True)]
        missed = whole[1:] > rtos[0]
        rate = missed[2000 + n :].mean() / 0.01
        out.append([*after, np.median(rtos[0][far]) / before[0], rate])
    yield from (f"{v:.2f}" for v in np.mean(out, axis=0))


def heavy(tail: float) -> Iterator[str]:
    r = np.random.default_rng([5, int(10 * tail)])
    y = np.round(50_000 * (1 + 0.1 * r.pareto(tail, 100_000))).astype(np.int64)
    ours, rfc = (run(name, y, {})[1] for name in ("conformal", "jacobson"))
    yield from (f"{100 * (y[1:] > rto).mean():.2f}" for rto in (ours, rfc))
    yield f"{np.maximum(ours - y[1:], 0).mean() / np.maximum(rfc - y[1:], 0).mean():.2f}"
