# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the pages of experiments/live are made from stored runs, and that criteria are judged by whole
confidence intervals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.latency.lab import timer_of
from experiments.lib import runs
from experiments.lib.pages import ROOT
from experiments.live import PAGES, lab

FOLDER = ROOT / "experiments" / "live"


@pytest.mark.parametrize(
    ("algorithm", "timer"), [("cubic+none+live", lab.OURS), ("cubic+none+live-bounded", lab.BOUNDED)]
)
def test_timers_of_the_lab_have_their_names(algorithm: str, timer: str) -> None:
    assert timer_of(algorithm) == timer


def test_every_run_in_the_file_is_one_that_the_page_plans() -> None:
    have = {run.identity for run in runs.read(FOLDER / "runs.parquet")}
    planned = {identity for batch in lab.batches(FOLDER, "") for identity in batch.planned()}
    assert have and have <= planned


@pytest.mark.parametrize(("name", "figures"), [("lab", 1), ("timers", 0)])
def test_the_page_is_that_of_the_file(name: str, figures: int, tmp_path: Path) -> None:
    page = PAGES[name]
    found = runs.latest(runs.read(FOLDER / "runs.parquet"))
    assert page.write(found, FOLDER, tmp_path / "page.md") == figures
    assert (tmp_path / "page.md").read_text() == (ROOT / page.target).read_text()


def test_a_path_with_worse_figures_is_named() -> None:
    found = runs.latest(runs.read(FOLDER / "runs.parquet"))
    cells = lab.cells_of([run for run in found if run.profile == lab.PROFILE])
    by_path = {cell.path: cell for cell in cells}
    assert {"wired", "steps", "slots"} <= by_path.keys()
    assert by_path["wired"].ratio(lab.OURS, lab.SLOW)[0] < 0.7
    rows = lab._criteria(cells, {}, lab.Overload({}))
    spurious = next(row for row in rows if row[0].startswith("spurious"))
    assert re.match(r"met on \d+, undecided on \d+, missed on \d+", spurious[2])
    assert sum(map(int, re.findall(r"on (\d+)", spurious[2]))) == len(cells)
