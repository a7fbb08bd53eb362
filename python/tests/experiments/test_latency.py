# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the statistics of experiments/latency against simple implementations, and its pages from stored
runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from experiments.latency import PAGES, lab, simulated
from experiments.latency.cells import DRAWS, FIGURES, P99, SEED, Cell, Sample, SeedsCell, Timer
from experiments.lib import runs
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run
from experiments.lib.statistics import how

FOLDER = ROOT / "experiments" / "latency"


def lab_runs(times_ms: Sequence[np.ndarray], spurious: Sequence[float] | float = 0.0) -> list[Run]:
    each = [spurious] * len(times_ms) if isinstance(spurious, (int, float)) else spurious
    return [
        Run(
            "lab", "thin-wired", "full", "cubic+stock", n, n,
            metrics={lab.DSACK: each[n], lab.PROBES: 20.0, lab.TIMEOUTS: 1.0, "data_segments": 1000.0},
            series={"response_us": 1000 * times},
        )
        for n, times in enumerate(times_ms)
    ]  # fmt: skip


def lab_timer(*of_runs: float, spurious: float = 0.0) -> Timer:
    return Timer.of_lab(lab_runs([np.full(50, value) for value in of_runs], spurious))


def seeds_timer(factor: float, spurious: float = 0.0) -> Timer:
    """Return a timer with invented response times of nine seeds, no two of which are equal, in proportion to
    `factor`."""
    found = []
    for seed in range(1, 10):
        times_ms = factor * np.random.default_rng(seed).lognormal(3, 1, 1000 + 10 * seed)
        metrics = {
            "needless_resends_permille": spurious,
            "sent_packets": 1000.0,
            "probes": 20.0,
            "timeouts": 1.0,
        }
        metrics |= {"overruns": 2.0, "mean_overrun_ms": float(times_ms.mean())}
        result = {"run": {"metrics": metrics, "responses_us": (times_ms * 1000).tolist()}}
        kept, series = simulated.keep_requests(None, result)
        found.append(Run("ns3", "thin", "full", "x", seed, seed, metrics=kept, series=series))
    return Timer.of_ns3(found)


def plainly(times_ms: np.ndarray) -> list[float]:
    slowest = np.sort(times_ms)[-max(len(times_ms) // 50, 1) :].mean()
    return [np.percentile(times_ms, 99), np.percentile(times_ms, 99.9), slowest]


@pytest.mark.parametrize("n", [1500, 1513, 40])
def test_figures_of_bootstrap_samples_are_those_of_all_their_times(n: int) -> None:
    times_ms = np.random.default_rng(n).lognormal(3, 1, n)
    sample = Sample.of_blocks(times_ms)
    assert sample.figures()[0] == pytest.approx(plainly(times_ms))
    blocks = np.array_split(times_ms, max(n // 25, 1))
    rng = np.random.default_rng(SEED)
    twins = [
        np.concatenate([blocks[i] for i in rng.integers(0, len(blocks), len(blocks))]) for _ in range(DRAWS)
    ]
    assert sample.figures(sample.drawn()) == pytest.approx(np.array([plainly(twin) for twin in twins]))


def test_figures_of_seeds_are_those_of_all_response_times() -> None:
    times_ms = [np.random.default_rng(seed).lognormal(3, 1, 1000 + 10 * seed) for seed in range(1, 10)]
    timer = seeds_timer(1.0)
    assert [timer.of(figure) for figure in FIGURES] == pytest.approx(plainly(np.concatenate(times_ms)))


def test_the_floor_is_chosen_on_one_half_and_judged_on_the_other() -> None:
    timers = {
        "stock": lab_timer(200, 200, 200, 200, spurious=1),
        "rto_min 5 ms": lab_timer(40, 90, 40, 90, spurious=1),  # best on the first half, worst on the second
        "rto_min 20 ms": lab_timer(60, 60, 60, 60, spurious=1),
        "rto_min 1 ms": lab_timer(1, 1, 1, 1, spurious=2),  # more spurious retransmissions than ours
        "priced": lab_timer(30, 45, 30, 45, spurious=1),
        "never": lab_timer(30, 45, 30, 45, spurious=0),
    }
    cell = Cell("x", timers)
    value, drawn = cell.over_floor("priced", P99)
    assert value == pytest.approx(np.sqrt(45 / 90 * 30 / 60)) and drawn == pytest.approx(value)
    assert cell.over_floor("never", P99)[0] == pytest.approx(np.sqrt(45 / 200 * 30 / 200))  # stock


def test_spurious_retransmissions_vary_as_their_runs_do() -> None:
    rng = np.random.default_rng(1)
    timers = {
        name: Timer.of_lab(lab_runs([np.ones(10)] * 8, rng.poisson(20, 8).astype(float).tolist()))
        for name in ("stock", "priced")
    }
    drawn = lab.more_spurious_drawn(Cell("x", timers), "priced", np.random.default_rng(2))
    more = timers["priced"].spurious - timers["stock"].spurious
    assert drawn.std() == pytest.approx(more.std(ddof=1) / np.sqrt(8), rel=0.15)
    single = Cell("x", {name: lab_timer(1.0) for name in timers})
    assert how(1, lab.more_spurious_drawn(single, "priced", np.random.default_rng(2))) == "undecided"


def test_the_same_seeds_are_drawn_for_all_timers() -> None:
    timers = {"stock": seeds_timer(1), "priced": seeds_timer(0.5), "rto_min 5 ms": seeds_timer(0.25, 9.0)}
    cell = SeedsCell("wired", timers)
    value, drawn = cell.ratio("priced", P99)
    assert value == pytest.approx(0.5) and np.allclose(drawn, 0.5)
    ours, stock = cell.over_stock("priced", "overruns_ms", "overruns")
    assert ours[0] / stock[0] == pytest.approx(0.5)


def test_a_floor_with_more_spurious_retransmissions_is_not_compared_with() -> None:
    timers = {"stock": seeds_timer(1), "priced": seeds_timer(0.5), "rto_min 5 ms": seeds_timer(0.25, 9.0)}
    over, _ = SeedsCell("wired", timers).over_floor("priced", P99)
    assert 0.4 < over < 0.6  # stock: the halves have other seeds
    timers["priced"] = seeds_timer(0.5, 9.5)
    over, _ = SeedsCell("wired", timers).over_floor("priced", P99)
    assert 1.6 < over < 2.4


@pytest.mark.parametrize(
    ("algorithm", "timer"),
    [
        ("cubic+stock", "stock"),
        ("cubic+stock+rto_min-5ms", "rto_min 5 ms"),
        ("cubic+stock+linear", "thin linear"),
        ("cubic+stock+no-rack", "RACK and probes off"),
        ("cubic+priced/spaced+conformal", "priced/spaced"),
    ],
)
def test_timers_of_the_lab_have_their_names(algorithm: str, timer: str) -> None:
    assert lab.timer_of(algorithm) == timer


def test_every_run_in_the_file_is_one_that_the_page_plans() -> None:
    """Test that the page plans every run in the file. Otherwise a scenario or an algorithm was renamed, and
    the page no longer finds its runs."""
    have = {run.identity for run in runs.read(FOLDER / "runs.parquet") if run.host == "lab"}
    planned = {identity for batch in lab.batches(FOLDER, "") for identity in batch.planned()}
    assert have and have <= planned


@pytest.mark.pages
def test_the_page_is_that_of_the_file(tmp_path: Path) -> None:
    page = PAGES["lab"]
    batches = page.batches(FOLDER, "")
    found = [
        run for run in runs.latest(runs.read(FOLDER / "runs.parquet")) if any(b.has(run) for b in batches)
    ]
    assert page.write(found, FOLDER, tmp_path / "lab.md") == 2
    assert (tmp_path / "lab.md").read_text() == (ROOT / page.target).read_text()
    for picture in ("lab", "lab-fades"):
        new, old = ((folder / "images" / f"{picture}.svg").read_text() for folder in (tmp_path, FOLDER))
        number = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
        assert number.sub("#", new) == number.sub("#", old)
        assert np.allclose([float(x) for x in number.findall(new)], [float(x) for x in number.findall(old)])
