# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Find series (RTT samples of one flow) that occur in several files, so that each counts once, and count how
often each name of a flow occurs."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcplearn.output.numbers import counted
from tcplearn.replay.results import TOO_SHORT

NAMED = 3  # copies that a warning names


def key_of(digest: int, samples: int, name: str, title: str, first_us: int) -> str:
    """Return a key of a series that is the same for its copies in other files. `digest` is a hash of the
    samples and of their times since the first one. Series of fewer than 30 samples may agree by chance, so
    their keys also contain the start time and, unless it is only the file's `title`, the flow's `name`."""
    if samples >= TOO_SHORT:
        return f"{digest:016x}"
    return f"{digest:016x} {first_us} {'' if name == title else name}"


class Seen:
    """Remembers all series (each the RTT samples of one flow) of the files read so far, to find copies."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, str]] = {}

    def first(self, key: str, file: int, name: str) -> tuple[int, str] | None:
        """Record under `key` the series `name` of file number `file`. Return the file number and the name of
        the first series with this key if it is in another file, otherwise None."""
        first = self._first.setdefault(key, (file, name))
        return first if first[0] != file else None


@dataclass(frozen=True, slots=True)
class Copied:
    """A series or file `name` that is left out because the series or file `of` has the same samples."""

    name: str
    of: str
    series: int = 1

    def __str__(self) -> str:
        return f"{self.name} (as {self.of})"


def of_file(
    title: str, names: Sequence[str], firsts: Sequence[tuple[int, str] | None], titles: Sequence[str]
) -> list[Copied]:
    """Return the copies among the series (each the RTT samples of one flow) `names` of the file `title`, or
    one entry for the whole file if another file has all of them. `firsts` has, for each series, the file
    number and name of its original, or None. `titles` has the files' names by number."""
    files = {first[0] if first else None for first in firsts}
    if len(files) == 1 and (file := files.pop()) is not None:
        return [Copied(title, titles[file], len(firsts))]
    return [Copied(name, first[1]) for name, first in zip(names, firsts, strict=True) if first]


def sentence(left_out: Sequence[Copied], most: int = NAMED) -> list[str]:
    """Return one sentence, which names the first `most` entries of `left_out`, or [] if it is empty."""
    if not left_out:
        return []
    series, others = sum(c.series for c in left_out), len(left_out) - most
    rest = f" and {others:,} more" if others > 0 else ""
    named = ", ".join(map(str, left_out[:most]))
    return [f"{series:,} series left out, whose samples are those of another: {named}{rest}."]


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


class Flows:
    """Finds flows of a replay that are copies of an earlier flow. A short flow takes only a few bytes."""

    def __init__(self) -> None:
        self._source = 0
        self._judged = Seen()
        self._short = Names()
        self._copies: Counter[str] = Counter()  # copies in this source, by the original's source

    def __copy__(self) -> Flows:
        out = Flows()
        out._source, out._judged = self._source, copy.deepcopy(self._judged)
        out._short, out._copies = copy.copy(self._short), self._copies.copy()
        return out

    def begin(self) -> None:
        """Begin the next source (a file or an interface)."""
        self._source += 1
        self._copies.clear()

    def is_copy(self, key: str, source: str, *, judged: bool) -> bool:
        if judged:
            first = self._judged.first(key, self._source, source)
            of = first[1] if first else ""
        else:
            of = "an earlier file" if self._short.times(key) > 1 else ""
        if of:
            self._copies[of] += 1
        return bool(of)

    def warnings(self, source: str) -> list[str]:
        """Return a warning for each earlier source (a file or interface) that has flows of `source` too."""
        return [
            f"{source}: {counted(n, 'flow')} left out: the same samples as in {first}, and each counts once"
            for first, n in self._copies.items()
        ]
