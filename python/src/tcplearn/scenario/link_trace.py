# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Mahimahi link traces: lines of times in ms, at each of which 1,500 bytes may leave; then from the start."""

from __future__ import annotations

import gzip
from pathlib import Path

PACKET_BYTES = 1500
#: Eleven days, and far below what a 32-bit count of milliseconds holds.
MOST_MS = 1_000_000_000


def unpacked(path: Path) -> bytes:
    """The trace as text, gunzipped where its name says so. Raises ValueError."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError) as error:
        raise ValueError((getattr(error, "strerror", None) or str(error)).lower()) from error


def times_ms(data: bytes) -> list[int]:
    """Rising times. Raises ValueError."""
    words = data.split()
    if not words or not all(word.isdigit() and len(word) < 12 for word in words):
        raise ValueError("not a Mahimahi link trace: one time in ms on each line")
    times = [int(word) for word in words]
    if times != sorted(times) or not 0 < times[-1] <= MOST_MS:
        raise ValueError("not a Mahimahi link trace: its times fall, end at 0 or are too large")
    return times
