# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What bench/latency_simulated.py makes of runs, against numpy on all response times."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import simulated_cells as cells


def _result(times_ms: np.ndarray[Any, Any], needless: float = 0.0) -> dict[str, Any]:
    metrics = {
        cells.NEEDLESS: needless,
        "sent_packets": 1000.0,
        "probes": 20.0,
        "timeouts": 1.0,
        "overruns": 2.0,
        "mean_overrun_ms": float(times_ms.mean()),
    }
    return {"run": {"metrics": metrics, "responses_us": (times_ms * 1000).tolist()}}


def _timer(factor: float, needless: float = 0.0) -> cells.Timer:
    """Of nine seeds; no two are alike."""
    runs = []
    for seed in range(1, 10):
        times_ms = factor * np.random.default_rng(seed).lognormal(3, 1, 1000 + 10 * seed)
        runs.append(cells.run_of(seed, _result(times_ms, needless)))
    return cells.Timer(tuple(runs))


def test_figures_are_those_of_all_response_times() -> None:
    times_ms = [np.random.default_rng(seed).lognormal(3, 1, 1000) for seed in range(5)]
    timer = cells.Timer(tuple(cells.run_of(k, _result(t)) for k, t in enumerate(times_ms)))
    every = np.concatenate(times_ms)
    assert timer.of(cells.P99) == pytest.approx(np.percentile(every, 99))
    assert timer.of(cells.P999) == pytest.approx(np.percentile(every, 99.9))
    assert timer.of(cells.SLOWEST) == pytest.approx(np.sort(every)[-100:].mean())


def test_the_same_seeds_are_drawn_for_all_timers() -> None:
    cell = cells.Cell("wired", {"stock": _timer(1), "priced": _timer(0.5), "rto_min 5 ms": _timer(0.25, 9.0)})
    value, drawn = cell.ratio("priced", cells.P99)
    assert value == pytest.approx(0.5) and np.allclose(drawn, 0.5)
    assert cell.overrun_ratio("priced")[0] == pytest.approx(0.5)
    assert cell.more_needless("rto_min 5 ms")[0] == pytest.approx(9)


def test_a_floor_with_more_needless_resends_is_not_compared_with() -> None:
    timers = {"stock": _timer(1), "priced": _timer(0.5), "rto_min 5 ms": _timer(0.25, 9.0)}
    over, _ = cells.Cell("wired", timers).over_floor("priced", cells.P99)
    assert 0.4 < over < 0.6  # stock: halves have other seeds
    timers["priced"] = _timer(0.5, 9.5)
    over, _ = cells.Cell("wired", timers).over_floor("priced", cells.P99)
    assert 1.6 < over < 2.4


def test_timers_have_the_names_of_the_other_page() -> None:
    specs = ("stock", "stock:rto_min_us=20000", "linear", "priced/spaced")
    assert [cells.timer_name(s) for s in specs] == ["stock", "rto_min 20 ms", "thin linear", "priced/spaced"]
