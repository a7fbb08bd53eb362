# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the tables of the simulator and of the lab at every width: title, units in the column heads, and
legend."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from samples import ROOT
from tcplearn.lab import table as lab
from tcplearn.metrics import responses
from tcplearn.output import terminal
from tcplearn.output.rows import Head, tidy
from tcplearn.output.runs_table import Shown
from tcplearn.simulate import rows as simulate
from tcplearn.simulate import scenario

Render = Callable[[Console], Any]
PAPER = ROOT / "experiments" / "nunes2014"
PARAMETERS = {"tlp": True, "bytes": 16_000_000, "kernel": "6.1.0-39", "tick_ms": 4}


def of_lab(console: Console) -> Any:
    """Return the lab's table with the columns of a bulk transfer."""
    keys = {metric.key for metric in responses.METRICS}
    return _of_lab(console, [column for column in lab.COLUMNS if column.metric not in keys])


def of_lab_with_responses(console: Console) -> Any:
    return _of_lab(console, lab.COLUMNS)


def _of_lab(console: Console, columns: Sequence[Shown]) -> Any:
    made = []
    for run in ("a", "b"):
        for algorithm in ("reno+stock", "cubic+experts/nunes2014-linux"):
            figures = {column.metric: 12.5 + (run == "b") for column in columns} | {"duration_s": 9.0}
            head = Head(
                host="lab",
                paper="nunes2014",
                scenario="live-2",
                algorithm=algorithm,
                run=run,
                parameters=PARAMETERS,
            )
            made += tidy(head, figures)
    return lab.document(made, console, "wireless first hop")


def of_simulator(console: Console) -> Any:
    runs = scenario.runs(PAPER / "scenario-5.toml", "smoke")
    figures = {column.metric: 0.125 for column in simulate.COLUMNS}
    finished = [(run, {"run": {"metrics": figures}}) for run in runs for _ in range(2)]
    return simulate.document(SimpleNamespace(finished=lambda: finished), console)  # type: ignore[arg-type]


def at(width: int, render: Render) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(render(console))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("render", [of_lab, of_simulator])
def test_a_table_says_what_it_is_of(render: Render, width: int) -> None:
    text = at(width, render)
    assert all(len(line) <= width for line in text.splitlines()) and "…" not in text
    shown = one_line(text)
    assert ("nunes2014, scenario live-2: wireless first hop, Linux 6.1.0-39" in shown) == (render is of_lab)
    assert ("nunes2014, scenario V: Wired, 8 nodes, simulated in ns-3" in shown) == (render is of_simulator)
    assert "error: |prediction - sample|" in shown and "a tick is " in shown
    assert " error " in shown and " timeouts " in shown  # the last to leave
    assert ("Left out at this width: " in shown) == (width < 200)


@pytest.mark.parametrize("render", [of_lab_with_responses, of_simulator])
def test_every_column_has_its_unit_and_a_pipe_has_all(render: Render) -> None:
    columns = simulate.COLUMNS if render is of_simulator else lab.COLUMNS
    lines = terminal.to_text(render).splitlines()
    heads = next(i for i, line in enumerate(lines) if line.startswith("algorithm"))
    for column in columns:
        assert column.heading in lines[heads - 1] and column.unit in lines[heads]
    assert "Left out" not in lines[-1] and lines[heads + 1].startswith("---")
    assert {column.unit for column in columns} <= {
        *("ms", "ticks", "%", "B", "segments", "packets", "packets/s", "Mbit/s", "a run"),
    }
    assert " ± " in lines[heads + 2]


def test_narrow_terminals_lose_the_spread_before_a_column() -> None:
    assert "12.50" not in at(120, of_lab) and "13.00" in at(120, of_lab)
    assert "13.00 ± 0.71" in at(200, of_lab)
