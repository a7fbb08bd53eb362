# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Keep, for each epoch, the share of new connections that get learned minimum RTOs (floors) and the counts by
arm (group) of the connections that began in it. An epoch is a time in which this share does not change. The
BPF program has the counts of the last epochs only; those of older epochs are kept here, added up by share."""

from __future__ import annotations

from collections.abc import Iterator

from .arms import EPOCHS, Counts, added, minus

Element = list[Counts]  # by arm


class Epochs:
    """The counts of all epochs so far, and in each the share of new connections that get learned minimum RTOs
    (floors). An epoch is a time in which this share does not change. The BPF program counts epoch number n in
    element n modulo EPOCHS of a map, so it uses the elements again and again, and never sets them to 0. The
    argument `arms` of the methods has the map's counts."""

    def __init__(self) -> None:
        self.number = -1  # of the current epoch
        self.share = 0  # in the current epoch, in units of 1 / arms.WHOLE
        self._shares: dict[int, int] = {}  # by element: the share in the epoch whose counts it has
        self._before: dict[int, Element] = {}  # by element: its counts when that epoch began
        self._older: dict[int, Element] = {}  # counts of older epochs, by share

    def begin(self, share: int, arms: list[Element], had: Element | None = None) -> None:
        """Begin an epoch, a time in which the share `share` / arms.WHOLE of new connections gets learned
        minimum RTOs (floors). If it continues an epoch from before a restart, after which `arms` began at 0,
        `had` has the counts of the epoch until then."""
        self.number += 1
        self.share = share
        at = self.number % EPOCHS
        if at in self._shares:
            self.add_older(self._shares[at], self._had(at, arms))
        self._shares[at] = share
        self._before[at] = [minus(arm, had[i]) if had else dict(arm) for i, arm in enumerate(arms[at])]

    def add_older(self, share: int, had: Element) -> None:
        """Add the counts `had` of an earlier epoch, a time in which the share `share` / arms.WHOLE of new
        connections got learned minimum RTOs (floors)."""
        self._older[share] = together(self._older[share], had) if share in self._older else had

    def now(self, arms: list[Element]) -> Element:
        """Return the counts, by arm, of the connections that began in the current epoch."""
        return self._had(self.number % EPOCHS, arms)

    def by_share(self, arms: list[Element]) -> Iterator[tuple[int, Element]]:
        """Yield, for each epoch, the share of new connections that got learned minimum RTOs (floors), in
        units of 1 / arms.WHOLE, and the counts. Epochs whose counts the BPF program no longer has are added
        up by share."""
        yield from self.earlier(arms)
        yield self.share, self.now(arms)

    def earlier(self, arms: list[Element]) -> Iterator[tuple[int, Element]]:
        """Yield what by_share() yields, without the current epoch."""
        yield from self._older.items()
        for at, share in self._shares.items():
            if at != self.number % EPOCHS:
                yield share, self._had(at, arms)

    def _had(self, at: int, arms: list[Element]) -> Element:
        return [minus(now, before) for now, before in zip(arms[at], self._before[at], strict=True)]


def together(one: Element, other: Element) -> Element:
    return [added(pair) for pair in zip(one, other, strict=True)]
