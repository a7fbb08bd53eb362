# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Renders tables as Markdown."""

from collections.abc import Iterable, Sequence

from tcplearn.errors import printable
from tcplearn.output.table import Cell, Table


def markdown(table: Table) -> str:
    """Return `table` as Markdown with its title and legend. The best value of each column is bold."""
    rows = ([_cell(cell) for cell in row] for row in table.rows)
    lines = table_of([_escaped(label) for label in table.labels()], rows, [c.words for c in table.columns])
    title = f"**{_escaped(table.title)}**" if table.title else ""
    return "\n\n".join(filter(None, (title, lines, table.legend))) + "\n"


def table_of(head: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[bool] = ()) -> str:
    """Return a Markdown table. `words` says for each column whether it is aligned to the left (default: all
    are)."""
    rule = "".join("---|" if left else "---:|" for left in words or [True] * len(head))
    return "\n".join((_line(head), f"|{rule}", *map(_line, rows)))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return printable(text).replace("|", "\\|")


def _cell(cell: Cell) -> str:
    shown = _escaped(f"{cell.shown}{cell.more}".strip())
    return f"**{shown}**" if cell.best and shown else shown
