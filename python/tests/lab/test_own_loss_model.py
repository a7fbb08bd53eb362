# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test a user's own loss model in the real kernel: each decision equals the core's decision on the logged
ACKs to the bit, and wrong weights are refused with the core's error message."""

from __future__ import annotations

from pathlib import Path

import pytest

import own_models
from samples import ROOT
from tcplearn import _native
from tcplearn.lab import check, guest, kernel_log, machine, run, scenario
from tcplearn.traces import tlog_losses

PAPER = ROOT / "experiments" / "hwang2018"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_models.trained(tmp_path_factory.mktemp("own"))


@pytest.mark.full
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


def refused(weights: str) -> str:
    with pytest.raises(ValueError, match=r"^model: word ") as raised:
        _native.LossClassifier("mlp", "fixed", {}, weights)
    return str(raised.value)


def test_the_kernel_refuses_wrong_weights_with_the_line_of_the_core(with_python: machine.Machine) -> None:
    texts = [text for text in own_models.WRONG.values() if text.strip()]
    given = [*texts, own_models.GOOD, "none", "x" * 65_537]
    said = check.check_specs(with_python, [f"loss_model\t{text}" for text in given])
    assert said[: len(texts)] == list(map(refused, texts))
    at_once = "model: it has to be written at once, in at most 65536 bytes"
    assert said[len(texts) :] == ["taken", "taken", at_once]
