# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test experiments/forecasts: the comparison of forecasts with measurements, and its page from the stored
runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from experiments.forecasts import PAGES, paths
from experiments.forecasts.captured import Forecasts
from experiments.latency.cells import DSACK, P99, PROBES, SLOW, STOCK, TIMEOUTS, Cell, Timer
from experiments.lib import runs
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run
from tcplearn.explain.candidates import ALL

FOLDER = ROOT / "experiments" / "forecasts"
#: How slow each setting is in these tests, the best one last but one.
SCALE = {paths._measured(one.name): 2.0 - 0.1 * k for k, one in enumerate(ALL)}


def measured(scale: float, spurious: float = 0.0) -> Timer:
    metrics = {DSACK: spurious, PROBES: 20.0, TIMEOUTS: 1.0, "data_segments": 1000.0}
    times_us = [scale * np.random.default_rng(n).lognormal(10, 1, 1500) for n in range(8)]
    of = [
        Run("lab", "thin-x", "full", "", n, n, metrics=metrics, series={"response_us": of})
        for n, of in enumerate(times_us)
    ]
    return Timer.of_lab(of)


def on_path(factor: float, advised: str, held_up: float = 0.02, spurious: float = 0.0) -> paths.OnPath:
    """Return a path whose forecasts are `factor` times the measured times, with `advised` as the advised
    setting."""
    cell = Cell("x", {name: measured(scale) for name, scale in SCALE.items()})
    forecasts = {}
    for one in ALL:
        timer = cell.timers[paths._measured(one.name)]
        metrics = {
            "held_up_share": held_up,
            "unseen_ms": 0.0,
            "advised": float(one.name == advised),
            paths.SPURIOUS: spurious,
        }
        for figure, key in paths.KEYS.items():
            value = factor * timer.of(figure)
            metrics |= {f"{key}_ms": value, f"{key}_low_ms": 0.9 * value, f"{key}_high_ms": 1.1 * value}
        forecasts[one.name] = Run("lab", "thin-x", "captured", one.name, 0, 101, {}, metrics=metrics)
    return paths.OnPath("x", forecasts, cell)


def test_forecasts_that_are_the_measurement() -> None:
    for one in on_path(1.0, "priced/spaced").compared():
        assert one.error == pytest.approx(0) and one.covered and 0.01 < one.second < 0.3


def test_forecasts_that_are_twice_the_measurement() -> None:
    for one in on_path(2.0, "priced/spaced").compared():
        assert one.error == pytest.approx(1) and not one.covered


@pytest.mark.parametrize(("held_up", "judged"), [(0.009, False), (0.012, False), (0.014, True), (0.0, True)])
def test_p99_is_judged_where_chance_does_not_decide_it(held_up: float, judged: bool) -> None:
    for one in on_path(1.0, "priced", held_up).compared():
        assert one.judged is (judged or one.figure == SLOW)
        assert one.figure in (P99, SLOW)


@pytest.mark.parametrize(("advised", "well"), [("priced/spaced", True), ("priced", True), (STOCK, False)])
def test_advice_beside_the_best_that_was_measured(advised: str, well: bool) -> None:
    path = on_path(1.0, advised)
    assert path.best() == "priced/spaced"
    assert path.over_best()[0] == pytest.approx(SCALE[advised] / SCALE["priced/spaced"])
    assert path.well_advised is well


@pytest.mark.parametrize(
    ("forecast", "measured", "near"), [(0.0, 0.9, True), (0.0, 1.1, False), (30, 44, True), (30, 46, False)]
)
def test_spurious_retransmissions(forecast: float, measured: float, near: bool) -> None:
    assert paths._is_near(("", forecast, measured)) is near


def test_each_path_is_captured_under_other_seeds_than_it_was_measured(tmp_path: Path) -> None:
    every = paths.batches(FOLDER, "")
    assert all(isinstance(of, Forecasts) for of in every) and len(every) == 13
    chosen = every[0].planned()
    assert [run for *_, run in chosen] == [0, 1] + [0] * len(ALL)
    kept = runs.read(FOLDER / "runs.parquet")
    seeds = {run.seed for run in runs.read(ROOT / "experiments" / "latency" / "runs.parquet")}
    assert kept and not {run.seed for run in kept} & seeds


def test_the_page_is_that_of_its_runs(tmp_path: Path) -> None:
    page = PAGES["forecasts"]
    own = runs.latest(runs.read(FOLDER / "runs.parquet"))
    assert page.write(own, FOLDER, tmp_path / "forecasts.md") == 1
    text = (tmp_path / "forecasts.md").read_text()
    assert text == (ROOT / page.target).read_text()
    assert re.search(r"median error \| ≤ 10 % \| [0-9.]+ %", text)
