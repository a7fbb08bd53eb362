# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which places are kept over restarts: those with spurious retransmissions under learned floors, and those
that are stock. What the others had tells nothing against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .arms import Counts, Place
from .guard_state import MOST_PLACES, KeptPlace
from .places_guard import PlacesGuard

ByPlace = dict[bytes, Counts]


def kept_places(
    places: Mapping[bytes, Place], before: Mapping[bytes, Counts], guard: PlacesGuard
) -> list[KeptPlace]:
    """`places`: what was counted there; `before`: what ours had there when the epoch began."""
    found = [(key, place) for key, place in places.items() if place.ours["spurious"] or guard.judged(key)]
    found.sort(key=lambda one: -one[1].ours["spurious"])
    return [
        KeptPlace(
            key=key.hex(), stock=place.stock, ours=place.ours, epoch=before.get(key), judged=guard.judged(key)
        )
        for key, place in found[:MOST_PLACES]
    ]


def places_of(kept: Sequence[KeptPlace]) -> tuple[dict[bytes, Place], ByPlace, ByPlace]:
    """What they had, what ours had when the epoch began, and when they were last judged."""
    by_key = [(bytes.fromhex(place.key), place) for place in kept]
    had = {key: Place(place.stock, place.ours) for key, place in by_key}
    before = {key: place.epoch for key, place in by_key if place.epoch}
    judged = {key: place.judged for key, place in by_key if place.judged}
    return had, before, judged
