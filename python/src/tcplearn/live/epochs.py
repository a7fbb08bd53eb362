# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which share was in force when, and what the connections that began then have had. The program has an
element for each of the last epochs; what belongs to older ones is kept here."""

from __future__ import annotations

from collections.abc import Iterator

from .arms import ARMS, EPOCHS, Counts, added, minus, none

Element = list[Counts]  # by arm


class Epochs:
    def __init__(self) -> None:
        self.number = -1  # of this epoch
        self.share = 0  # in this epoch, of arms.WHOLE
        self._shares: dict[int, int] = {}  # of the epoch that each element is used for
        self._before: dict[int, Element] = {}  # what each element had when that epoch began
        self._older: dict[int, Element] = {}  # by share

    def begin(self, share: int, arms: list[Element]) -> None:
        """Begin an epoch with this share. `arms`: what the program has counted so far."""
        self.number += 1
        self.share = share
        at = self.number % EPOCHS
        if at in self._shares:
            before = self._older.get(self._shares[at], _none())
            self._older[self._shares[at]] = [
                added(pair) for pair in zip(before, self._had(at, arms), strict=True)
            ]
        self._shares[at] = share
        self._before[at] = [dict(arm) for arm in arms[at]]

    def now(self, arms: list[Element]) -> Element:
        """What the connections of this epoch have had, by arm."""
        return self._had(self.number % EPOCHS, arms)

    def by_share(self, arms: list[Element]) -> Iterator[tuple[int, Element]]:
        """What the connections of each epoch have had, and its share; older epochs are added up by share."""
        yield from self._older.items()
        for at, share in self._shares.items():
            yield share, self._had(at, arms)

    def _had(self, at: int, arms: list[Element]) -> Element:
        return [minus(now, before) for now, before in zip(arms[at], self._before[at], strict=True)]


def _none() -> Element:
    return [none() for _ in range(ARMS)]
