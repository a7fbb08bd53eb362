# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's page on the clock of its time, from made-up results: each reading is what was put in."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import PAPER
from tcplearn.__main__ import main
from tcplearn.papers.nunes2014.clock_runs import BASE, CLOCK, GIVEN, SCORED
from tcplearn.papers.nunes2014.figures import FIGURES
from tcplearn.simulate import sweep
from tcplearn.simulate.results import RunStore
from tcplearn.simulate.scenario import Run

PROFILE = f"""
[profiles.t]
[[profiles.t.grids]]
algorithms = ["{BASE}"]
timings = ["{CLOCK}"]
seeds = 2
[[profiles.t.grids]]
algorithms = ["experts"]
timings = {list(GIVEN)}
seeds = 2
"""
LESS = {4: 'variants = ["paper"]\n', 5: 'variants = ["1Mbps"]\nvary = { "load.flows" = [30, 100] }\n'}
#: In ticks, by what the experts are given; of Jacobson's, by what is scored.
EXPERTS = dict(zip(GIVEN, (1.0, 0.5, 0.25), strict=True))
JACOBSON = dict(zip(SCORED.values(), (2.0, 0.5, 0.25), strict=True))


def errors(run: Run) -> dict[str, float]:
    if run.algorithm == BASE:
        return JACOBSON
    return dict.fromkeys(SCORED.values(), EXPERTS[run.timing])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page of made-up runs; one flow of two has no sample."""
    tmp_path = tmp_path_factory.mktemp("clock")
    folder, store = tmp_path / "nunes2014", RunStore(tmp_path / "runs")
    folder.mkdir()
    for name in ("published.csv", "published-live.csv"):
        shutil.copy(PAPER / name, folder)
    for number in range(1, 6):
        base = PAPER / f"scenario-{number}.toml"
        less = LESS.get(number, 'variants = ["paper"]\nvary = { "load.flows" = [34, 100] }\n')
        profile = PROFILE.replace("seeds = 2\n", f"seeds = 2\n{less}")
        (folder / base.name).write_text(f'extends = "{base}"\n{profile}')
    (folder / "simulated-notes.md").write_text("What holds.\n\n## Why\n\nBecause.\n")
    planned = sweep.plan(sorted(folder.glob("scenario-*.toml")), "t")
    jobs = {job.key: job for job in planned.jobs}
    for run, key in planned.runs:
        measured = {"mean_rtt_ms": 350.0, **errors(run), "mean_abs_error_ticks": 9.0}
        rest = {"rtt_variance_ticks2": 0.25, "mean_cwnd_bytes": 3000.0, "mean_queue_bytes": 100.0}
        counts = {"timeouts": 4.0, "needless_timeouts": 1.0, "delivered_packets": 500.0}
        shares = {"retransmitted_share": 0.1 if run.algorithm == BASE else 0.05, "delivery_ratio": 0.9}
        flows = [
            {"flow": 0, "metrics": {"samples": 9.0, **measured}},
            {"flow": 1, "metrics": {"samples": 0.0}},
        ]
        series = {"bin_s": 4, "bytes": [1000.0, None, 2000.0]}
        result: dict[str, Any] = {
            "run": {
                "metrics": {**measured, **rest, **counts, **shares},
                "cwnd_over_time": series,
                "cost": {"cpu_s": 1.0},
            },
            "flows": flows,
        }
        store.put(jobs[key], result)
    words = ["papers", "nunes2014", "--only", "simulated", "--profile", "t", "--scenarios", str(folder)]
    assert main([*words, "--out", str(store.folder), "-o", str(tmp_path / "page")]) == 0
    return tmp_path / "page"


@pytest.fixture
def page(made: Path) -> str:
    return (made / "simulated.md").read_text()


def test_each_reading_is_in_every_table(page: str) -> None:
    assert (
        page.count(
            "| scored against the count | scored against the count less one | scored against the RTT |"
        )
        >= 2
    )
    assert (
        "| the count less one | 4.00; 11 of 11; 11 above, 0 below | 1.00; 0 of 11; 0 above, 0 below |" in page
    )
    assert "| 0.1 to 1 | the RTT | 2.00 / 0.25: +1.75 ± 0.00; 22 of 22 |" in page
    assert "| under 0.1 | the count | – | – | – |" in page
    row = "| the count | 2.00 / 1.00: 2.00 (2.00 to 2.00) | 0.50 / 1.00: 0.50 (0.50 to 0.50) |"
    assert f"| III | paper | 34 | 2 | 0.70 | 0.25 {row}" in page
    assert "| 0.25; paper 0.48 |" in page
    assert (
        "| the count | 10.0% / 5.0% | 0.50 (0.50 to 0.50) | 4.00 (1.00) / 4.00 (1.00) | 500 / 500 |" in page
    )


def test_a_person_says_first_what_holds(page: str) -> None:
    assert page.index("What holds.") < page.index("## Who is nearer") < page.index("## Why")


def test_the_papers_own_figures_disagree(page: str) -> None:
    assert "| live-2 | 9% less (67.64 against 74.11) | 32% less (250.8 against 367.7) |" in page


def test_its_figures_are_the_papers(page: str, made: Path) -> None:
    for figure in FIGURES:
        picture = made / "figures" / figure.file
        if figure.label[0].isdigit():
            words = " ".join(ElementTree.parse(picture).getroot().itertext())
            assert figure.title in words and f"(figures/{figure.file})" in page
    drawn = {f.label: f.metric for f in FIGURES}
    assert all(drawn[number] == "delivered_packets" for number in ("4", "12", "25"))  # section 5.1
