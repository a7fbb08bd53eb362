# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reads Mahimahi link traces: times in ms at which a packet of 1,500 bytes may leave the link, repeated."""

import gzip
import io
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tcplearn import documents

PACKET_BYTES = 1500
MOST_MS = 1_000_000_000  # eleven days; a 32-bit count has room for more
MOST_BYTES = 64 << 20  # an hour at 28 Mbit/s

BURST_BYTES = 1540  # a packet with its Ethernet header; each change of rate refills the token bucket
LOWEST_RATE = 8_000  # least bit/s of a token bucket: in an outage about one packet a second passes


def unpacked(path: Path) -> bytes:
    """Return the content of the trace file `path`, decompressed if its name ends in .gz. Raise ValueError."""
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
    """Return the times in ms in the trace `data`. They must not decrease. Raise ValueError if `data` is no
    valid trace."""
    words = data.split()
    if not words or not all(word.isdigit() and len(word) < 12 for word in words):
        raise ValueError("not a Mahimahi link trace: one time in ms on each line")
    times = [int(word) for word in words]
    if times != sorted(times) or not 0 < times[-1] <= MOST_MS:
        raise ValueError("not a Mahimahi link trace: its times fall, end at 0 or are too large")
    return times


@dataclass(frozen=True, slots=True)
class Step:
    at_ms: int
    rate: int  # bits per second


@dataclass(frozen=True, slots=True)
class Steps:
    period_ms: int  # the steps repeat after this
    steps: tuple[Step, ...]


def in_steps(path: Path, step_ms: int) -> Steps:
    """Return the link trace in the file `path` as mean rates over steps of `step_ms`. Raise ValueError."""
    try:
        times = times_ms(unpacked(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return Steps(times[-1], _steps(times, step_ms))


def _steps(times: list[int], step_ms: int) -> tuple[Step, ...]:
    end_ms = times[-1]
    packets = Counter((at % end_ms) // step_ms for at in times)  # the last time is 0 of the next period
    steps: list[Step] = []
    before = -1
    for at_ms in range(0, end_ms, step_ms):
        count = packets[at_ms // step_ms]
        if count != before:
            before = count
            # the refilled bucket already sends one packet
            bits = max(count * PACKET_BYTES - BURST_BYTES, 0) * 8
            rate = bits * 1000 // min(step_ms, end_ms - at_ms)
            steps.append(Step(at_ms, max(LOWEST_RATE, rate)))
    return tuple(steps)
