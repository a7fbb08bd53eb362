# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Mahimahi link traces: lines of times in ms, at each of which 1,500 bytes may leave; then from the start."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

from tcplearn import documents

PACKET_BYTES = 1500
#: Eleven days, and far below what a 32-bit count of milliseconds holds.
MOST_MS = 1_000_000_000
#: An hour at 28 Mbit/s.
MOST_BYTES = 64 << 20

#: Of a token bucket that follows a trace: a packet with its Ethernet header. A change of rate fills it.
BURST_BYTES = 1540
#: The least that a token bucket is given, in bits per second: an outage lets a packet a second through.
LOWEST_RATE = 8_000


def unpacked(path: Path) -> bytes:
    """The trace as text, gunzipped where its name says so. Raises ValueError."""
    try:
        data = documents.bounded(path, MOST_BYTES)
        if path.suffix == ".gz":
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError((getattr(error, "strerror", None) or str(error)).lower()) from error
    if len(data) > MOST_BYTES:
        raise ValueError(f"has more than {MOST_BYTES >> 20} MB once unpacked")
    return data


def times_ms(data: bytes) -> list[int]:
    """Rising times. Raises ValueError."""
    words = data.split()
    if not words or not all(word.isdigit() and len(word) < 12 for word in words):
        raise ValueError("not a Mahimahi link trace: one time in ms on each line")
    times = [int(word) for word in words]
    if times != sorted(times) or not 0 < times[-1] <= MOST_MS:
        raise ValueError("not a Mahimahi link trace: its times fall, end at 0 or are too large")
    return times


@dataclass(frozen=True, slots=True)
class Step:
    """From `at_ms` on."""

    at_ms: int
    rate: int  # bits per second


@dataclass(frozen=True, slots=True)
class Steps:
    """A trace as rates that a token bucket can follow; starts again after its period."""

    period_ms: int
    steps: tuple[Step, ...]


def in_steps(path: Path, step_ms: int) -> Steps:
    """Rates that hold for a step each. Raises ValueError, which names the file."""
    try:
        times = times_ms(unpacked(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return Steps(times[-1], _steps(times, step_ms))


def _steps(times: list[int], step_ms: int) -> tuple[Step, ...]:
    """The rate of each step, where it differs from the one before."""
    packets = [0] * (times[-1] // step_ms + 1)
    for at in times:
        packets[(at % times[-1]) // step_ms] += 1  # the last chance is the first of the next round
    steps: list[Step] = []
    before = -1
    for k, count in enumerate(packets):
        length_ms = min(step_ms, times[-1] - k * step_ms)
        if length_ms <= 0 or count == before:
            continue
        before = count
        # the bucket that the change fills is a packet of the step's already
        bits = max(count * PACKET_BYTES - BURST_BYTES, 0) * 8
        steps.append(Step(k * step_ms, max(LOWEST_RATE, bits * 1000 // length_ms)))
    return tuple(steps)
