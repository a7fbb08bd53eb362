# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a table has the same cells in a terminal, in Markdown and in HTML."""

import io

import pytest
from rich.console import Console

from tcplearn.output import numbers, terminal
from tcplearn.output.markdown import markdown
from tcplearn.output.table import Cell, Column, Table, headed, ratio, text
from tcplearn.report.markup import tabulated
from tcplearn.report.palette import looks


@pytest.fixture
def table() -> Table:
    made = Table(headed("estimator", "error ×\n[95 %]", "\nworst"), title="Errors", legend="below 1: better")
    made.rows = [
        [text("last|x"), ratio(0.5, 0.41234, 12.34), ratio(2.0)],
        [text("<b>"), ratio(-0.4), ratio(1.0)],
        [text("none"), ratio(None), ratio(300.0)],
    ]
    return made.mark_best((1, 2))


def test_the_smallest_in_size_is_best_unless_all_agree(table: Table) -> None:
    assert [[c.best for c in row] for row in table.rows] == [
        [False, False, False],
        [False, True, True],
        [False, False, False],
    ]
    same = Table(headed("e", "v"), [[text("a"), ratio(1.0)], [text("b"), ratio(1.0)]])
    assert not any(c.best for row in same.mark_best((1,)).rows for c in row)


def test_the_same_cells_everywhere(table: Table) -> None:
    plain = terminal.to_text(lambda console: terminal.titled(table, console))
    marked, html = markdown(table), tabulated(table, looks(["none"]))
    for shown in ("0.500 [0.412, 12.3]", "2.000", "300"):
        assert shown in plain and shown in marked and shown in html
    assert plain.splitlines()[0] == "Errors" and plain.splitlines()[-1] == "below 1: better"
    assert "last\\|x" in marked and "| estimator | error × [95 %] | error × worst |" in marked
    assert "**1.000**" in marked and "|---|---:|---:|" in marked
    assert "&lt;b&gt;" in html and 'data-value="300"' in html and "border-top-style:solid" in html
    assert html.count("class=best") == 2


def test_narrow_terminals_lose_the_least_and_details_last() -> None:
    columns = [Column("e", words=True), Column("a", keep=1), Column("b", keep=2, detailed=True)]
    made = Table(columns, [[text("name"), Cell("1234"), Cell("5", more=" (4-6)")]])

    def fitted(width: int) -> tuple[list[int], list[int]]:
        return terminal.fitted([made], Console(file=io.StringIO(), width=width))

    assert fitted(80) == ([0, 1, 2], [2])
    assert fitted(15) == ([0, 1, 2], [])
    assert fitted(14) == ([0, 2], [1])
    assert fitted(3) == ([0, 2], [])
    assert terminal.fitted([], Console(file=io.StringIO(), width=9)) == ([], [])
    # what is spare leaves first, then from the right; the first column never
    made = Table(headed("e", "a", "b", "c", spare=(2, 1)), [[text("name"), *(Cell("1234") for _ in "abc")]])
    assert [fitted(width)[0] for width in (30, 20, 15)] == [[0, 1, 2, 3], [0, 1, 3], [0, 3]]


def test_a_titled_table_loses_whole_columns_and_says_so(table: Table) -> None:
    def shown(width: int) -> str:
        console = Console(file=io.StringIO(), width=width)
        console.print(terminal.titled(table, console))
        out: str = console.file.getvalue()  # type: ignore[attr-defined]
        return out

    assert "Left out" not in shown(80)
    narrow = shown(32)
    assert all(len(line) <= 32 for line in narrow.splitlines()) and "…" not in narrow
    assert "0.500 [0.412, 12.3]" in narrow and "2.000" not in narrow
    assert "Left out at this width: error × worst;" in narrow.replace("\n", " ").replace("  ", " ")


def test_numbers() -> None:
    assert list(map(numbers.milliseconds, (0, 0.01, 0.5, 12.34, 1234.5))) == [
        "0.00",
        "0.0100",
        "0.50",
        "12.3",
        "1,234",
    ]
    assert list(map(numbers.ratio, (0.5, 12.34, 123.4))) == ["0.50", "12.3", "123"]
    assert list(map(numbers.fine_ratio, (0.5, 12.34, 1234.0))) == ["0.500", "12.3", "1,234"]
    assert list(map(numbers.percent, (0, 1e-6, 0.01))) == ["0 %", "less than 0.001 %", "1 %"]
    assert [numbers.decimals(v) for v in ([], [0.0], [2000.0], [0.05])] == [0, 0, 0, 4]
    assert numbers.counted(1, "flow") == "1 flow" and numbers.counted(1200, "flow") == "1,200 flows"
    sizes = {999: "999 bytes", 1234: "1.23 kB", 999.6e9: "1,000 GB", 1.234e12: "1,234 GB"}
    assert {size: numbers.byte_count(size) for size in sizes} == sizes


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.04, "0.04"), (3.31, "3.3"), (9.94, "9.9"), (9.96, "10.0"), (13.24, "13.2"), (200, "200")],
)
def test_permille_shown_add_up(value: float, shown: str) -> None:
    assert numbers.permille(value) == shown
