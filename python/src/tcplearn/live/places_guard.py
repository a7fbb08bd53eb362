# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stop learned RTO floors for the new connections to single places (prefixes). A place has few requests, and
still fewer without floors. Its spurious retransmissions with learned floors are therefore compared with those
of the control group of all places and of its own connections without floors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from .arms import Counts, Place, minus, name_of
from .guard_state import MOST_PLACES, KeptStop
from .sequential import log_rate

TOLERATED = 0.0005  # more spurious retransmissions in a round than the place has under stock
ENOUGH = 20.0  # the e-value that stops a place
_POOLED_ROUNDS = 100  # of all stock connections, which the place's own are added to
_MOST = 1024  # places that the program can hold
_AGAIN_S, _AGAIN_MOST_S = 86400.0, 8 * 86400.0  # doubled each time: a place is seldom worth another trial


@dataclass
class Stopped:
    until_s: float
    times: int  # so far
    why: str


class PlacesGuard:
    def __init__(self) -> None:
        self._before: dict[bytes, Counts] = {}  # of ours, when a place was last judged
        self._stopped: dict[bytes, Stopped] = {}  # also those whose time is over

    def stopped(self, now_s: float) -> dict[bytes, Stopped]:
        return {key: place for key, place in self._stopped.items() if now_s < place.until_s}

    def kept(self, now_s: float) -> list[KeptStop]:
        """Return the stops of RTO floors at places (prefixes) to store over restarts. A stop that ended
        longer ago than the longest stop lasts is left out; the place's next stop then lasts a day, as a first
        one."""
        recent = [(key, of) for key, of in self._stopped.items() if now_s < of.until_s + _AGAIN_MOST_S]
        return [
            KeptStop(key=key.hex(), until_s=of.until_s, times=of.times, why=of.why)
            for key, of in sorted(recent, key=lambda one: -one[1].until_s)[:MOST_PLACES]
        ]

    def keep_on(self, now_s: float, stops: Sequence[KeptStop], judged: Mapping[bytes, Counts]) -> None:
        """Continue from `stops`, the result of kept() before a restart, and from `judged`, the results of
        judged(). If the clock was set back, no place (prefix) is stopped for longer than the longest stop."""
        for stop in stops[:_MOST]:
            until_s = min(stop.until_s, now_s + _AGAIN_MOST_S)
            self._stopped[bytes.fromhex(stop.key)] = Stopped(until_s, stop.times, stop.why)
        self._before = dict(judged)

    def judged(self, key: bytes) -> Counts | None:
        """Return the counts of a place's connections with RTO floors at the end of its last stop, or None."""
        return self._before.get(key)

    def look(self, now_s: float, places: Mapping[bytes, Place], pooled: float) -> Iterator[str]:
        """Find the places (prefixes) where learned RTO floors do harm, and yield a sentence for each; they
        get no more. `pooled` is the share of rounds with a spurious retransmission in the control group of
        all places."""
        held = self.stopped(now_s)
        for key, place in places.items():
            if key in held:
                self._before[key] = place.ours
                continue
            ours = minus(place.ours, self._before[key]) if key in self._before else place.ours
            if ours["spurious"] > 1 and len(held) < _MOST and self._is_harmed(ours, place.stock, pooled):
                held[key] = self._stop(now_s, key, ours)
                yield f"{name_of(key)} is stock: {held[key].why}"

    @staticmethod
    def _is_harmed(ours: Counts, stock: Counts, pooled: float) -> bool:
        spurious = _POOLED_ROUNDS * pooled + stock["spurious"]
        rate = TOLERATED + spurious / (_POOLED_ROUNDS + stock["rounds"])
        return log_rate(ours["spurious"], ours["rounds"] * rate) >= log(ENOUGH)

    def _stop(self, now_s: float, key: bytes, ours: Counts) -> Stopped:
        times = self._stopped[key].times + 1 if key in self._stopped else 1
        wait_s = min(_AGAIN_S * 2 ** (times - 1), _AGAIN_MOST_S)
        why = (
            f"{ours['spurious']} spurious retransmissions in {ours['rounds']} rounds; "
            f"it tries again after {wait_s / 3600:.3g} h"
        )
        self._stopped[key] = Stopped(now_s + wait_s, times, why)
        return self._stopped[key]
