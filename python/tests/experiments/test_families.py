# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test experiments/families: the drawn paths, the statistics over them, and the page."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from experiments.families import PAGES, draw
from experiments.families.logs import (
    FIGURES,
    FLOORS,
    LIMIT,
    LIMIT_DOUBLING,
    LIMITS,
    P99,
    SLOW,
    SPURIOUS,
    STOCK,
    Drawing,
    Paths,
    of_lab,
)
from experiments.families.page import OURS
from experiments.lib import runs
from experiments.lib.pages import ROOT
from experiments.lib.runs import Run

FOLDER = ROOT / "experiments" / "families"
TIMERS = (*FLOORS, "s-rto", *OURS, *LIMITS)


def test_the_scenario_files_are_what_the_seed_draws(tmp_path: Path) -> None:
    draw.write(tmp_path)
    written = sorted(file.relative_to(tmp_path) for file in tmp_path.rglob("*.toml"))
    assert len(written) == len(draw.SETS) + sum(draw.IN_LAB.values()) + draw.EACH_LAB_ONLY * len(
        draw.LAB_ONLY
    )
    for file in written:
        assert (FOLDER / file).read_text() == (tmp_path / file).read_text(), file


def test_each_family_is_drawn_five_times_in_each_set_and_never_alike() -> None:
    drawn = {name: list(draw.paths(name)) for name in draw.SETS}
    for of in drawn.values():
        assert [family for family, *_ in of] == [family for family in draw.FAMILIES for _ in range(draw.EACH)]
    tables = [repr((table, more)) for of in drawn.values() for _, _, table, more in of]
    assert len(set(tables)) == len(tables) == len(draw.SETS) * draw.EACH * len(draw.FAMILIES)


def _run(path: str, timer: str, seed: int, scale: float, spurious: float = 0.0) -> Run:
    times_ms = 100 * scale * random.Random(f"{path} {seed}").uniform(0.9, 1.1)
    metrics = dict.fromkeys(FIGURES.values(), times_ms) | {SPURIOUS: spurious, "requests": 1500.0}
    metrics |= {"overruns": 4.0, "mean_overrun_ms": 50 * scale}
    labels = {"variant": path, "tcp.resend": timer, "timing": "every-ack"}
    return Run("ns3", f"families-{draw.JUDGED}", "full", "linux", seed, seed, labels, metrics=metrics)


#: How slow each timer is in the invented runs, relative to stock, and its spurious retransmissions in 1,000.
SCALE = dict.fromkeys(TIMERS, 1.0) | {
    OURS[0]: 0.6,
    "stock:rto_min_us=5000": 0.5,
    LIMIT_DOUBLING: 0.36,
    LIMIT: 0.25,
}
EXTRA = {"stock:rto_min_us=5000": 20.0}


def invented() -> list[Run]:
    return [
        _run(f"{family}-{n}", timer, seed, SCALE[timer], EXTRA.get(timer, 0.0))
        for family in draw.FAMILIES
        for n in (1, 2)
        for timer in TIMERS
        for seed in (1, 2, 3, 4)
    ]


def test_runs_with_equal_seeds_are_paired() -> None:
    paths = Paths(invented())
    value, drawn = Drawing(paths).over_stock(OURS[0], P99, "")
    assert value == pytest.approx(0.6) and np.allclose(drawn, 0.6)  # the seeds' own variation cancels
    assert paths.gains_and_harms(OURS[0], SLOW) == (2 * len(draw.FAMILIES), 0, 0)
    assert paths.gains_and_harms(OURS[1], SLOW) == (0, 2 * len(draw.FAMILIES), 0)


def test_the_share_of_the_way_is_a_ratio_of_logarithms() -> None:
    value, drawn = Drawing(Paths(invented())).share(OURS[0], SLOW, LIMIT_DOUBLING, 0.9)
    assert value == pytest.approx(math.log(0.6) / math.log(0.36)) == pytest.approx(0.5)
    assert np.allclose(drawn, 0.5)


def test_the_best_floor_causes_no_more_spurious_retransmissions() -> None:
    runs_ = invented()
    assert Drawing(Paths(runs_)).over_floor(OURS[0], P99)[0] == pytest.approx(
        0.6
    )  # over stock: 5 ms costs 20
    for run in runs_:
        if run.labels["tcp.resend"] == OURS[0]:
            run.metrics[SPURIOUS] = 20.0  # type: ignore[index]
    assert Drawing(Paths(runs_)).over_floor(OURS[0], P99)[0] == pytest.approx(0.6 / 0.5)


def test_a_family_that_is_harmed_is_named() -> None:
    runs_ = [run for run in invented() if not str(run.labels["variant"]).startswith("slots")]
    runs_ += [
        _run(f"slots-{n}", t, s, 1.2 if t == OURS[0] else 1.0)
        for n in (1, 2)
        for t in TIMERS
        for s in (1, 2, 3, 4)
    ]
    drawing = Drawing(Paths(runs_))
    assert drawing.harmed_families(OURS[0], SLOW, 1.02) == ["slots"]
    assert drawing.paths.wholly_above(OURS[0], SLOW, 1.10) == ["slots-1", "slots-2"]
    assert drawing.overrun(OURS[0], "fades")[0] == pytest.approx(0.6)
    assert drawing.judged(SLOW, LIMIT, 0.9) == 2 * (len(draw.FAMILIES) - 1)  # not those of slots


@pytest.mark.parametrize(
    ("algorithm", "timer"),
    [
        ("cubic+stock", STOCK),
        ("cubic+stock+rto_min-5ms", "stock:rto_min_us=5000"),
        ("cubic+priced/backoff-1.5", "priced/backoff-1.5"),
    ],
)
def test_timers_of_the_lab_have_the_names_of_ns3(algorithm: str, timer: str) -> None:
    assert of_lab(Run("lab", "families-fades-1", "full", algorithm, 0, 341)) == ("fades-1", timer)


def test_the_page_is_made_of_the_stored_runs(tmp_path: Path) -> None:
    PAGES["drawn"].write(runs.read(FOLDER / "runs.parquet"), FOLDER, tmp_path / "drawn.md")
    assert (
        (tmp_path / "drawn.md").read_text().endswith((FOLDER / "drawn.md").read_text().split("-->\n", 1)[1])
    )
