# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables that stand both in a terminal and in a report: a heading, columns, cells with their exact values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.replay import tables
from tcplearn.report.summary import number


@dataclass(frozen=True, slots=True)
class Cell:
    shown: str = ""
    value: float | str | None = None  # what a sorted column goes by
    best: bool = False


@dataclass(slots=True)
class View:
    title: str
    heads: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    legend: str = ""
    words: frozenset[int] = frozenset({0})  # columns of words, which stand to the left


def text(value: str | None) -> Cell:
    return Cell(value or "", value)


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> Cell:
    """A ratio, its interval in brackets."""
    if value is None:
        return Cell()
    around = f" [{short(low)}, {short(high)}]" if low is not None and high is not None else ""
    return Cell(f"{short(value)}{around}", value)


def short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def count(value: int | None) -> Cell:
    return Cell() if value is None else Cell(f"{value:,}", value)


def share(value: float | None) -> Cell:
    return Cell() if value is None else Cell(f"{value * 100:.0f} %", value)


def rate(value: float | None) -> Cell:
    return Cell() if value is None else Cell(f"{value * 100:.3g}", value)


def milliseconds(value: float | None) -> Cell:
    return Cell() if value is None else Cell(number(value), value)


def with_best(view: View, columns: Sequence[int]) -> View:
    """The least of each such column is marked, where not all are alike."""
    for c in columns:
        values = [row[c].value for row in view.rows]
        known = [v for v in values if isinstance(v, (int, float))]
        if len(known) < 2 or min(known) == max(known):
            continue
        for row in view.rows:
            if row[c].value == min(known):
                row[c] = Cell(row[c].shown, row[c].value, best=True)
    return view


def to_rich(view: View) -> RenderableType:
    table = Table(
        box=tables._RULE_UNDER_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), header_style="bold"
    )
    for i, head in enumerate(view.heads):
        words = i in view.words
        table.add_column(
            Text(head),
            justify="left" if words else "right",
            no_wrap=True,
            overflow="ellipsis" if words and i else "fold",
            vertical="bottom",
        )
    for row in view.rows:
        table.add_row(*(Text(printable(c.shown), style="bold" if c.best else "") for c in row))
    parts: list[RenderableType] = [Text(view.title, style="bold"), table]
    if view.legend:
        parts.append(Text(view.legend, style="dim"))
    return Group(*parts)
