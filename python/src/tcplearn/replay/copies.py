# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Series that several files have: each counts once, for the first file that has it."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tcplearn.output.numbers import counted
from tcplearn.replay.names import Names
from tcplearn.replay.results import TOO_SHORT

#: Copies that a line names.
NAMED = 3


def key_of(digest: int, samples: int, name: str, title: str, first_us: int) -> str:
    """Return a key that a series has in common with its copies in any file, from the `digest` of its samples
    and times since the first. Fewer than 30 samples may agree by chance, so there the name and the start
    count too (`title`: the name of a flow without one)."""
    if samples >= TOO_SHORT:
        return f"{digest:016x}"
    return f"{digest:016x} {first_us} {'' if name == title else name}"


class Seen:
    """The series of earlier files."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, str]] = {}

    def first(self, key: str, file: int, name: str) -> tuple[int, str] | None:
        """Return file and name of the series of which `name` is a copy, or None. Flows of one file are no
        copies."""
        first = self._first.setdefault(key, (file, name))
        return first if first[0] != file else None


@dataclass(frozen=True, slots=True)
class Copied:
    """A series that is left out, or a whole file, and the series or file with the same samples."""

    name: str
    of: str
    series: int = 1

    def __str__(self) -> str:
        return f"{self.name} (as {self.of})"


def of_file(
    title: str, names: Sequence[str], firsts: Sequence[tuple[int, str] | None], titles: Sequence[str]
) -> list[Copied]:
    """Return what is left out of the file `title`: its series are `names`, `firsts` is the result of
    `Seen.first` for each, and `titles` names the files by number. If another file has all of it, the file is
    one entry."""
    files = {first[0] if first else None for first in firsts}
    if len(files) == 1 and (file := files.pop()) is not None:
        return [Copied(title, titles[file], len(firsts))]
    return [Copied(name, first[1]) for name, first in zip(names, firsts, strict=True) if first]


def sentence(left_out: Sequence[Copied], most: int = NAMED) -> list[str]:
    """Return a sentence on `left_out` that names the first `most`, or nothing."""
    if not left_out:
        return []
    series, others = sum(c.series for c in left_out), len(left_out) - most
    rest = f" and {others:,} more" if others > 0 else ""
    named = ", ".join(map(str, left_out[:most]))
    return [f"{series:,} series left out, whose samples are those of another: {named}{rest}."]


class Flows:
    """Finds copies among a replay's flows as they end; a short flow takes a few bytes."""

    def __init__(self) -> None:
        self._source = 0
        self._judged = Seen()
        self._short = Names()
        self._copies: Counter[str] = Counter()  # copies in this source, by the source of the first

    def __copy__(self) -> Flows:
        out = Flows()
        out._source, out._judged = self._source, copy.deepcopy(self._judged)
        out._short, out._copies = copy.copy(self._short), self._copies.copy()
        return out

    def begin(self) -> None:
        """Begin the next source."""
        self._source += 1
        self._copies.clear()

    def is_copy(self, key: str, source: str, *, judged: bool) -> bool:
        if judged:
            first = self._judged.first(key, self._source, source)
            of = first[1] if first else ""
        else:
            of = "a file before it" if self._short.times(key) > 1 else ""
        if of:
            self._copies[of] += 1
        return bool(of)

    def warnings(self, source: str) -> list[str]:
        """Return a line for each earlier source that has flows of `source`."""
        return [
            f"{source}: {counted(n, 'flow')} left out: the same samples as in {first}, and each counts once"
            for first, n in self._copies.items()
        ]
