# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stop learned RTO floors for the new connections to single destination prefixes. A prefix has few requests,
and still fewer without floors. Its spurious retransmissions with learned floors are therefore compared with
the rate of the control group of all prefixes and of its own connections without floors together.

A path that holds up everything for a moment makes all its connections retransmit spuriously at once, with
floors or without. So if connections without floors had a spurious retransmission in the time between two
looks too, those of the others in this time count as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log

from tcplearn.output.numbers import counted

from .arms import Counts, Place, minus, name_of
from .guard_state import MOST_PLACES, KeptStop
from .sequential import log_rate

TOLERATED = 0.0005  # more spurious retransmissions in a round than the place has under stock
ENOUGH = 20.0  # the e-value from which a place is stopped by its own counts alone
ODDS = 1 / 3  # the posterior odds of harm from which a place is stopped too
_MOST_SHARE = 0.2  # upper limit of the prior probability of harm
_JUDGED_ROUNDS = 30  # with learned floors, after which a place counts fully among those that may be harmed
_POOLED_ROUNDS = 100  # of all stock connections, which the place's own are added to
_MOST = 1024  # places that the program can hold
_MOST_UNSURE = _MOST // 2  # places that may be stopped without being sure of harm
_MOMENT_S = 15.0  # the longest time between two looks that counts as one moment
_AGAIN_S, _AGAIN_MOST_S = 86400.0, 8 * 86400.0  # doubled each time: a place is seldom worth another trial


@dataclass
class Stopped:
    until_s: float
    times: int  # so far
    why: str
    is_sure: bool  # stopped by its own counts alone


class PlacesGuard:
    def __init__(self) -> None:
        # of ours, when a place was last judged, and what does not count since then
        self._before: dict[bytes, Counts] = {}
        self._last: dict[bytes, tuple[int, int]] = {}  # spurious of ours and of stock at the last look
        self._looked_s: float | None = None  # when that was; after a restart, long ago
        self._stopped: dict[bytes, Stopped] = {}  # also those whose time is over

    def stopped(self, now_s: float) -> dict[bytes, Stopped]:
        return {key: place for key, place in self._stopped.items() if now_s < place.until_s}

    def kept(self, now_s: float) -> list[KeptStop]:
        """Return the stops (times without RTO floors) of destination prefixes, to store over restarts. A stop
        that ended longer ago than the longest stop lasts is left out; the next stop of its prefix then lasts
        a day, as a first one does."""
        recent = [(key, of) for key, of in self._stopped.items() if now_s < of.until_s + _AGAIN_MOST_S]
        return [
            KeptStop(key=key.hex(), until_s=of.until_s, times=of.times, why=of.why, is_sure=of.is_sure)
            for key, of in sorted(recent, key=lambda one: -one[1].until_s)[:MOST_PLACES]
        ]

    def keep_on(self, now_s: float, stops: Sequence[KeptStop], judged: Mapping[bytes, Counts]) -> None:
        """After a restart, continue the stops (times without RTO floors) of destination prefixes in `stops`,
        a result of kept(). `judged` has the results of judged() by prefix. Even if the clock was set back, no
        stop lasts longer from now on than the longest stop that the guard sets."""
        for stop in stops[:_MOST]:
            until_s = min(stop.until_s, now_s + _AGAIN_MOST_S)
            self._stopped[bytes.fromhex(stop.key)] = Stopped(until_s, stop.times, stop.why, stop.is_sure)
        self._before = dict(judged)
        self._looked_s = -inf

    def judged(self, key: bytes) -> Counts | None:
        """Return what is left out of the counts of connections with RTO floors to the prefix `key`: what they
        were at the end of the prefix's last stop (a time in which new connections to the prefix get no
        floors, but open ones keep theirs), and the events since then that count as part of another one.
        Return None if nothing is left out."""
        return self._before.get(key)

    def look(self, now_s: float, places: Mapping[bytes, Place], pooled: float) -> Iterator[str]:
        """Find the destination prefixes in `places` where learned RTO floors do harm, and yield a sentence
        for each; they get no floors for a time. `pooled` is the share of rounds (round trips) with a spurious
        retransmission in the control group of all prefixes."""
        held = self.stopped(now_s)
        enough = self._enough(places, held)
        for key, place in places.items():
            at_once = self._at_once(now_s, key, place)
            if key in held:
                self._before[key] = dict(place.ours)
                continue
            if at_once > 1:
                before = self._before.get(key) or dict.fromkeys(place.ours, 0)
                self._before[key] = {**before, "spurious": before["spurious"] + at_once - 1}
            ours = self._since_stop(key, place.ours)
            if not ours["spurious"]:
                continue
            evidence = self._evidence(ours, place.stock, pooled)
            is_sure = evidence >= log(ENOUGH)
            if evidence >= log(enough) and len(held) < (_MOST if is_sure else _MOST_UNSURE):
                held[key] = self._stop(now_s, key, ours, is_sure)
                yield f"{name_of(key)} gets no learned floors: {held[key].why}"
        self._last = {key: (of.ours["spurious"], of.stock["spurious"]) for key, of in places.items()}
        self._looked_s = now_s

    def _at_once(self, now_s: float, key: bytes, place: Place) -> int:
        """Return the number of spurious retransmissions that connections with floors had since the last look,
        if this was a moment ago and those without floors had some too; otherwise 0."""
        if self._looked_s is not None and not 0 <= now_s - self._looked_s <= _MOMENT_S:
            return 0
        ours, stock = self._last.get(key, (0, 0))
        return place.ours["spurious"] - ours if place.stock["spurious"] > stock else 0

    def _since_stop(self, key: bytes, ours: Counts) -> Counts:
        """Return the counts `ours` of a prefix less what judged() leaves out of them. If the BPF program has
        forgotten the prefix since then, its counts began anew, and nothing is subtracted."""
        before = self._before.get(key)
        if not before:
            return ours
        if any(ours[name] < had for name, had in before.items()):
            del self._before[key]
            return ours
        return minus(ours, before)

    @staticmethod
    def _enough(places: Mapping[bytes, Place], held: Mapping[bytes, Stopped]) -> float:
        """Return the e-value (evidence of harm) from which the guard stops RTO floors for a prefix: ENOUGH,
        or less if the odds of harm then reach ODDS by Bayes' rule. The prior probability of harm is the share
        of prefixes that were stopped by their own counts alone, that is, with an e-value of ENOUGH."""
        sure = sum(key in places for key, stop in held.items() if stop.is_sure)
        judged = sum(min(1.0, place.ours["rounds"] / _JUDGED_ROUNDS) for place in places.values())
        share = min((sure + 0.25) / (judged + 10), _MOST_SHARE)
        return min(ENOUGH, ODDS * (1 - share) / share)

    @staticmethod
    def _evidence(ours: Counts, stock: Counts, pooled: float) -> float:
        """Return the logarithm of the e-value for harm at a destination prefix, from its counts with RTO
        floors (`ours`) and without (`stock`), and the rate `pooled` of spurious retransmissions in the whole
        control group."""
        spurious = _POOLED_ROUNDS * pooled + stock["spurious"]
        rate = TOLERATED + spurious / (_POOLED_ROUNDS + stock["rounds"])
        return log_rate(ours["spurious"], ours["rounds"] * rate)

    def _stop(self, now_s: float, key: bytes, ours: Counts, is_sure: bool) -> Stopped:
        times = self._stopped[key].times + 1 if key in self._stopped else 1
        wait_s = min(_AGAIN_S * 2 ** (times - 1), _AGAIN_MOST_S)
        why = (
            f"{counted(ours['spurious'], 'spurious retransmission')} in {ours['rounds']} rounds; "
            f"the guard tries again after {wait_s / 3600:.3g} h"
        )
        self._stopped[key] = Stopped(now_s + wait_s, times, why, is_sure)
        return self._stopped[key]
