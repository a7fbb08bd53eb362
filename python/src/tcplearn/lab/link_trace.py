# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A Mahimahi link trace as rates that hold for a step each: what a token bucket in the guest can follow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tcplearn.scenario import link_trace

#: Of the token bucket: one packet with its Ethernet header. Each change of its rate fills it.
BURST_BYTES = 1540
#: The least that a token bucket is given: an outage lets a packet a second through.
LOWEST_RATE = 8_000


@dataclass(frozen=True, slots=True)
class Step:
    """From `at_ms` on."""

    at_ms: int
    rate: int  # bits per second


@dataclass(frozen=True, slots=True)
class LinkTrace:
    """Starts again after its period."""

    period_ms: int
    steps: tuple[Step, ...]


def read(path: Path, step_ms: int) -> LinkTrace:
    """Lines of times in ms, at each of which 1,500 bytes may leave. Raise ValueError."""
    try:
        times = link_trace.times_ms(link_trace.unpacked(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return LinkTrace(times[-1], _steps(times, step_ms))


def _steps(times_ms: list[int], step_ms: int) -> tuple[Step, ...]:
    """The rate of each step, where it differs from the one before."""
    packets = [0] * (times_ms[-1] // step_ms + 1)
    for at in times_ms:
        packets[(at % times_ms[-1]) // step_ms] += 1  # the last chance is the first of the next round
    steps: list[Step] = []
    before = -1
    for k, count in enumerate(packets):
        length_ms = min(step_ms, times_ms[-1] - k * step_ms)
        if length_ms <= 0 or count == before:
            continue
        before = count
        # the bucket that the change fills is a packet of the step's already
        bits = max(count * link_trace.PACKET_BYTES - BURST_BYTES, 0) * 8
        steps.append(Step(k * step_ms, max(LOWEST_RATE, bits * 1000 // length_ms)))
    return tuple(steps)
