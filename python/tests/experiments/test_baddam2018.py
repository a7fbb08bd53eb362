# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""experiments/baddam2018: its pages from runs that are made up, and one that needs none."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from experiments.baddam2018 import PAGES, first_rto, grid
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run

FOLDER = ROOT / "experiments" / "baddam2018"
ALGORITHMS = ("reno+stock", "reno+linreg/reno", "reno+linreg/reno+receiver")


def test_the_regressions_page_is_that_of_today(tmp_path: Path) -> None:
    page = PAGES["regression"]
    assert page.write([], FOLDER, tmp_path / "regression.md") == 0
    assert (tmp_path / "regression.md").read_text() == (ROOT / page.target).read_text()


def downloads() -> list[Run]:
    found = []
    for algorithm, number in itertools.product(ALGORITHMS, range(3)):
        seconds = (1 + number) * (2.0 if algorithm.endswith("receiver") else 1.0)
        metrics = dict.fromkeys(grid.METRICS, 3.0) | {grid.TIME: seconds}
        parameters = {"title": "20 Mbit/s, 40 ms; no traffic", "transfer": {"bytes": 400_000}}
        found.append(Run("lab", "grid-none", "full", algorithm, number, 1, {}, parameters, metrics=metrics))
    return found


def test_downloads_are_compared_run_by_run(tmp_path: Path) -> None:
    page = PAGES["lab"]
    assert page.write(downloads(), FOLDER, tmp_path / "lab.md") == 2
    text = (tmp_path / "lab.md").read_text()
    assert "| reno | as written | sender | 2.00 ± 1.00 | 1.00 [1.00, 1.00] | 3.0 ± 0.0 |" in text
    assert "| reno | as written | downloader | 4.00 ± 2.00 | 2.00 [2.00, 2.00] | 3.0 ± 0.0 |" in text
    assert "at the downloader" in (tmp_path / "figures" / "lab-times.svg").read_text()


@pytest.mark.parametrize("lost", [0, 20])
def test_waits_are_shown_beside_stocks(lost: int, tmp_path: Path) -> None:
    metrics = dict.fromkeys(("connections", "syns", "answers"), 100.0)
    metrics |= dict.fromkeys(("spurious_syns", "unanswered_syns", "spurious_answers"), 1.0)
    names = (first_rto.STOCK, first_rto.KNOWN_AT_BOTH, first_rto.BEST_AT_BOTH)
    runs = [
        Run(
            "lab", "first-rto", "full", name, 0, 3,
            parameters={"places": 40, "count": 50, "loss_percent": 10.0},
            metrics=metrics,
            series={"wait_us": np.full(lost, wait), "answered_us": np.full(100, 80_000.0)},
        )
        for name, wait in zip(names, (1e6, 1e5, 2e5), strict=True)
    ]  # fmt: skip
    (trials,) = PAGES["first-rto"].batches(FOLDER, "")
    in_ns3 = Run("ns3", "first-rto", "full", "jacobson", 0, 1)  # another page's, of the same scenario's name
    own = [run for run in (*runs, in_ns3) if trials.has(run)]
    PAGES["first-rto"].write(own, FOLDER, tmp_path / "first-rto.md")
    text = (tmp_path / "first-rto.md").read_text()
    shown = "100 | 0.10 [0.10, 0.10] | 100 | 0.10 [0.10, 0.10]" if lost else "– | – | – | –"
    assert f"| {first_rto.KNOWN_AT_BOTH} | 100 | {lost} | {shown} | 1.00 | 1.00 | 1.00 | 80 |" in text
    if lost:
        assert f"| {first_rto.BEST_AT_BOTH} | 0.50 [0.50, 0.50] | 0.50 [0.50, 0.50] |" in text


def test_the_emulated_paths_have_the_rtts_that_the_page_names() -> None:
    rtts_ms = sorted(place.rtt_ms for place in first_rto.network().places)
    assert 2 <= rtts_ms[0] < 3 and 290 < rtts_ms[-1] <= 300
