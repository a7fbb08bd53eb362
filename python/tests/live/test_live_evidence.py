# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the tests of `tcplearn live`'s guard are wrong as rarely as they say, at every look."""

from __future__ import annotations

import math
import random

from tcplearn.live.arms import Counts, none
from tcplearn.live.evidence import RISK, carried, harm
from tcplearn.live.sequential import log_harm, log_less, log_more, log_rate, rate_limits


def test_the_test_of_the_draw_is_wrong_as_often_as_it_says() -> None:
    """Test that the sequential test has at most its stated rate of errors, although it is evaluated after
    every event and some events in our group are tolerated."""
    wrong = {"draw": 0, "tolerated": 0}
    for seed in range(200):
        draw, ours, control, tolerated = random.Random(seed), 0, 0, 0
        found = dict.fromkeys(wrong, False)
        for at in range(1, 81):
            is_ours = draw.random() < 0.3
            ours, control = ours + is_ours, control + (not is_ours)
            tolerated += draw.random() < 0.1
            found["draw"] |= log_more(ours, control, 0.3) >= math.log(1 / RISK)
            found["tolerated"] |= log_harm(ours + tolerated, control, 0.3, 0.1 * at) >= math.log(1 / RISK)
        for name, is_wrong in found.items():
            wrong[name] += is_wrong
    assert 0 < wrong["draw"] <= 200 * RISK + 8 and wrong["tolerated"] <= wrong["draw"], wrong


def test_limits_of_a_rate_hold_at_every_look() -> None:
    outside = 0
    for seed in range(200):
        draw, events, is_outside = random.Random(seed), 0, False
        for trials in range(1, 1001):
            events += draw.random() < 0.03
            if trials % 20 == 0:
                low, high = rate_limits(events, trials, RISK)
                is_outside |= not low <= 0.03 <= high
        outside += is_outside
    assert outside <= 200 * RISK + 8, outside
    assert rate_limits(0, 1000, RISK)[0] == 0.0 and 0.003 < rate_limits(0, 1000, RISK)[1] < 0.006


def test_a_rate_that_is_exceeded_is_found() -> None:
    assert log_rate(2, 2.0) < 0 < math.log(20) < log_rate(12, 2.0)


def test_odds_that_are_not_higher_are_told() -> None:
    """Test that the test of lower odds is seldom wrong, and decides in the end."""
    wrong = right = 0
    for seed in range(200):
        draw = random.Random(seed)
        counts = {share: [0, 0] for share in (0.5, 0.74)}  # odds of 1, and above e
        told = dict.fromkeys(counts, False)
        for _ in range(200):
            for share, of in counts.items():
                of[draw.random() >= share] += 1
                told[share] |= log_less(*of, 0.5, 1.0) >= math.log(1 / RISK)
        wrong, right = wrong + told[0.74], right + told[0.5]
    assert wrong <= 200 * RISK + 8 and right > 190, (wrong, right)


def _arm(connections: int, spurious: int) -> Counts:
    """Return the counts of connections of 20 rounds each; `spurious` had a spurious retransmission."""
    events = {"spurious": spurious, "spurious_1": spurious, "resent_1": spurious}
    return none() | {"connections": connections, "rounds": 20 * connections} | events


def test_harm_in_several_steps_counts_together() -> None:
    """Test that harm which no step shows alone is found if the evidence of the steps is taken together."""
    steps = [(0.01, 10, 990, 2), (0.02, 10, 490, 2), (0.05, 20, 380, 3), (0.1, 30, 270, 3)]
    earlier: dict[str, float] = {}
    found = []
    for tests, (share, ours, control, spurious) in enumerate(steps, 1):
        epoch = (_arm(control, 0), _arm(ours, spurious), share)
        assert not harm(*epoch, 1)
        found.append(bool(harm(*epoch, tests, earlier)))
        earlier = carried(*epoch, tests, earlier)
    assert found == [False, False, True, True]


def test_steps_together_raise_no_false_alarms() -> None:
    """Test that without harm the evidence of all steps together exceeds its limit as rarely as it says, if
    it is computed after every connection."""
    draw, alarms, trials = random.Random(1), 0, 300
    for _ in range(trials):
        earlier: dict[str, float] = {}
        for tests, share in enumerate((0.05, 0.1, 0.2, 0.5, 0.8), 1):
            had = [0, 0]
            for _ in range(40):
                had[draw.random() < share] += 1
                epoch = (_arm(20 * had[0], had[0]), _arm(20 * had[1], had[1]), share)
                if harm(*epoch, tests, earlier):
                    break
            else:
                earlier = carried(*epoch, tests, earlier)
                continue
            alarms += 1
            break
    assert alarms <= trials * RISK
