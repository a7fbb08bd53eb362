# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn train loss` on invented losses: its output, the input that it refuses, and its scores
against simple implementations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from losses_made_up import INFORMED, table
from tcplearn import losses
from tcplearn.cli.app import main
from tcplearn.learn import dataset, perceptron, scores, trials
from tcplearn.learn.perceptron import Choices

SMALL = ("--hidden", "4", "--starts", "2", "--epochs", "3", "--folds", "3", "-q")


@pytest.fixture(scope="module")
def losses_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("losses") / "losses.parquet"
    table().write_parquet(path)
    return path


def test_a_model_its_card_and_its_pictures(
    losses_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    resample = ("--events", "50", "--tests", "60", "--times", "2")
    assert (
        main(["train", "loss", str(losses_file), "-o", str(tmp_path), "--name", "tried", *SMALL, *resample])
        == 0
    )
    out = capsys.readouterr().out
    assert "tried" in out and "boosting" in out and INFORMED in out
    card = (tmp_path / "loss_tried.md").read_text()
    for heading in ("## Data", "## Choices", "## Results on held-out scenarios", "## The paper's protocol"):
        assert heading in card
    assert json.loads((tmp_path / "loss_tried.json").read_text())["name"] == "tried"
    for picture in ("calibration", "importances"):
        assert (tmp_path / f"loss_tried-{picture}.svg").read_text().startswith("<svg")
        assert f"loss_tried-{picture}.svg" in card


def test_a_card_has_slices_and_what_each_choice_matters(tmp_path: Path) -> None:
    paths = [
        {
            "topology.queue": "codel" if k % 2 else "droptail",
            "topology.rate_mbps": 2.0 + k,
            "topology.rtt_ms": 60.0,
        }
        for k in range(12)
    ]
    about = pl.DataFrame(
        {"scenario": [f"s{k}" for k in range(12)], "parameters": [json.dumps(path) for path in paths]}
    )
    file = tmp_path / "losses.parquet"
    table(rows=20).join(about, on="scenario", how="left").write_parquet(file)
    command = ["train", "loss", str(file), "-o", str(tmp_path), "--name", "tried", *SMALL, "--vary"]
    assert main(command) == 0
    card = (tmp_path / "loss_tried.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in card.splitlines() if "|" in line]
    scenarios = {row[0]: row[1] for row in rows}
    assert scenarios["queue: codel"] == scenarios["queue: droptail"] == "6"
    assert scenarios["BDP, packets: 10 to 50"] == "8" and scenarios["BDP, packets: 50 to 200"] == "4"
    for choice in ("as chosen", "no scaling", "4 hidden units", "50% of the scenarios"):
        assert any(name.startswith(choice) for name in scenarios)


def test_parameters_that_cannot_be_read_say_nothing(losses_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "losses.parquet"
    table(rows=5).with_columns(parameters=pl.lit("[1")).write_parquet(file)
    assert all(about == {} for about in dataset.read([file]).about)


def test_csv_gives_the_same(losses_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "losses.csv"
    pl.read_parquet(losses_file).write_csv(path)
    a, b = dataset.read([losses_file]), dataset.read([path])
    assert np.array_equal(a.x, b.x) and np.array_equal(a.congested, b.congested)


def without(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop("rtt_trend")


def with_nan(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(rtt_trend=pl.lit(float("nan")))


def with_infinity(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(rtt_trend=pl.lit(float("inf")))


BAD: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "no column": (without, "no column rtt_trend"),
    "nan": (with_nan, "row 1: rtt_trend is nan, not a finite number"),
    "infinite": (with_infinity, "not a finite number"),
    "null": (lambda f: f.with_columns(rtt_trend=pl.lit(None, pl.Float64)), "not a finite number"),
    "words": (lambda f: f.with_columns(rtt_trend=pl.lit("x")), "is no number"),
    "another truth": (lambda f: f.with_columns(truth=pl.lit("aliens")), "truth is aliens"),
    "one cause": (lambda f: f.with_columns(truth=pl.lit("random")), "same cause"),
    "one scenario": (lambda f: f.with_columns(scenario=pl.lit("s")), "one scenario only"),
    "no rows": (lambda f: f.head(0), "no rows"),
    "few scenarios": (lambda f: f.filter(pl.col("scenario").is_in(["s0", "s1"])), "fewer than 3 folds"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, message = BAD[case]
    path = tmp_path / "losses.parquet"
    change(table(4, 20)).write_parquet(path)
    assert main(["train", "loss", str(path), "-o", str(tmp_path / "out"), *SMALL]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", b"\x00\xff" * 50])
def test_no_table(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("losses.parquet", "losses.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        assert main(["train", "loss", str(path), "-o", str(tmp_path / "out"), *SMALL]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_an_unknown_feature(losses_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", "loss", str(losses_file), "-o", str(tmp_path), "--inputs", "rtt_trent", *SMALL]
    assert main(arguments) == 2
    assert "rtt_trend" in capsys.readouterr().err


def test_recoveries_without_a_loss_are_left_out(tmp_path: Path) -> None:
    frame = table(4, 20).with_row_index()
    path = tmp_path / "losses.parquet"
    frame.with_columns(queue_drops=pl.col("index") % 2, channel_drops=pl.lit(0)).write_parquet(path)
    data = dataset.read([path])
    assert (data.read, data.spurious, len(data)) == (80, 40, 40)


def test_whole_scenarios_are_held_out(losses_file: Path) -> None:
    data = dataset.read([losses_file])
    folds = list(trials.by_scenario(data, 5, 1))
    assert sorted(np.concatenate(folds)) == list(range(len(data)))
    for held_out in folds:
        assert not set(data.group[held_out]) & set(np.delete(data.group, held_out))
    assert {len(f) for f in folds} <= {120, 180}


def test_at_most_so_many_rows_of_each(losses_file: Path) -> None:
    data = dataset.read([losses_file]).at_most(7, 1)
    assert set(np.bincount(data.group)) == {7}


def test_scores_against_plain_twins() -> None:
    from sklearn.metrics import roc_auc_score

    draw = np.random.default_rng(5)
    congested = (draw.random(500) < 0.7).astype(np.int64)
    score = np.round(np.clip(congested * 0.2 + draw.random(500) * 0.8, 0, 1), 2)  # with ties
    assert scores.auc(congested, score) == pytest.approx(roc_auc_score(congested, score))
    limits = [*np.unique(score), 2.0]
    best = max(scores.balanced_accuracy(congested, (score >= t).astype(np.int64)) for t in limits)
    limit = scores.best_threshold(congested, score)
    assert scores.balanced_accuracy(congested, (score >= limit).astype(np.int64)) == pytest.approx(best)
    tenths = [min(int(p * 10), 9) for p in score]
    plain = 0.0
    for k in set(tenths):
        rows = [i for i, t in enumerate(tenths) if t == k]
        plain += abs(sum(score[i] for i in rows) - sum(congested[i] for i in rows)) / 500
    assert scores.calibration_error(congested, score) == pytest.approx(plain)


def test_an_interval_by_scenario_is_wider_than_by_row() -> None:
    draw = np.random.default_rng(6)
    group = np.repeat(np.arange(20), 50)
    congested = (draw.random(1000) < 0.5).astype(np.int64)
    right = draw.random(20)[group] < 0.7  # a scenario is called right or wrong as a whole
    called = np.where(right, congested, 1 - congested)
    low, high = scores.interval(congested, called, group)
    by_row = scores.interval(congested, called, np.arange(1000))
    assert low < scores.balanced_accuracy(congested, called) < high
    assert high - low > 2 * (by_row[1] - by_row[0])


def test_training_learns_and_is_repeatable(losses_file: Path) -> None:
    data = dataset.read([losses_file])
    choices = Choices((INFORMED, "log_flight"), hidden=8, starts=2, epochs=100, batch=32)
    a, b = (perceptron.fit(data.columns(choices.inputs), data.congested, choices) for _ in range(2))
    assert a == b
    assert scores.auc(data.congested, perceptron.probability(a, data.columns(choices.inputs))) > 0.95


def test_several_starts_are_the_mean_before_the_last_sigmoid(losses_file: Path) -> None:
    data = dataset.read([losses_file])
    x, inputs = data.columns([INFORMED]), (INFORMED,)
    together = perceptron.fit(x, data.congested, Choices(inputs, hidden=6, starts=2, epochs=2, seed=1))
    apart = [perceptron.fit(x, data.congested, Choices(inputs, 3, 1, epochs=2, seed=s)) for s in (1, 2)]

    def logit(p: perceptron.Floats) -> perceptron.Floats:
        out: perceptron.Floats = np.log(p / (1 - p))
        return out

    mean = sum(logit(perceptron.probability(m, x)) for m in apart) / 2
    assert np.allclose(logit(perceptron.probability(together, x)), mean, atol=1e-5)


def test_features_have_meanings() -> None:
    assert set(losses.meanings()) == set(losses.features())
