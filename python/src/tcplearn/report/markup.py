# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Convert text and tables to HTML. All text that comes from a trace is escaped here."""

import re
from collections.abc import Iterable, Mapping
from html import escape

from tcplearn.errors import printable
from tcplearn.output import numbers
from tcplearn.output.table import Cell, Column, Table
from tcplearn.report.palette import Look

_STYLES = {"1 0": "solid", "2 2": "dotted"}


def text(value: object) -> str:
    return escape(printable(value))


def prose(words: str) -> str:
    """Return `words` as HTML, with text between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(words))


def listed(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"


def defined(pairs: Iterable[tuple[str, str]], kind: str) -> str:
    """Return, as HTML, a definition list of `pairs` of a term and its meaning, both already escaped."""
    return f'<dl class="{kind}">' + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in pairs) + "</dl>"


def folded(summary: str, inside: str) -> str:
    """Return the HTML `inside`, hidden below `summary` until the reader unfolds it."""
    return f"<details><summary>{text(summary)}</summary>{inside}</details>"


def swatches(colours: Mapping[str, str]) -> str:
    """Return a legend as HTML: each name in `colours` after a spot of its colour."""
    return "".join(
        f'<span class="swatch"><i style="background:{colour}"></i>{text(name)}</span>'
        for name, colour in colours.items()
    )


def tabulated(table: Table, looks: Mapping[str, Look], caption: str = "") -> str:
    """Return `table` as HTML that can be sorted. The best value of a column is bold. Beside an estimator's
    name is a sample of its line in pictures."""
    out = ['<div class="scroll"><table>', f"<caption>{text(caption)}</caption>" if caption else ""]
    out.append("<thead><tr>")
    for i, (column, label) in enumerate(zip(table.columns, table.labels(), strict=True)):
        kind = ' class="word"' if column.words and i else ""
        sort = ' aria-sort="ascending"' if i == table.sorted_by else ""
        out.append(f'<th scope="col"{kind}{sort}><button type="button">{text(label)}</button></th>')
    out.append("</tr></thead><tbody>")
    for row in table.rows:
        cells = (_cell(i, *pair, looks) for i, pair in enumerate(zip(table.columns, row, strict=True)))
        out.append(f"<tr>{''.join(cells)}</tr>")
    return "".join([*out, "</tbody></table></div>"])


def _cell(i: int, column: Column, cell: Cell, looks: Mapping[str, Look]) -> str:
    look = looks.get(cell.shown) if column.words else None
    line = ""
    if look:
        style = _STYLES.get(" ".join(map(str, look.dash)), "dashed")
        line = f'<i style="border-top-color:{look.colour};border-top-style:{style}"></i>'
    exact = numbers.exact(cell.value) if isinstance(cell.value, (int, float)) else text(cell.value or "")
    kind = "best" if cell.best else "ratio" if column.ratio else "word" if column.words and i else ""
    shown = cell.shown.removeprefix("×") if column.ratio else cell.shown  # the column's heading has the ×
    more = f' <span class="more">{text(cell.more)}</span>' if cell.more.strip() else ""
    return f'<td{f" class={kind}" if kind else ""} data-value="{exact}">{line}{text(shown)}{more}</td>'
