# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014's page from made-up results: every figure drawn, every ratio the one that was put in."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import PAPER
from tcplearn.__main__ import main
from tcplearn.papers.nunes2014.figures import FIGURES
from tcplearn.simulate import sweep
from tcplearn.simulate.results import RunStore
from tcplearn.simulate.scenario import Run

PROFILE = """
[profiles.t]
[[profiles.t.grids]]
timings = ["every-ack/500ms", "one-per-rtt/500ms"]
seeds = 2
"""
LESS = {
    3: 'variants = ["paper", "range-250m"]\nvary = { "load.flows" = [34, 130] }\n',
    4: 'variants = ["paper"]\n',
    5: 'variants = ["10Mbps", "1Mbps"]\nvary = { "load.flows" = [30, 100] }\n',
    6: "",
    7: 'variants = ["codel"]\n',
}
ERRORS = {"jacobson/nunes2014": 3.0, "experts": 1.5}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "nunes2014"
    out.mkdir()
    shutil.copy(PAPER / "published.csv", out)
    for number in range(1, 8):
        base = PAPER / f"scenario-{number}.toml"
        less = LESS.get(number, 'variants = ["paper"]\nvary = { "load.flows" = [34] }\n')
        (out / base.name).write_text(f'extends = "{base}"\n{PROFILE}{less}')
    return out


def stored(folder: Path, store: RunStore, error: Callable[[Run], float | None]) -> None:
    planned = sweep.plan(sorted(folder.glob("scenario-*.toml")), "t")
    jobs = {job.key: job for job in planned.jobs}
    for run, key in planned.runs:
        value = error(run)
        measured = {
            "retransmitted_share": 0.1,
            "delivery_ratio": 0.9,
            "goodput_pps": 5.0,
            "delivered_packets": 500.0,
            "mean_queue_bytes": 100.0,
        }
        if value is not None:
            measured |= {"mean_abs_error_ticks": value, "mean_abs_error_ms": value * 500, "bias_ms": -50.0}
            measured |= {"mean_rtt_ms": 2000.0, "mean_cwnd_bytes": 3000.0, "rtt_variance_ticks2": 0.25}
        flows = [{"flow": 0, "metrics": {"samples": 10.0 if value is not None else 0.0}}]
        series = {"bin_s": 20, "bytes": [1000.0, None, 2000.0]}
        of_run = {"metrics": measured, "cwnd_over_time": series, "cost": {"cpu_s": 1.0}}
        result: dict[str, Any] = {"run": of_run, "flows": flows}
        store.put(jobs[key], result)


def drawn(folder: Path, tmp_path: Path, code: int = 0) -> str:
    words = ["papers", "nunes2014", "--profile", "t", "--scenarios", str(folder)]
    out = tmp_path / "page"
    assert main([*words, "--out", str(tmp_path / "runs"), "-o", str(out)]) == code
    return (out / "simulated-rounded.md").read_text() if code == 0 else ""


def test_every_figure_and_ratio(folder: Path, tmp_path: Path) -> None:
    stored(folder, RunStore(tmp_path / "runs"), lambda run: ERRORS.get(run.algorithm, 1.0) * run.seed)
    text = drawn(folder, tmp_path)
    for figure in FIGURES:
        picture = ElementTree.parse(tmp_path / "page" / "figures-rounded" / figure.file).getroot()
        words = " ".join(picture.itertext())
        assert figure.title in words and "every-ack/500ms" in words
        assert f"(figures-rounded/{figure.file})" in text
    assert "| V | 10Mbps | 30 | 4 | 2 (2 to 2) | 2 (2 to 2) | 4 |" in text
    rest = "| 4.5 | 2.25 | 2 (2 to 2) | -0.10 | 1.5 | 1.5 | 1.5 | experts nearer |"
    assert f"| III | paper | one-per-rtt/500ms | 130 | 2 {rest}" in text
    assert "| experts | 0.5 | 0.5 | 0 of " in text and "| tracking | 0.333 | 0.333 | " in text
    rest = "2 to 2 over 8 conditions, 8 intervals above 1, 0 below"
    assert re.search(rf"\| 22 \| V .* \| 4 ratio \| {rest} \|", text)
    assert "| – | I | rtt_variance_ticks2 | load.flows=34 | – | 0.4763 ticks | 0.25 to 0.25 |" in text


def test_the_papers_figures_are_all_there() -> None:
    numbers = {int(f.label.partition("-")[0]) for f in FIGURES if f.label[0].isdigit()}
    assert numbers == set(range(2, 21)) | set(range(22, 26))  # 21 is a drawing of the network


def test_a_network_that_carries_nothing_is_named(folder: Path, tmp_path: Path) -> None:
    def error(run: Run) -> float | None:
        if run.labels.get("variant") == "paper":
            return None
        if run.algorithm.startswith("tracking") and run.seed == 1:
            return None  # only here no flow got through
        return 0.0 if run.algorithm == "jacobson/nunes2014" else 1.0

    stored(folder, RunStore(tmp_path / "runs"), error)
    text = drawn(folder, tmp_path)
    assert "| III | paper | 34 | 0 of 2 | 0 | – |" in text
    assert "| III | range-250m | 34 | 4 | no ratio: 0 / 1 | no ratio: 0 / 1 | 2.4 |" in text
    assert "no error at all: every sample is one tick" in text
    pictures = tmp_path / "page" / "figures-rounded"
    assert (pictures / "figure-03.svg").exists() and not (pictures / "figure-02.svg").exists()


def test_no_runs_no_page(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn(folder, tmp_path, code=2)
    assert "no runs of profile t; first: tcplearn simulate" in capsys.readouterr().err
