# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Track which RTTs of a destination and of its address prefix (/24 or /48) are known before each
handshake."""

from dataclasses import dataclass

import numpy as np

from tcplearn.learn.dataset import Floats, Ints
from tcplearn.learn.rtt.data import UNKNOWN, Handshakes

#: What is known, the best first: RTTs of the destination, RTTs of its prefix, the number of hops, nothing.
PLACE, PREFIX, HOPS, NOTHING = range(4)
KNOWN = ("place", "prefix", "hops", "nothing")
_FALL_SHIFT = 3  # tcp_metrics.c of Linux: a high RTT falls by 1/8 of the difference to a lower sample


@dataclass(slots=True)
class Place:
    """The stored RTTs of a destination or prefix: the last RTT, and a high RTT that rises at once with a
    larger RTT and falls slowly. `time_us` is the time of the last RTT."""

    last_us: int = 0
    high_us: int = 0
    time_us: int = 0

    def take(self, rtt_us: int, time_us: int) -> None:
        if rtt_us >= self.high_us:
            self.high_us = rtt_us
        else:
            self.high_us -= (self.high_us - rtt_us) >> _FALL_SHIFT
        self.last_us, self.time_us = rtt_us, time_us


@dataclass(frozen=True, slots=True)
class Known:
    """The RTTs known before each handshake, of its destination (`place_...`) and of the destination's address
    prefix, and the number of hops. An RTT of 0 means that none is known. A prefix has the RTTs of all
    destinations in it."""

    place_last_us: Floats
    place_high_us: Floats
    place_age_us: Floats
    prefix_last_us: Floats
    prefix_high_us: Floats
    hops: Ints
    ttl: Ints

    def best(self, *, hops: bool = True) -> Ints:
        """Return the best knowledge about the destination of each handshake, as an index into KNOWN. The
        number of hops is ignored if `hops` is false."""
        low = np.where((self.hops != UNKNOWN) & hops, HOPS, NOTHING)
        return np.where(self.place_last_us > 0, PLACE, np.where(self.prefix_last_us > 0, PREFIX, low))


def replay(rows: Handshakes, max_age_us: int) -> Known:
    """Return what is known before each handshake of `rows`. RTTs older than `max_age_us` are not used."""
    places: dict[int, Place] = {}
    prefixes: dict[int, Place] = {}
    found = np.zeros((5, len(rows)))
    for k in range(len(rows)):
        time_us, rtt_us = int(rows.time_us[k]), int(rows.rtt_us[k])
        place = places.setdefault(int(rows.destination[k]), Place())
        prefix = prefixes.setdefault(int(rows.prefix[k]), Place())
        if place.last_us and time_us - place.time_us <= max_age_us:
            found[:3, k] = place.last_us, place.high_us, time_us - place.time_us
        if prefix.last_us and time_us - prefix.time_us <= max_age_us:
            found[3:, k] = prefix.last_us, prefix.high_us
        place.take(rtt_us, time_us)
        prefix.take(rtt_us, time_us)
    return Known(found[0], found[1], found[2], found[3], found[4], rows.hops, rows.ttl)
