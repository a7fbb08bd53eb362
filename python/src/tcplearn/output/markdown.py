# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from tcplearn.errors import printable
from tcplearn.output.table import Cell, Table


def markdown(table: Table) -> str:
    """The best of a column in bold; a title and a legend above and below."""
    lines = [_line(table.labels()), "|" + "".join("---|" if c.words else "---:|" for c in table.columns)]
    lines += [_line(map(_cell, row)) for row in table.rows]
    parts = [f"**{_escaped(table.title)}**" if table.title else "", "\n".join(lines), table.legend]
    return "\n\n".join(filter(None, parts)) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return printable(text).replace("|", "\\|")


def _cell(cell: Cell) -> str:
    shown = f"{cell.shown}{cell.more}".strip()
    return f"**{shown}**" if cell.best and shown else shown
