# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the weights of the loss classifier `history`: their fit, their card, and that the mean of earlier
losses equals the core's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from losses_made_up import table
from tcplearn import _native
from tcplearn.cli.app import main
from tcplearn.learn import export, history, perceptron

SMALL = ("--hidden", "4", "--starts", "2", "--epochs", "3", "--folds", "3", "-q")


def test_the_probability_is_the_cores() -> None:
    """Test the probability after more losses than the classifier remembers, with log odds beyond the limit
    that applies to one loss."""
    draw = np.random.default_rng(4)
    classifier = _native.LossClassifier("history")
    features, given, now = [], [], 0
    for k in range(40):
        for _ in range(int(draw.integers(3, 30))):
            now += int(draw.integers(500, 20_000))
            classifier.observe(now, int(20_000 + 30_000 * draw.random() * (k % 3)), 1, False)
        for _ in range(3):
            now += 700
            classifier.observe(now, 0, 0, True)
        at = (now, int(draw.integers(5, 60)), 40, 30)
        features.append(classifier.features(*at))
        given.append(classifier.decide(*at)[0])
        classifier.change(now, 40, 0, 1, at[1], 30)
    (wide,) = (model for model in export.shipped() if model.name == "wide")
    names = [one["name"] for one in _native.loss_features()]
    x = np.array(features)[:, [names.index(name) for name in wide.inputs]]
    odds = np.clip(perceptron.log_odds(wide, x), -history.ODDS_MAX, history.ODDS_MAX)
    core = history.defaults()
    assert (np.abs(odds) > core["most"]).any() and len(odds) > 2 * core["memory"]
    means = history.earlier(odds, np.zeros(len(odds), np.int64), core["memory"], core["most"])
    ours = perceptron.logistic(core["answer"] * odds + core["past"] * means + core["bias"])
    assert ours == pytest.approx(np.array(given), abs=1e-9)


def test_each_connection_has_its_own_mean() -> None:
    odds, connection = np.array([1.0, -2.0, 8.0, 4.0, 0.0]), np.array([7, 3, 7, 3, 7])
    assert history.earlier(odds, connection, 3, 3.0).tolist() == [0, 0, 0.5, -1, 0.5 + 2.5 / 3]


def test_known_weights_are_found() -> None:
    draw = np.random.default_rng(2)
    columns = np.stack([draw.normal(0, 3, 40_000), draw.normal(0, 2, 40_000), np.ones(40_000)], axis=1)
    true = np.array([0.75, 0.45, -0.25])
    congested = (draw.random(40_000) < perceptron.logistic(columns @ true)).astype(np.int64)
    assert history.fit(columns, congested) == pytest.approx(true, abs=0.04)
    doubled = np.concatenate([columns, columns[:9000]]), np.concatenate([congested, congested[:9000]])
    times = np.where(np.arange(40_000) < 9000, 2, 1)
    assert history.fit(columns, congested, times) == pytest.approx(history.fit(*doubled), abs=1e-3)


def test_cards_show_what_is_deployed(tmp_path: Path) -> None:
    file = tmp_path / "losses.parquet"
    table(rows=40).write_parquet(file)
    command = ["train", "loss", str(file), "-o", str(tmp_path), "--name", "tried", "--history", *SMALL]
    assert main(command) == 0
    rows: dict[str, dict[str, list[list[str]]]] = {}
    for card in ("tried", "history"):
        lines = (tmp_path / f"loss_{card}.md").read_text().splitlines()
        cells = [[cell.strip(" `*") for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
        rows[card] = {}
        for row in cells:
            rows[card].setdefault(row[0], []).append(row)
    for card, threshold, name in (("tried", "0.4", "tried"), ("history", "0.35", "history")):
        everywhere, both = rows[card][f"{name}, deployed threshold {threshold}"]
        assert len(rows[card][f"{name}, best threshold"]) == 2 and len(both) == 7
        assert float(everywhere[1]) == pytest.approx(
            (float(everywhere[3]) + float(everywhere[4])) / 2, abs=2e-3
        )
    assert rows["tried"]["0.4"][0][1:] == rows["tried"]["tried, deployed threshold 0.4"][0][3:5]
    assert rows["history"]["tried, deployed threshold 0.4"] == rows["tried"]["tried, deployed threshold 0.4"]
    core = history.defaults()
    for weight in history.WEIGHTS:
        ((_, fitted, deployed),) = rows["history"][weight]
        assert float(deployed) == core[weight] and " to " in fitted


def test_history_needs_connections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "losses.parquet"
    table(4, 20).drop("flow").write_parquet(file)
    assert main(["train", "loss", str(file), "-o", str(tmp_path), "--history", *SMALL]) == 2
    assert "no column flow" in capsys.readouterr().err
