# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Select the destination prefixes whose counts are stored over restarts of `tcplearn live`: those with
connections that had learned minimum RTOs. If there are too many, those with the most spurious retransmissions
come first, and then those with the most round trips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .arms import Counts, Place
from .guard_state import MOST_PLACES, KeptPlace
from .places_guard import PlacesGuard

ByPlace = dict[bytes, Counts]


def kept_places(
    places: Mapping[bytes, Place],
    before: Mapping[bytes, Counts],
    before_ramp: Mapping[bytes, Counts],
    guard: PlacesGuard,
) -> list[KeptPlace]:
    """Return the destination prefixes (places) to store. `places` has the counts of all their connections.
    The other arguments have counts of connections with learned minimum RTOs: `before` when the current epoch
    began (in an epoch, the share of new connections with learned minimum RTOs is constant), `before_ramp`
    when this share last began to rise in steps, and `guard` those that PlacesGuard.judged() returns: they no
    longer count against a prefix, mostly because its last stop (a time without learned minimum RTOs) came
    after them."""
    found = [(key, place) for key, place in places.items() if place.ours["rounds"] or guard.judged(key)]
    found.sort(key=lambda one: (-one[1].ours["spurious"], -one[1].ours["rounds"]))
    return [
        KeptPlace(
            key=key.hex(),
            stock=place.stock,
            ours=place.ours,
            epoch=before.get(key),
            before_ramp=before_ramp.get(key),
            judged=guard.judged(key),
        )
        for key, place in found[:MOST_PLACES]
    ]


def places_of(kept: Sequence[KeptPlace]) -> tuple[dict[bytes, Place], ByPlace, ByPlace, ByPlace]:
    """Return four dicts by destination prefix from the stored prefixes `kept`. The first has the counts of
    all connections. The others have counts of the connections with learned minimum RTOs: when the current
    epoch began (in an epoch, the share of new connections with learned minimum RTOs is constant); when this
    share last began to rise in steps; and those that PlacesGuard.judged() returns: they no longer count
    against a prefix, mostly because its last stop (a time without learned minimum RTOs) came after them."""
    by_key = [(bytes.fromhex(place.key), place) for place in kept]
    had = {key: Place(place.stock, place.ours) for key, place in by_key}
    before = {key: place.epoch for key, place in by_key if place.epoch}
    judged = {key: place.judged for key, place in by_key if place.judged}
    before_ramp = {key: place.before_ramp for key, place in by_key if place.before_ramp}
    return had, before, before_ramp, judged
