# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Keep the share of new connections that get RTO floors (learned least times that the RTO adds to SRTT) in
each epoch, and the counts of the connections that began in the epoch. The share does not change within an
epoch. The BPF program has the counts of the last epochs only; the counts of older epochs are kept here, added
up by share."""

from __future__ import annotations

from collections.abc import Iterator

from .arms import EPOCHS, Counts, added, minus

Element = list[Counts]  # by arm


class Epochs:
    def __init__(self) -> None:
        self.number = -1  # of this epoch
        self.share = 0  # in this epoch, of arms.WHOLE
        self._shares: dict[int, int] = {}  # of the epoch that each element is used for
        self._before: dict[int, Element] = {}  # what each element had when that epoch began
        self._older: dict[int, Element] = {}  # by share

    def begin(self, share: int, arms: list[Element], had: Element | None = None) -> None:
        """Begin an epoch, in which `share` of WHOLE new connections get learned RTO floors. `arms` has the
        counts of the BPF program so far. They begin at 0 when `tcplearn live` starts again; if the epoch
        continues one from before that start, `had` has the counts that this epoch had until then."""
        self.number += 1
        self.share = share
        at = self.number % EPOCHS
        if at in self._shares:
            self.add_older(self._shares[at], self._had(at, arms))
        self._shares[at] = share
        self._before[at] = [minus(arm, had[i]) if had else dict(arm) for i, arm in enumerate(arms[at])]

    def add_older(self, share: int, had: Element) -> None:
        """Add the counts `had` of connections from an earlier epoch, in which `share` / arms.WHOLE of the new
        connections got RTO floors. The BPF program no longer has these counts."""
        self._older[share] = together(self._older[share], had) if share in self._older else had

    def now(self, arms: list[Element]) -> Element:
        """Return the counts of the connections that began in the current epoch, for each group (arm)."""
        return self._had(self.number % EPOCHS, arms)

    def by_share(self, arms: list[Element]) -> Iterator[tuple[int, Element]]:
        """Yield, for each epoch, the share of connections with RTO floors and the counts by arm (group).
        Epochs that the BPF program no longer has are added up by share."""
        yield from self.earlier(arms)
        yield self.share, self.now(arms)

    def earlier(self, arms: list[Element]) -> Iterator[tuple[int, Element]]:
        """Yield, for each epoch but the current one, the share of connections with RTO floors and the counts
        by arm (group). Epochs that the BPF program no longer has are added up by share."""
        yield from self._older.items()
        for at, share in self._shares.items():
            if at != self.number % EPOCHS:
                yield share, self._had(at, arms)

    def _had(self, at: int, arms: list[Element]) -> Element:
        return [minus(now, before) for now, before in zip(arms[at], self._before[at], strict=True)]


def together(one: Element, other: Element) -> Element:
    return [added(pair) for pair in zip(one, other, strict=True)]
