# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stop learned minimum RTOs (floors) for new connections to single destination prefixes where they do harm: a
stop is a time in which these get none, but open ones keep theirs. A prefix has few requests, and even fewer
on connections without floors. Its rate of spurious retransmissions with floors is therefore compared with
that of two groups taken together: the control group of all prefixes, and its own connections without floors.
A path that delays all packets for a moment makes all its connections retransmit spuriously at once, with
floors or without. So if connections without floors had a spurious retransmission too between two checks, all
those of the connections with floors in this time count as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log

from tcplearn.output.numbers import counted

from .arms import Counts, Place, minus, name_of
from .guard_state import MOST_PLACES, KeptPlace, KeptStop
from .sequential import log_rate

TOLERATED = 0.0005  # accepted excess of spurious retransmissions in a round over those without floors
ENOUGH = 20.0  # with this e-value (evidence of harm) or more, a prefix is stopped by its own counts alone
ODDS = 1 / 3  # with these posterior odds of harm or more, a prefix is stopped too
_MOST_SHARE = (
    0.2  # upper limit of the prior probability of harm; if more prefixes are harmful, floors do general harm
)
_JUDGED_ROUNDS = 30  # a prefix with this many rounds with learned floors counts fully as one that was judged
_POOLED_ROUNDS = 100  # the control group counts as this many rounds of a prefix without learned floors
_MOST = 1024  # the most prefixes that the BPF program can exclude from learned floors
_MOST_UNSURE = _MOST // 2  # if so many are stopped, no more are by an e-value below `ENOUGH`
_MOMENT_S = 15.0  # the longest time between two checks that counts as one moment
_AGAIN_S, _AGAIN_MOST_S = 86400.0, 8 * 86400.0  # first stop of a prefix, doubled each time; the longest


@dataclass
class Stopped:
    """A time in which new connections to one destination prefix get no learned minimum RTOs (floors)."""

    until_s: float
    times: int  # the number of the prefix's stops so far
    why: str
    is_sure: bool  # stopped by its own counts alone


class PlacesGuard:
    """Decides to which destination prefixes new connections get no learned minimum RTOs (floors), and until
    when."""

    def __init__(self) -> None:
        # what judged() returns, by prefix
        self._before: dict[bytes, Counts] = {}
        self._last: dict[bytes, tuple[int, int]] = {}  # spurious with floors and without, at the last check
        self._looked_s: float | None = None  # when the last check was; after a restart, long ago
        self._stopped: dict[bytes, Stopped] = {}  # by prefix: the last stop, which may be over

    def stopped(self, now_s: float) -> dict[bytes, Stopped]:
        return {key: place for key, place in self._stopped.items() if now_s < place.until_s}

    def kept(self, now_s: float) -> list[KeptStop]:
        """Return the stops of destination prefixes (times without learned minimum RTOs) that are stored over
        restarts at the time `now_s`. A stop that ended more than eight days ago, the length of the longest
        stop, is left out. The next stop of its prefix then lasts one day, like a first one."""
        recent = [(key, of) for key, of in self._stopped.items() if now_s < of.until_s + _AGAIN_MOST_S]
        return [
            KeptStop(key=key.hex(), **vars(of))
            for key, of in sorted(recent, key=lambda one: -one[1].until_s)[:MOST_PLACES]
        ]

    def keep_on(self, now_s: float, stops: Sequence[KeptStop], judged: Mapping[bytes, Counts]) -> None:
        """After a restart, continue the stops of destination prefixes (times without learned minimum RTOs) in
        `stops`, a result of kept(). `judged` has the results of judged() by prefix. Even if the clock was set
        back, no stop lasts longer from now on than eight days, the longest stop."""
        for stop in stops[:_MOST]:
            until_s = min(stop.until_s, now_s + _AGAIN_MOST_S)
            self._stopped[bytes.fromhex(stop.key)] = Stopped(until_s, stop.times, stop.why, stop.is_sure)
        self._before = dict(judged)
        self._looked_s = -inf

    def kept_places(
        self,
        places: Mapping[bytes, Place],
        before: Mapping[bytes, Counts],
        before_ramp: Mapping[bytes, Counts],
    ) -> list[KeptPlace]:
        """Return the destination prefixes whose counts are stored, so that the guard can continue from them
        after a restart: of those with connections that had learned minimum RTOs (floors), the ones with the
        most spurious retransmissions with floors and, if these are equal, with the most round trips with
        floors. `places` has the counts of all connections; `before` and `before_ramp` those with floors when
        the share of new connections with floors last changed, and when it last began to rise in steps."""
        found = [(key, of) for key, of in places.items() if of.ours["rounds"] or self.judged(key)]
        found.sort(key=lambda one: (-one[1].ours["spurious"], -one[1].ours["rounds"]))
        return [
            KeptPlace(
                key=key.hex(),
                stock=of.stock,
                ours=of.ours,
                epoch=before.get(key),
                before_ramp=before_ramp.get(key),
                judged=self.judged(key),
            )
            for key, of in found[:MOST_PLACES]
        ]

    def judged(self, key: bytes) -> Counts | None:
        """Return the part of the counts of connections with learned minimum RTOs (floors) to the destination
        prefix `key` that is left out when it is decided whether floors do harm there, or None. The part is
        what was counted up to the end of the last time without floors, and later spurious retransmissions
        that count as part of another one."""
        return self._before.get(key)

    def look(self, now_s: float, places: Mapping[bytes, Place], pooled: float) -> Iterator[str]:
        """Find the destination prefixes in `places` where learned minimum RTOs do harm, and yield a sentence
        for each. New connections to them get no learned minimum RTO for a time. `pooled` is the share of
        round trips with a spurious retransmission in the control group of all prefixes."""
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
        """Return how many spurious retransmissions the connections with learned minimum RTOs to the prefix
        `key` have had since the last check, if that check was at most 15 s ago or this is the first one, and
        if the prefix's connections without learned minimum RTOs had some too; otherwise return 0."""
        if self._looked_s is not None and not 0 <= now_s - self._looked_s <= _MOMENT_S:
            return 0
        ours, stock = self._last.get(key, (0, 0))
        return place.ours["spurious"] - ours if place.stock["spurious"] > stock else 0

    def _since_stop(self, key: bytes, ours: Counts) -> Counts:
        """Return `ours`, the counts of connections with learned minimum RTOs (floors) to the destination
        prefix `key`, less the part that judged() returns, which is mainly that up to the last time without
        floors. If a count would be negative, the BPF program has begun anew to count the prefix, and nothing
        is subtracted."""
        before = self._before.get(key)
        if not before:
            return ours
        if any(ours[name] < had for name, had in before.items()):
            del self._before[key]
            return ours
        return minus(ours, before)

    def is_general(self, now_s: float, places: Mapping[bytes, Place]) -> bool:
        """Return whether learned minimum RTOs (floors) do harm in general and not only at single destination
        prefixes of `places`: whether the prefixes at which their own counts alone have stopped floors are at
        least two, and more than a fifth of those with rounds enough to be judged."""
        sure, judged = _sure_and_judged(places, self.stopped(now_s))
        return sure > 1 and sure > _MOST_SHARE * judged

    @staticmethod
    def _enough(places: Mapping[bytes, Place], held: Mapping[bytes, Stopped]) -> float:
        """Return the e-value (evidence of harm) from which learned minimum RTOs (floors) are stopped for a
        destination prefix. It is `ENOUGH`, or less if the posterior odds of harm, by Bayes' rule, reach
        `ODDS` sooner. The prior probability of harm is about the share of the prefixes `places` at which
        floors are stopped with an e-value of at least `ENOUGH`, at most `_MOST_SHARE`. `held` has the
        prefixes at which floors are stopped."""
        sure, judged = _sure_and_judged(places, held)
        share = min((sure + 0.25) / (judged + 10), _MOST_SHARE)
        return min(ENOUGH, ODDS * (1 - share) / share)

    @staticmethod
    def _evidence(ours: Counts, stock: Counts, pooled: float) -> float:
        """Return the logarithm of the e-value for harm by learned minimum RTOs (floors) at a destination
        prefix, from its counts with floors (`ours`) and without (`stock`), and from `pooled`, the share of
        round trips with a spurious retransmission in the control group of all prefixes."""
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


def _sure_and_judged(places: Mapping[bytes, Place], held: Mapping[bytes, Stopped]) -> tuple[int, float]:
    """Return at how many of the destination prefixes `places` learned minimum RTOs (floors) are stopped by
    the prefix's own counts alone, and how many prefixes have rounds enough to be judged; a prefix with fewer
    rounds counts as a part of one. `held` has the prefixes at which floors are stopped."""
    sure = sum(key in places for key, stop in held.items() if stop.is_sure)
    return sure, sum(min(1.0, place.ours["rounds"] / _JUDGED_ROUNDS) for place in places.values())


ByPlace = dict[bytes, Counts]


def places_of(kept: Sequence[KeptPlace]) -> tuple[dict[bytes, Place], ByPlace, ByPlace, ByPlace]:
    """Return, by destination prefix, what kept_places() stored: the counts of all connections; those with
    learned minimum RTOs (floors) when the share of new connections with floors last changed, and when it last
    began to rise in steps; and the results of judged()."""
    by_key = {bytes.fromhex(place.key): place for place in kept}
    had = {key: Place(place.stock, place.ours) for key, place in by_key.items()}
    before = {key: place.epoch for key, place in by_key.items() if place.epoch}
    before_ramp = {key: place.before_ramp for key, place in by_key.items() if place.before_ramp}
    judged = {key: place.judged for key, place in by_key.items() if place.judged}
    return had, before, before_ramp, judged
