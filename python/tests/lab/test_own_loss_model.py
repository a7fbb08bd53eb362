# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A user's own model in the real kernel: each decision is the core's on the logged ACKs, to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest

import own_models
from samples import ROOT
from tcplearn.lab import guest, kernel_log, run, scenario
from tcplearn.traces import tlog_losses

PAPER = ROOT / "experiments" / "hwang2018"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_models.trained(tmp_path_factory.mktemp("own"))


def test_the_kernel_decides_as_replay(own: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        f'extends = "{PAPER / "lab" / "loss-1e-2.toml"}"\nname = "mine"\n[profiles.own]\n'
        'transfer = { bytes = "2MB" }\nruns = { count = 1, seed = 1, limit_s = 300 }\n'
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
