# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test pages of experiments, made from ns-3 runs that the tests do and store in a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.lib import runs
from tcplearn.__main__ import main


@pytest.mark.full
@pytest.mark.usefixtures("ns3")
def test_a_page_of_small_runs_of_ns3(tmp_path: Path) -> None:
    words = ["experiments", "baddam2018", "--page", "simulated", "--profile", "smoke", "-q", "-j", "1"]
    words += ["--file", str(tmp_path / "runs.parquet"), "--out", str(tmp_path), "-o", str(tmp_path)]
    assert main(words) == 2  # none is there
    assert main([*words, "--run"]) == 0
    text = (tmp_path / "simulated.md").read_text()
    assert text.count("| model, known places | 300 | ") == 1
    (tmp_path / "runs").rename(tmp_path / "elsewhere")  # of the file alone
    assert main(words) == 0 and (tmp_path / "simulated.md").read_text() == text


@pytest.mark.full
@pytest.mark.usefixtures("ns3")
def test_the_page_on_causes_of_losses_from_small_runs_of_ns3(tmp_path: Path) -> None:
    words = ["experiments", "hwang2018", "--page", "simulated", "--profile", "smoke", "-q", "-j", "1"]
    words += ["--file", str(tmp_path / "runs.parquet"), "--out", str(tmp_path), "-o", str(tmp_path)]
    assert main([*words, "--run"]) == 0
    found = runs.read(tmp_path / "runs.parquet")
    assert {run.scenario for run in found} >= {"5", "7", "9", "harm", "hwang2018", "calibration"}
    goodputs = {
        run.labels["variant"]: run.metrics["goodput_mbps"]
        for run in found
        if run.scenario == "5" and run.labels["topology.loss_rate"] == 0.01
    }
    text = (tmp_path / "simulated.md").read_text()
    (row,) = (line.split(" | ") for line in text.splitlines() if line.startswith("| NewReno with oracle | 4"))
    assert row[5] == f"{goodputs['oracle']:.2f}" and goodputs["oracle"] > goodputs["newreno"]
    assert text.count("| met |") + text.count("| missed |") > 0
    (tmp_path / "runs").rename(tmp_path / "elsewhere")  # of the file alone
    assert main(words) == 0 and (tmp_path / "simulated.md").read_text() == text


@pytest.mark.full
@pytest.mark.usefixtures("ns3")
def test_nunes2014s_pages_of_small_runs_of_ns3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["experiments", "nunes2014", "--profile", "smoke", "-q", "-j", "1", "--out", str(tmp_path)]
    words += ["--file", str(tmp_path / "runs.parquet"), "-o", str(tmp_path)]
    assert main([*words, "--page", "simulated", "--run"]) == 0
    assert "8 of 8 runs, 4 figures" in capsys.readouterr().err
    text = (tmp_path / "simulated.md").read_text()
    for given in ("clock count", "clock count − 1", "RTT"):
        assert text.count(f"| {given} | ") == 6  # by reading, by three sizes, by network, and of what is sent
    assert main([*words, "--page", "rounded", "--run", "scenario-5/smoke", "scenario-6/smoke"]) == 0
    assert "8 of 28 runs, 7 figures" in capsys.readouterr().err
    text = (tmp_path / "simulated-rounded.md").read_text()
    row = r"\| V \|  \| 30 \| [0-9.]+ \| 30 of 30 \| \d+ \| not run \| [0-9.]+ / [0-9.]+: [0-9.]+ \(one "
    assert len(re.findall(row, text)) == 1
