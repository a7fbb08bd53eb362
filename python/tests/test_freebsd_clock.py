# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `jacobson/freebsd-2.2` at a constant RTT of 0.75 ticks, at any phase. The count less one, t - 1, is
then 1 with a probability of 0.75 and else 0, so that SRTT (in 1/32 tick) is a Markov chain on a few whole
numbers. Its stationary distribution gives each mean error exactly."""

import random

import numpy as np
import pytest

from tcplearn.estimators import create

TICK_US, RTT_TICKS = 500_000, 0.75
STATES = 64  # of SRTT in 1/32 tick: from there on each step falls


def step(srtt: int, ticks: int) -> int:
    return max(srtt + 4 * ticks - srtt // 8, 1)


def stationary() -> np.ndarray:
    """Return the stationary probabilities of SRTT from 1 to STATES."""
    moves = np.zeros((STATES + 1, STATES + 1))
    for srtt in range(1, STATES + 1):
        for ticks, chance in ((1, RTT_TICKS), (0, 1 - RTT_TICKS)):
            moves[srtt, step(srtt, ticks)] += chance
    moves = moves[1:, 1:]
    balance = np.vstack([moves.T - np.eye(STATES), np.ones(STATES)])
    shares, *_ = np.linalg.lstsq(balance, np.append(np.zeros(STATES), 1), rcond=None)
    return shares


def exact_errors(fraction: bool) -> dict[str, float]:
    """Return the mean error of the prediction in ticks against the count, the count less one, and the time.
    The next count is independent of the prediction."""
    srtt = np.arange(1, STATES + 1)
    prediction = srtt / 32 if fraction else srtt // 32
    by_count = [abs(prediction - t) for t in range(3)]
    mean = {
        "count": RTT_TICKS * by_count[2] + (1 - RTT_TICKS) * by_count[1],
        "count less one": RTT_TICKS * by_count[1] + (1 - RTT_TICKS) * by_count[0],
        "time": abs(prediction - RTT_TICKS),
    }
    return {scored: float(stationary() @ errors) for scored, errors in mean.items()}


def measured_errors(name: str, samples: int) -> dict[str, float]:
    draw = random.Random(16)
    estimator = create(name)
    rtt_us = int(RTT_TICKS * TICK_US)
    sums, now_us = dict.fromkeys(("count", "count less one", "time"), 0.0), 0
    for k in range(samples):
        now_us += 10 * TICK_US + draw.randrange(TICK_US)
        sent_us = now_us - rtt_us
        ticks = now_us // TICK_US - sent_us // TICK_US
        if k >= 100:
            prediction = estimator.predict_one() / TICK_US
            sums["count"] += abs(prediction - 1 - ticks)
            sums["count less one"] += abs(prediction - ticks)
            sums["time"] += abs(prediction - RTT_TICKS)
        sample = {"time_us": now_us, "sent_us": sent_us, "rtt_us": rtt_us}
        estimator.learn_one(sample, rtt_us)
    return {scored: total / (samples - 100) for scored, total in sums.items()}


@pytest.mark.parametrize(("name", "fraction"), [
    ("jacobson/freebsd-2.2", False),
    ("jacobson/freebsd-2.2-fraction", True),
])  # fmt: skip
def test_error_at_three_quarters_of_a_tick_is_the_stationary_one(name: str, fraction: bool) -> None:
    exact, measured = exact_errors(fraction), measured_errors(name, 60_000)
    assert measured == pytest.approx(exact, abs=0.01)


def test_scored_against_the_count_the_cut_prediction_errs_by_more_than_a_tick() -> None:
    cut, kept = exact_errors(fraction=False), exact_errors(fraction=True)
    assert cut["count"] > 1.5
    assert cut["count less one"] < 0.75
    assert kept["time"] < 0.2
