# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the guard stops harm on this machine's kernel, with real packets. The program always sets the
least floor, and the path delays answers, so that harm is certain (harm_trial.py measures more
conditions)."""

from __future__ import annotations

import pytest
from harm_trial import Condition, Trial, trial
from live_command import missing
from lossy_path import Spec

from tcplearn.live.guard import Plan

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.mark.full
@pytest.mark.parametrize(
    ("spec", "why"),
    [
        pytest.param(Spec(step_ms=100, step_s=0.5), "spurious retransmissions", id="steps"),
        pytest.param(Spec(kept=0.2, late_ms=(80, 200)), "retransmissions by timer", id="delayed ACKs"),
    ],
)
def test_harm_that_is_certain_is_stopped(spec: Spec, why: str) -> None:
    """Test that new connections get floors to none of 100 prefixes any more. Where answers are late, harm
    is not recognised as spurious: the ACK of the retransmission overtakes them, as if one had been lost."""
    with trial(Condition(spec), True, Plan(steps=(0.5,)), 100) as (began, path):
        assert began.until(Trial.is_stopped, 60.0, look_every_s=0.2), began.counted()
        stopped, share = began.counted(), began.guard.share
        assert path.end()["dropped"] == 0
    assert share == 0 and stopped.ours["rounds"] <= 2000
    assert why in began.guard.journal[-1].text, began.guard.journal
