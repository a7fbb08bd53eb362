# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Words and tables as HTML. Whatever a trace names is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape

from tcplearn.errors import printable
from tcplearn.output.table import View
from tcplearn.report.palette import Look


def text(value: object) -> str:
    return escape(printable(value))


def listed(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"


def view_table(view: View, looks: Mapping[str, Look]) -> str:
    """Sortable, the best of a column in bold; an estimator's line and colour before its name."""
    out = ['<div class="scroll"><table><thead><tr>']
    for i, head in enumerate(_heads(view)):
        kind = ' class="word"' if i in view.words and i else ""
        out.append(f'<th scope="col"{kind}><button type="button">{text(head)}</button></th>')
    out.append("</tr></thead><tbody>")
    for row in view.rows:
        out.append("<tr>")
        for i, cell in enumerate(row):
            look = looks.get(cell.shown) if i in view.words else None
            line = f'<i style="border-top-color:{look.colour}"></i>' if look else ""
            value = "" if cell.value is None else cell.value
            exact = f"{value:.9g}" if isinstance(value, (int, float)) else text(value)
            kind = ' class="best"' if cell.best else ' class="word"' if i in view.words and i else ""
            out.append(f'<td{kind} data-value="{exact}">{line}{text(cell.shown)}</td>')
        out.append("</tr>")
    out.append("</tbody></table></div>")
    return "".join(out)


def _heads(view: View) -> Iterator[str]:
    """In one line: a head without a first line stands under that of the columns before it."""
    group = ""
    for head in view.heads:
        above, under, below = head.partition("\n")
        group = above or group if under else ""
        yield f"{group} {below}".strip() if under else head
