# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Shows tables on a terminal, fitted to its width, or as plain text for a pipe."""

import io
from collections.abc import Callable, Collection, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.output.table import Cell, Column, Table

#: The width for output to a pipe, which gets every column without wrapping.
ENDLESS = 10_000

_RULE_UNDER_HEAD = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)


def grid(table: Table, detailed: Collection[int] = ()) -> Grid:
    """Return `table` for the terminal, without title and legend. The columns `detailed` show their
    details."""
    out = Grid(box=_RULE_UNDER_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), header_style="bold")
    widest = [max((len(row[c].more) for row in table.rows), default=0) for c in range(len(table.columns))]
    for i, column in enumerate(table.columns):
        out.add_column(
            Text(column.head),
            justify="left" if column.words else "right",
            no_wrap=True,
            overflow="ellipsis" if column.words and i else "fold",
            vertical="bottom",
            style="dim" if column.ratio else "",
        )

    def seen(i: int, cell: Cell) -> Text:
        more = f"{cell.more:<{widest[i]}}" if i in detailed else ""  # padded so that the figures align
        return Text(f"{printable(cell.shown)}{more}", style="bold" if cell.best else "")

    for row in table.rows:
        out.add_row(*(seen(i, cell) for i, cell in enumerate(row)))
    return out


def titled(table: Table, console: Console) -> RenderableType:
    """Return `table` with its title, its legend, and as many columns as fit the terminal."""
    return alike([table], console)


def alike(tables: Sequence[Table], console: Console) -> RenderableType:
    """Return `tables`, which all have the same columns. Each has its title above it; the legend of the last
    is shown once, at the end."""
    kept, detailed = fitted(tables, console)
    parts: list[RenderableType] = []
    for table in tables:
        parts += [Text("")] if parts else []
        parts += [Text(printable(table.title), style="bold")] if table.title else []
        parts.append(grid(table.only(kept), detailed))
    if tables:
        missing = [label for i, label in enumerate(tables[-1].labels()) if i not in kept]
        parts += [Text(line, style="dim") for line in (tables[-1].legend, left_out(missing)) if line]
    return Group(*parts)


def left_out(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"Left out at this width: {', '.join(names)}; widen the terminal or use --format csv."


def fitted(tables: Sequence[Table], console: Console) -> tuple[list[int], list[int]]:
    """Return two lists of column indices for `tables`, which all have the same columns: those that fit the
    terminal and, counted among these, those that may show details."""
    columns: Sequence[Column] = tables[0].columns if tables else ()
    endless = console.options.update(max_width=ENDLESS)
    kept = list(range(len(columns)))

    def fit(kept: Sequence[int], detailed: Collection[int]) -> bool:
        grids = (grid(t.only(kept), detailed) for t in tables)
        return max((console.measure(g, options=endless).maximum for g in grids), default=0) <= console.width

    while len(kept) > 2 and not fit(kept, ()):  # keep the first column, which names the rows
        kept.remove(min(kept[1:], key=lambda c: (columns[c].keep, -c)))
    detailed: list[int] = []
    for c in sorted((c for c in kept if columns[c].detailed), key=lambda c: -columns[c].keep):
        if not fit(kept, [*detailed, kept.index(c)]):
            break
        detailed.append(kept.index(c))
    return kept, detailed


def to_text(render: Callable[[Console], RenderableType]) -> str:
    """Return what `render` prints on a very wide console, as plain text with every column of its tables."""
    out = io.StringIO()
    console = Console(file=out, width=ENDLESS, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(render(console))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
