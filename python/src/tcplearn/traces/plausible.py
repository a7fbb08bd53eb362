# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Check whether numbers look like round-trip times in the given unit, or rather in another unit."""

import numpy as np
import numpy.typing as npt

_LEAST_US, _MOST_US = 50, 60_000_000  # bounds of a network's median round trip
_LOOKED_AT = 10_000  # first samples whose median is checked
_LARGER = {"ms": "s", "s": "s"}
_SMALLER = {"ns": "ns", "us": "ns", "ms": "us", "s": "ms"}


class Plausible:
    """Checks whether the first RTT samples of a trace have a plausible size in the unit given or assumed."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._parts: list[npt.NDArray[np.int64]] = []
        self._count = 0

    def add(self, rtt_us: npt.NDArray[np.int64]) -> None:
        if self._count < _LOOKED_AT:
            part = rtt_us[: _LOOKED_AT - self._count].copy()
            self._parts.append(part)
            self._count += len(part)

    def warnings(self) -> list[str]:
        """Return a line if the median round trip is implausible."""
        if not self._count:
            return []
        median_us = float(np.median(np.concatenate(self._parts)))
        if _LEAST_US <= median_us <= _MOST_US:
            return []
        long = median_us > _MOST_US
        if not long and self._unit in ("us", "ns"):
            return []  # such short round trips occur within a rack
        unit = (_SMALLER if long else _LARGER)[self._unit]
        value = f"{median_us / 1e6:g} s" if long else f"{median_us:g} us"
        advice = f"are these {unit}? give --unit {unit}" if unit != self._unit else "is the unit right?"
        return [f"half of the round trips are {'above' if long else 'below'} {value}: {advice}"]
