# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the verbs that compare estimators have the same defaults as the Python functions that they
call."""

from __future__ import annotations

from dataclasses import replace

from tcplearn.cli.replay import Replayed
from tcplearn.cli.suite import InSuite
from tcplearn.replay import replay
from tcplearn.suite import measure


def test_defaults_of_a_replay_and_a_suite() -> None:
    asked = Replayed()
    of_replay = replay.Options(**asked.checked(), seed=asked.seed)
    of_suite = measure.Options(**InSuite().checked())
    # without a user's own estimators, which the command line adds where some are installed
    assert replace(of_replay, estimators=()) == replay.Options()
    assert replace(of_suite, estimators=()) == measure.Options()
