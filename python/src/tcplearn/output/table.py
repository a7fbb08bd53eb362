# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines a table for the terminal, Markdown and HTML: columns, and cells with their exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tcplearn.output import numbers

#: The value of `keep` for a column that is never left out.
ALWAYS = 1000


@dataclass(frozen=True, slots=True)
class Cell:
    shown: str = ""
    value: float | str | None = None  # the column is sorted by this value
    best: bool = False
    more: str = ""  # a detail that is shown if there is room


@dataclass(frozen=True, slots=True)
class Column:
    head: str  # one or two lines
    label: str = ""  # one line; "": made from the heads
    keep: int = ALWAYS  # a narrow terminal leaves out columns with the lowest `keep` first
    words: bool = False  # text, aligned to the left
    ratio: bool = False  # a ratio, shown dimmed beside its figure
    detailed: bool = False  # cells may have details (`more`)


@dataclass(slots=True)
class Table:
    columns: Sequence[Column]
    rows: list[list[Cell]] = field(default_factory=list)
    title: str = ""
    legend: str = ""
    sorted_by: int | None = None

    def only(self, columns: Sequence[int]) -> Table:
        rows = [[row[i] for i in columns] for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in columns], rows=rows)

    def labels(self) -> Iterator[str]:
        """Yield a label in one line for each column: its `label` or its head. If the first of the head's two
        lines is empty, that of the column to the left takes its place."""
        group = ""
        for column in self.columns:
            above, under, below = column.head.partition("\n")
            group = above or group if under else ""
            yield column.label or (f"{group} {below}".strip() if under else column.head)

    def mark_best(self, columns: Iterable[int]) -> Table:
        """Mark the smallest absolute value of each of `columns`, unless all are equal; return the table."""
        for c in columns:
            sizes = [abs(v) for row in self.rows if isinstance(v := row[c].value, (int, float))]
            if not sizes or min(sizes) == max(sizes):
                continue
            for row in self.rows:
                if isinstance(v := row[c].value, (int, float)) and abs(v) == min(sizes):
                    row[c] = replace(row[c], best=True)
        return self


def headed(*heads: str, words: Iterable[int] = (0,), spare: Sequence[int] = ()) -> list[Column]:
    """Return columns. `words` are the indices of columns with text, `spare` those that a narrow terminal
    leaves out, in this order."""
    left, keep = frozenset(words), {column: place for place, column in enumerate(spare)}
    return [Column(head, keep=keep.get(i, ALWAYS), words=i in left) for i, head in enumerate(heads)]


def text(value: str | None) -> Cell:
    return Cell(value or "", value)


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    """Return a cell with the ratio `value`, followed by its interval in brackets if known."""
    if value is None:
        return Cell()
    ends = [numbers.fine_ratio(end) for end in (low, high) if end is not None]
    around = f" [{ends[0]}, {ends[1]}]" if len(ends) == 2 else ""
    return Cell(f"{numbers.fine_ratio(value)}{around}", value)


def _shown_by(shown: Callable[[float], str]) -> Callable[[float | None], Cell]:
    return lambda value: Cell() if value is None else Cell(shown(value), value)


count = _shown_by("{:,}".format)
share = _shown_by(lambda value: f"{value * 100:.0f} %")
rate = _shown_by(numbers.hundredths)
milliseconds = _shown_by(numbers.milliseconds)
