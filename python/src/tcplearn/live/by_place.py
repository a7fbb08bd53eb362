# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Estimate for single destination prefixes (places) what learned minimum RTOs (floors) gain and cost. The BPF
program has no sums of squares by place, so how much the connections of a place differ is taken from those to
all places. A lossy round is a round trip in which a loss needed a retransmission by timer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .arms import UNIT_US, Counts, Place, added, minus, name_of
from .effect import Effect, Estimate, Mean, effect_between, mean_of, spurious_in

#: A destination prefix (place) is reported only if it has this many rounds (round trips) with learned
#: minimum RTOs, or enough rounds with a loss. If none of so many rounds has a spurious retransmission, a rate
#: of 20 in 1,000 is excluded.
LEAST_ROUNDS = 300
_SHOWN = 200  # the most destination prefixes that are compared: those with the most rounds


@dataclass(frozen=True)
class AtPlace:
    """The estimates of what learned minimum RTOs (floors) gain and cost at one destination prefix."""

    place: str  # the prefix
    rounds: int  # with learned minimum RTOs
    effect: Effect | None  # None: too few lossy rounds
    control: Estimate | None  # rounds with a spurious retransmission in 1,000; None: no rounds
    ours: Estimate | None


def since(before: Mapping[bytes, Place], places: Mapping[bytes, Place]) -> dict[bytes, Place]:
    """Return the counts by destination prefix `places` less those in `before`. If a count would be negative,
    the BPF program has begun anew to count the prefix, and nothing is subtracted."""
    out = {}
    for key, now in places.items():
        had = before.get(key)
        if had and _goes_on(had, now):
            now = replace(now, stock=minus(now.stock, had.stock), ours=minus(now.ours, had.ours))
        out[key] = now
    return out


def _goes_on(had: Place, now: Place) -> bool:
    """Return whether the BPF program has counted a prefix without a break since it had the counts `had`."""
    return all(now.stock[n] >= had.stock[n] and now.ours[n] >= had.ours[n] for n in now.ours)


def renewed(
    before: Mapping[bytes, Place], places: Mapping[bytes, Place], stopped: Iterable[bytes]
) -> dict[bytes, Place]:
    """Return `before`, the counts at which the comparison of connections with and without learned minimum
    RTOs (floors) began. For the destination prefixes `stopped`, to which new connections get no floors for a
    time, it gets the counts in `places`: their comparison begins anew when that time ends."""
    return {**before, **{key: places[key] for key in stopped if key in places}}


def compared(
    places: Mapping[bytes, Place], before: Mapping[bytes, Place] | None = None
) -> list[dict[str, Any]]:
    """Return, for JSON, the counts in `places` less those in `before`, for the destination prefixes with the
    most round trips: of connections without learned minimum RTOs (floors) ("stock") and with them
    ("ours")."""
    had = before or {}

    def rounds(key: bytes) -> int:
        goes_on = key in had and _goes_on(had[key], places[key])
        return places[key].rounds - (had[key].rounds if goes_on else 0)

    shown = sorted(places, key=lambda key: -rounds(key))[:_SHOWN]  # few of some thousands
    found = since(had, {key: places[key] for key in shown})
    return [{"place": name_of(key), "stock": of.stock, "ours": of.ours} for key, of in found.items()]


def by_place(sessions: Sequence[Mapping[str, Any]]) -> list[AtPlace]:
    """Return the estimates for each destination prefix with at least LEAST_ROUNDS round trips with learned
    minimum RTOs (floors), or with enough lossy rounds (round trips in which a loss needed a retransmission by
    timer) both with and without floors. The one with the most round trips with floors is the first. Each of
    `sessions`, BPF programs with their counts, has in "compared" the counts of a time in which the share of
    new connections with floors did not change."""
    scatter = {
        arm: _Scatter.of(one[arm] for s in sessions for one in s["arms"]) for arm in ("control", "ours")
    }
    sides: dict[str, list[Mapping[str, Counts]]] = {}
    for session in sessions:
        for one in session["compared"]:
            sides.setdefault(one["place"], []).append(one)
    found = [*_estimates(sides, scatter["control"], scatter["ours"])]
    return sorted(found, key=lambda one: -one.rounds)


def _estimates(
    sides: Mapping[str, Sequence[Mapping[str, Counts]]], control: _Scatter, ours: _Scatter
) -> Iterator[AtPlace]:
    for place, of in sides.items():
        means = [
            (control.mean(one["stock"]), ours.mean(one["ours"]))
            for one in of
            if one["stock"]["needed"] and one["ours"]["needed"]
        ]
        effect, rounds = effect_between(means), sum(one["ours"]["rounds"] for one in of)
        if effect or rounds >= LEAST_ROUNDS:
            stock = control.spurious([one["stock"] for one in of])
            yield AtPlace(place, rounds, effect, stock, ours.spurious([one["ours"] for one in of]))


@dataclass(frozen=True)
class _Scatter:
    """Says how much the connections of a group differ from each other, over all destination prefixes."""

    # the variance of the mean time of rounds with a loss, divided by the square of this mean, and multiplied
    # by the number of these rounds
    relative: float
    # how many rounds with a spurious retransmission a connection with such a round has: the mean over these
    # rounds
    together: float

    @staticmethod
    def of(arms: Iterable[Mapping[str, int]]) -> _Scatter:
        whole = added(arms)
        mean = mean_of(whole) if whole["needed"] else None
        relative = mean.variance * mean.rounds / mean.ms**2 if mean and mean.ms else 0.0
        together = whole["spurious_square"] / whole["spurious"] if whole["spurious"] else 1.0
        return _Scatter(relative, together)

    def mean(self, side: Mapping[str, int]) -> Mean:
        ms = side["wait"] * UNIT_US / 1000 / side["needed"]
        return Mean(ms, self.relative * ms**2 / side["needed"], side["needed"])

    def spurious(self, sides: Sequence[Mapping[str, int]]) -> Estimate | None:
        rounds, events = (sum(side[name] for side in sides) for name in ("rounds", "spurious"))
        return spurious_in(rounds, events, round(self.together * events))
