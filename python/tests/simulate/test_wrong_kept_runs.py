# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a run whose stored result is damaged is simulated again, with a line that names the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wrong_results
from conftest import PAPER, Simulate
from tcplearn.cli import main
from tcplearn.simulate import sweep
from tcplearn.simulate.results import RunStore

SWEEP = (
    f'extends = "{PAPER / "scenario-5.toml"}"\nname = "T"\n[profiles.t]\n[[profiles.t.grids]]\nseeds = 3\n'
    'algorithms = ["jacobson"]\ntimings = ["every-ack"]\nvariants = ["1Mbps"]\n'
    'vary = { "load.flows" = [30] }\n'
)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    return file


def test_each_is_simulated_again(
    fake_engine: Path, scenario: Path, tmp_path: Path, simulate: Simulate, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    first = simulate(scenario, "--profile", "t", "--flows", out=out)
    one, other, good = sorted(out.glob("runs/*/*.json"))
    one.write_text(json.dumps({**json.loads(one.read_bytes()), "flows": {"a": 1}}))
    other.write_bytes(good.read_bytes())
    words = ["simulate", str(scenario), "--profile", "t", "--flows", "--format", "json", "--out", str(out)]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == first
    assert len((fake_engine / "runs").read_text().split()) == 3 + 2
    warned = [
        line.partition("warning: ")[2].partition(": not the result")[0] for line in shown.err.splitlines()
    ]
    assert sorted(warned) == [str(one), str(other)]
    assert main(words) == 0 and not capsys.readouterr().err


def test_whatever_is_wrong(
    fake_engine: Path, scenario: Path, tmp_path: Path, simulate: Simulate, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate(scenario, "--profile", "t", out=tmp_path / "out")
    kept, job = RunStore(tmp_path / "out"), sweep.plan([scenario], "t").jobs[0]
    file = kept.path(job.key)
    wrong_results.check(kept, job, file, capsys)
    found = json.loads(file.read_bytes())
    for columns, rows in (
        (["a"], [[1, 2]]),
        (["a"], [[[1]]]),
        (["a"], {"a": 1}),
        ([1], [[1]]),
        (None, [[1]]),
    ):
        file.write_text(json.dumps({**found, "losses": {"columns": columns, "rows": rows}}))
        assert kept.get(job) is None
    file.write_text(json.dumps({**found, "losses": {"columns": ["a"], "rows": [[1], ["x"]]}}))
    assert kept.get(job)
