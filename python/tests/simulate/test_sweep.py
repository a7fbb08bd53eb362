# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test sweeps with a simulated ns-3 program: which results are stored, resumed and reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from conftest import PAPER, Simulate, until_on_disk
from tcplearn.__main__ import main
from tcplearn.simulate import interval

Rows = list[dict[str, Any]]

SWEEP = (
    f'extends = "{PAPER / "scenario-5.toml"}"\nname = "T"\n[profiles.t]\n[[profiles.t.grids]]\nseeds = 5\n'
    'algorithms = ["jacobson", "experts"]\ntimings = ["every-ack"]\nvariants = ["1Mbps"]\n'
    'vary = { "load.flows" = [30, 70] }\n'
)
RUNS = 20


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    return file


def simulated(engine: Path) -> list[str]:
    return (engine / "runs").read_text().split()


def test_finished_runs_are_not_repeated(fake_engine: Path, sweep: Path, simulate: Simulate) -> None:
    first = simulate(sweep, "--profile", "t")
    assert len(simulated(fake_engine)) == RUNS
    assert len({r["run"] for r in first}) == RUNS
    assert simulate(sweep, "--profile", "t") == first
    assert len(simulated(fake_engine)) == RUNS
    assert simulate(sweep, "--profile", "t", "--fresh") == first
    assert len(simulated(fake_engine)) == 2 * RUNS


def test_seeds_count_from_the_first(fake_engine: Path, sweep: Path, simulate: Simulate) -> None:
    first = simulate(sweep, "--profile", "t")
    assert {r["seed"] for r in first} == set(range(1, 6))
    sweep.write_text(SWEEP + "first_seed = 4\n")
    later = simulate(sweep, "--profile", "t")
    assert {r["seed"] for r in later} == set(range(4, 9))
    assert {r["run"] for r in first if r["seed"] > 3} == {r["run"] for r in later if r["seed"] < 6}


def test_what_determines_a_run_determines_its_key(fake_engine: Path, sweep: Path, simulate: Simulate) -> None:
    first = {r["run"] for r in simulate(sweep, "--profile", "t")}
    sweep.write_text(SWEEP.replace("[profiles.t]\n", "[profiles.t]\nscenario.topology.delay_ms = 21.0\n"))
    other = {r["run"] for r in simulate(sweep, "--profile", "t")}
    assert not first & other
    sweep.write_text(SWEEP + 'set = { "topology.delay_ms" = 21.0 }\n')  # of the grid, not of its profile
    assert {r["run"] for r in simulate(sweep, "--profile", "t")} == other
    sweep.write_text(SWEEP + "# a comment is not part of a run\n")
    assert {r["run"] for r in simulate(sweep, "--profile", "t")} == first


def test_a_crash_is_reported_and_the_sweep_goes_on(
    fake_engine: Path, sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (fake_engine / "crash").write_text("3")
    words = ["simulate", str(sweep), "--profile", "t", "--format", "json", "--out", str(tmp_path / "o")]
    assert main(words) == 1
    captured = capsys.readouterr()
    rows: Rows = json.loads(captured.out)
    assert len({r["run"] for r in rows}) == RUNS - 4
    lines = [line for line in captured.err.splitlines() if "seed 3" in line]
    assert len(lines) == 4
    assert "exit code 1: the fake engine was made to fail; again: " in lines[0]
    assert Path(lines[0].split()[-1]).exists()
    (fake_engine / "crash").unlink()
    assert main(words) == 0
    assert len(simulated(fake_engine)) == RUNS + 4


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_sweep_goes_on(
    fake_engine: Path, sweep: Path, tmp_path: Path, simulate: Simulate, how: signal.Signals
) -> None:
    whole = simulate(sweep, "--profile", "t", out=tmp_path / "whole")
    (fake_engine / "runs").unlink()
    (fake_engine / "slow").write_text("0.05")
    out = tmp_path / "killed"
    words = ["simulate", str(sweep), "--profile", "t", "--out", str(out), "-j", "2", "-q"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tcplearn", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ,
        text=True,
    )
    until_on_disk(6, out, process)
    process.send_signal(how)
    _, said = process.communicate(timeout=20)
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/[!.]*.json")}
    assert 6 <= len(kept) < RUNS
    there = f"{len(kept)} of {RUNS} runs kept in {out}; the same command goes on from there"
    assert said == (f"tcplearn: stopped: {there}\n" if how == signal.SIGINT else "")
    (fake_engine / "slow").unlink()
    assert simulate(sweep, "--profile", "t", out=out) == whole
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(simulated(fake_engine)) <= RUNS + 4  # what was running, and what a kill cut off


def test_a_full_disk_ends_a_sweep_in_a_line(
    fake_engine: Path, sweep: Path, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = small_disk / "runs"
    words = ["simulate", str(sweep), "--profile", "t", "--out", str(out), "-j", "2", "-q"]
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert f"no space left on device {small_disk}; make room there" in said.err
    kept = list(out.glob("runs/*/*"))
    assert 1 <= len(kept) < RUNS
    assert all(json.loads(path.read_text())["key"] == path.stem for path in kept)  # none in half


def test_intervals_are_students() -> None:
    for freedom in (1, 2, 3, 4, 5, 10, 23, 200):
        for p in (0.75, 0.95, 0.995):
            assert interval.t_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-9)
    mean, half = interval.mean_interval([1.0, 2.0, 3.0, 4.0], 0.9)
    low, high = stats.t.interval(0.9, 3, loc=2.5, scale=stats.sem([1, 2, 3, 4]))
    assert (mean - (half or 0), mean + (half or 0)) == pytest.approx((low, high))
