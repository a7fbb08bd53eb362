# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A loss classifier's own model, trained by the documented commands, decides alike in replay, ns-3 and the
kernel: each decision that a host has recorded is made again from the recorded features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from samples import ROOT
from tcplearn import losses
from tcplearn.__main__ import main
from tcplearn.lab import guest, kernel_log, run, scenario
from tcplearn.simulate import engine
from tcplearn.traces import tlog_losses

PAPER = ROOT / "experiments" / "hwang2018"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model, trained on losses in a few networks."""
    folder = tmp_path_factory.mktemp("own")
    rows = folder / "losses.parquet"
    wide = ["simulate", PAPER / "wide.toml", "--profile", "smoke", "--losses", rows]
    assert main([*map(str, wide), "--out", str(folder), "-o", str(folder / "rows.csv"), "-q"]) == 0
    train = ["train", "loss", str(rows), "-o", str(folder / "model"), "--name", "own", "-q"]
    assert main([*train, "--folds", "4", "--hidden", "8", "--epochs", "5"]) == 0
    return folder / "model" / "loss_own.json"


def test_ns3_decides_as_replay(own: Path, tmp_path: Path) -> None:
    engine.build()
    rows = tmp_path / "losses.parquet"
    (tmp_path / "mine.toml").write_text(
        f'extends = "{PAPER / "training.toml"}"\nname = "mine"\n'
        f'[scenario.loss]\nclassifier = "mlp:threshold=0.5,model={own}@fixed"\nacts = true\n'
    )
    words = ["simulate", tmp_path / "mine.toml", "--profile", "smoke", "--losses", rows, "--out", tmp_path]
    assert main([*map(str, words), "-o", str(tmp_path / "rows.csv"), "-q"]) == 0
    found = pl.read_parquet(rows)
    answers = losses.classifier(f"mlp:model={own}").judge(found.select(losses.features()).to_numpy())
    # the features are printed with fewer digits than the classifier had
    assert len(found) > 5 and np.allclose(answers, found["p_congestion"], atol=1e-3)
    assert (found["called_random"] == (found["p_congestion"] < 0.5)).all()
    assert not np.allclose(
        losses.classifier("mlp").judge(found.select(losses.features()).to_numpy()), answers
    )


def test_the_kernel_decides_as_replay(own: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        f'extends = "{PAPER / "lab" / "loss-1e-2.toml"}"\nname = "mine"\n[profiles.own]\n'
        'transfer = { bytes = "1MB" }\nruns = { count = 1, seed = 1, limit_s = 300 }\n'
        f'algorithms = {{ congestion = ["reno"], plain = [], loss = ["mlp:model={own}"] }}\n'
    )
    chosen = scenario.load(tmp_path / "mine.toml", "own")
    run.run(chosen, run.Options(out=tmp_path / "kept"))
    (kept,) = (tmp_path / "kept").glob("mine-*")
    (arm,) = (arm for arm in guest.arms(chosen, 0) if arm.loss)
    c = kernel_log.opened(kept / arm.folder / "log").connection
    mine = tlog_losses.compare(c, arm.loss)
    assert mine.decisions >= 3 and mine.features == mine.answers == 0
    assert tlog_losses.compare(c, "mlp").answers > 0
