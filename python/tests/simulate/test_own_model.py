# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test a user's own loss model in ns-3: each decision equals the core's decision on the recorded features to
the bit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest

import own_models
from samples import ROOT
from tcplearn import losses
from tcplearn.__main__ import main
from tcplearn.simulate import engine, run_job, scenario

FIXED = "@fixed"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_models.trained(tmp_path_factory.mktemp("own"))


def written(folder: Path, classifier: str) -> Path:
    """Write a scenario that names the model beside it by its file name, and return the scenario's path."""
    file = folder / "own.toml"
    file.write_text(
        f'extends = "{ROOT / "experiments" / "hwang2018" / "training.toml"}"\nname = "own"\n'
        f'[scenario.loss]\nclassifier = "{classifier}"\nacts = true\n'
        "[profiles.t]\n[[profiles.t.grids]]\nseeds = 2\n"
        'vary = { "topology.loss_rate" = [1e-2], "load.udp_share" = [0.4] }\n'
    )
    return file


def decided(folder: Path, classifier: str) -> pl.DataFrame:
    out = folder / "losses.parquet"
    words = ["simulate", str(written(folder, classifier)), "--profile", "t", "--losses", str(out)]
    assert (
        main([*words, "--format", "json", "-o", str(folder / "rows.json"), "--out", str(folder), "-q"]) == 0
    )
    return pl.read_parquet(out)


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("arithmetic", ["fixed", "double"])
def test_each_decision_is_that_of_replay(model: Path, arithmetic: str) -> None:
    named = f"mlp:model={model.name},threshold=0.35"
    found = decided(model.parent, named + (FIXED if arithmetic == "fixed" else ""))
    core = losses.classifier(f"mlp:model={model},threshold=0.35", arithmetic)
    again = core.judge(found.select(losses.features()).to_numpy(order="c").astype(float))
    assert len(found) >= 20
    assert found["p_congestion"].to_list() == again.tolist()
    assert found["called_random"].cast(bool).to_list() == [p < 0.35 for p in again.tolist()]
    assert set(found["called_random"].cast(bool)) == {True, False}
    other = losses.classifier("mlp", arithmetic).judge(found.select(losses.features()).to_numpy(order="c"))
    assert (other != again).any()


def test_a_result_is_kept_under_the_weights_not_under_the_file(model: Path, tmp_path: Path) -> None:
    text = json.loads(model.read_text())

    def key(name: str, bias: float) -> str:
        (tmp_path / name).write_text(json.dumps(text | {"output_bias": bias}))
        (run,) = scenario.runs(written(tmp_path, f"mlp:model={name}"), "smoke")
        return run_job.job(run, 1.0).key

    assert key("a.json", 0.5) == key("b.json", 0.5) != key("a.json", 0.25)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "no such file"),
        ("[" * 100_000, "nested too deeply"),
        ('{"name": "x"}', "not a model: inputs, mean"),
        ("", "not JSON"),
    ],
)
def test_a_wrong_model_is_one_line(
    tmp_path: Path, content: str | None, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "bad.json").write_text(content)
    file = written(tmp_path, "mlp:model=bad.json")
    assert main(["simulate", str(file), "--profile", "smoke", "-q", "--plan"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line and "bad.json" in line


@pytest.mark.usefixtures("ns3")
def test_the_program_of_ns3_refuses_wrong_weights_itself(tmp_path: Path) -> None:
    """Test that the ns-3 program itself refuses wrong weights, because another program may have written its
    input file."""
    (run,) = scenario.runs(written(tmp_path, "mlp"), "smoke")
    document = run_job.job(run, 1.0).arguments[0]
    for text in own_models.WRONG.values():
        document["loss"] |= {"classifier": "mlp:model=own", "weights": text}
        (tmp_path / "run.json").write_text(json.dumps(document))
        done = subprocess.run([engine.program(), tmp_path / "run.json"], capture_output=True, text=True)
        assert done.returncode == 2 and "model: word " in done.stderr and done.stderr.count("\n") == 1
