# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Select the places (prefixes) whose counts are stored over restarts: those with spurious retransmissions
under learned RTO floors, and those to which the guard gives no floors. Others are no evidence against
floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .arms import Counts, Place
from .guard_state import MOST_PLACES, KeptPlace
from .places_guard import PlacesGuard

ByPlace = dict[bytes, Counts]


def kept_places(
    places: Mapping[bytes, Place], before: Mapping[bytes, Counts], guard: PlacesGuard
) -> list[KeptPlace]:
    """Return the places (prefixes) to store, with their counts. `places` has the counts of each place,
    `before` those of its connections with RTO floors at the beginning of the epoch, and `guard` the latter
    counts at the end of the place's last stop (a time without floors)."""
    found = [(key, place) for key, place in places.items() if place.ours["spurious"] or guard.judged(key)]
    found.sort(key=lambda one: -one[1].ours["spurious"])
    return [
        KeptPlace(
            key=key.hex(), stock=place.stock, ours=place.ours, epoch=before.get(key), judged=guard.judged(key)
        )
        for key, place in found[:MOST_PLACES]
    ]


def places_of(kept: Sequence[KeptPlace]) -> tuple[dict[bytes, Place], ByPlace, ByPlace]:
    """Return, by place (prefix), the counts of all connections; those of connections with RTO floors when the
    epoch began; and those of connections with floors at the end of the last stop (a time without floors)."""
    by_key = [(bytes.fromhex(place.key), place) for place in kept]
    had = {key: Place(place.stock, place.ours) for key, place in by_key}
    before = {key: place.epoch for key, place in by_key if place.epoch}
    judged = {key: place.judged for key, place in by_key if place.judged}
    return had, before, judged
