# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Count how often each flow name occurs, in a few bytes for each name. Nearly all names occur once."""

from __future__ import annotations

import numpy as np


class Names:
    """A counter of names that stores their 64-bit hashes: the newest in a set, others in a sorted array."""

    MOST_NEW = 4096

    def __init__(self) -> None:
        self._known = np.empty(0, np.int64)
        self._new: set[int] = set()
        self._again: dict[int, int] = {}  # counts of names that occurred more than once

    def __copy__(self) -> Names:
        out = Names()
        out._known, out._new, out._again = self._known, set(self._new), dict(self._again)
        return out

    def times(self, *name: str) -> int:
        """Count `name` once more and return how often it has occurred."""
        key = hash(name)
        at = int(np.searchsorted(self._known, key))
        if key in self._new or (at < len(self._known) and self._known[at] == key):
            self._again[key] = self._again.get(key, 1) + 1
            return self._again[key]
        self._new.add(key)
        if len(self._new) == self.MOST_NEW:
            self._known = np.union1d(self._known, np.fromiter(self._new, np.int64))
            self._new.clear()
        return 1
