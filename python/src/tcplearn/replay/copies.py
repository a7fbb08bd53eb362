# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Series that several files hold: each counts once, for the first file that has it."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tcplearn.output.numbers import counted
from tcplearn.replay.names import Names
from tcplearn.replay.results import TOO_SHORT

#: Of more copies than this a line names the first.
NAMED = 3


def key_of(digest: int, samples: int, name: str, title: str, first_us: int) -> str:
    """Return what a series has in common with its copies, whatever file they are in: its samples, and times
    since its first. A few samples may agree by chance: of fewer than 30 the name and the start count too
    (`title`: the name of a flow that has none of its own)."""
    if samples >= TOO_SHORT:
        return f"{digest:016x}"
    return f"{digest:016x} {first_us} {'' if name == title else name}"


class Seen:
    """Series of the files before."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, str]] = {}

    def first(self, key: str, file: int, name: str) -> tuple[int, str] | None:
        """The file and the name of the one that `name` is a copy of. Two flows of one file are no copies."""
        first = self._first.setdefault(key, (file, name))
        return first if first[0] != file else None


@dataclass(frozen=True, slots=True)
class Copied:
    """A series that is left out, or all of a file, and what has the same samples."""

    name: str
    of: str
    series: int = 1

    def __str__(self) -> str:
        return f"{self.name} (as {self.of})"


def of_file(
    title: str, names: Sequence[str], firsts: Sequence[tuple[int, str] | None], titles: Sequence[str]
) -> list[Copied]:
    """What is left out of a file, by its series and where `Seen` had each first; `titles`: of the files by
    number. All of it in one where another file has it all."""
    files = {first[0] if first else None for first in firsts}
    if len(files) == 1 and (file := files.pop()) is not None:
        return [Copied(title, titles[file], len(firsts))]
    return [Copied(name, first[1]) for name, first in zip(names, firsts, strict=True) if first]


def sentence(left_out: Sequence[Copied], most: int = NAMED) -> list[str]:
    """What is left out, if anything."""
    if not left_out:
        return []
    series, others = sum(c.series for c in left_out), len(left_out) - most
    rest = f" and {others:,} more" if others > 0 else ""
    named = ", ".join(map(str, left_out[:most]))
    return [f"{series:,} series left out, whose samples are those of another: {named}{rest}."]


class Flows:
    """Flows of a replay's sources as they end: many are short, and take a few bytes each."""

    def __init__(self) -> None:
        self._source = 0
        self._judged = Seen()
        self._short = Names()
        self._copies: Counter[str] = Counter()  # of this source, by the source of the first

    def __copy__(self) -> Flows:
        out = Flows()
        out._source, out._judged = self._source, copy.deepcopy(self._judged)
        out._short, out._copies = copy.copy(self._short), self._copies.copy()
        return out

    def begin(self) -> None:
        """A source begins."""
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
        """A line for each source whose flows this one has too."""
        return [
            f"{source}: {counted(n, 'flow')} left out: the same samples as in {first}, and each counts once"
            for first, n in self._copies.items()
        ]
