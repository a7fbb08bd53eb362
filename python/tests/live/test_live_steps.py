# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live` on a path whose RTT changes in the midst of a connection: how many retransmissions are
spurious then."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from live_command import AT_ONCE, ask, missing, room, server
from lossy_path import LossyPath, Spec
from test_live_kernel import STOCK_MS

from tcplearn import algorithms
from tcplearn.bpf.kernel import ticks_per_second

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

NEAR_MS, FAR_MS = 2, 80  # the same address by another route, or another of its hosts (anycast)
BEFORE, AFTER = 150, 60  # requests
LEAST_TICKS = 2  # the shortest floor
LATE_MS = 4  # a request that took longer than this over the RTT waited for a busy machine, and is not counted
#: Requests: as many as the lab's path "steps" has in a minute at 20 ms, and then in 5 s of each RTT in turn.
CALM, SHORT, LONG, CYCLES = 500, 42, 17, 42
PATHS = 4
MOST_LATE_MS = 2.0  # if a path was later, the machine was too busy for this test


def _talked(specs: list[Spec], folder: Path, count: int) -> list[tuple[dict[str, Any], int]]:
    """Return what `count` requests over each path measured, all paths at once and with learned floors, and
    how many packets the path lost. Skip the test if a path was late."""
    with contextlib.ExitStack() as stack:
        at = stack.enter_context(room())
        assert at.live("start", *AT_ONCE, "--cgroup", at.cgroup).returncode == 0
        paths = [stack.enter_context(LossyPath(spec, folder)) for spec in specs]
        for path in paths:
            stack.enter_context(server(path))
        talks = [at.popen(ask(path, count, 5), stdout=subprocess.PIPE) for path in paths]
        asked = [json.loads(talk.communicate()[0]) for talk in talks]
        ended = [path.end() for path in paths]
    late_ms = max(one["late_p99_ms"] for one in ended)
    if late_ms > MOST_LATE_MS:
        pytest.skip(f"the machine was too busy: a path was late by {late_ms:.1f} ms")
    return [(talk, one["dropped"]) for talk, one in zip(asked, ended, strict=True)]


def most_spurious(before_ms: float, after_ms: float, floor_ms: float, late_ms: float, requests: int) -> int:
    """Return how often the kernel's rule retransmits after a step of the RTT if the floor stays at
    `floor_ms`: the tail loss probe after 2 SRTT + floor, then the RTO of SRTT + max(RTTVAR, floor), doubled
    each time. An answer comes `late_ms` after the RTT."""
    rule = algorithms.resend_policy(f"stock:rto_min_us={1000 * floor_ms:.0f}")
    now_us = found = 0
    for request in range(requests + BEFORE):
        rtt_us = round(1000 * (before_ms if request < BEFORE else after_ms))
        answered_us = now_us + rtt_us + round(1000 * late_ms)
        wait_us, _ = rule.send(now_us)
        while now_us + wait_us < answered_us:
            now_us += wait_us
            found += request >= BEFORE
            wait_us, _ = rule.timer(now_us)
        rule.ack(answered_us, rtt_us)
        now_us = answered_us
    return found


def test_a_step_costs_no_more_than_the_kernels_rule_with_the_shortest_floor(tmp_path: Path) -> None:
    """Test that an RTT that jumps from 2 to 80 ms costs at most as many spurious retransmissions as the
    kernel's rule has with the shortest floor, until SRTT has followed."""
    ((asked, lost),) = _talked([Spec(NEAR_MS, steps=((BEFORE, FAR_MS),))], tmp_path, BEFORE + AFTER)
    assert lost == 0 and min(asked["rto_ms"][:BEFORE]) < STOCK_MS / 2
    resent = [now - before for before, now in zip([0, *asked["resent"]], asked["resent"], strict=False)]
    after = list(zip(asked["ms"], resent, strict=True))[BEFORE:]
    assert min(ms for ms, _ in after) >= FAR_MS
    spurious = sum(count for ms, count in after if ms <= FAR_MS + LATE_MS)
    least_ms = 1000 * LEAST_TICKS / ticks_per_second()
    assert spurious <= most_spurious(NEAR_MS, FAR_MS, least_ms, LATE_MS, AFTER), after


@pytest.mark.full
def test_late_steps_cost_at_most_3_in_1000(tmp_path: Path) -> None:
    """Test paths that are calm at first and then have RTTs of 20 and 200 ms in turn."""
    begins = [CALM + cycle * (SHORT + LONG) for cycle in range(CYCLES)]
    steps = [step for begin in begins for step in ((begin, 200.0), (begin + LONG, 20.0))]
    specs = [Spec(20, jitter_ms=0.5, loss=0.005, steps=tuple(steps), seed=n + 1) for n in range(PATHS)]
    found = _talked(specs, tmp_path, CALM + CYCLES * (SHORT + LONG))
    spurious = [asked["resent"][-1] - lost for asked, lost in found]
    requests = sum(len(asked["ms"]) for asked, _ in found)
    assert all(sum(ms > 200 for ms in asked["ms"]) >= LONG * CYCLES for asked, _ in found)
    print(f"spurious: {spurious}; requests: {requests}")
    assert sum(spurious) <= 3 * requests / 1000, spurious
