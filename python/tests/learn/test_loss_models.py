# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test model files of the core's perceptron: which files are refused, and that the C header is made from
them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tcplearn import _native, losses
from tcplearn import loss_model as model
from tcplearn.errors import UserError
from tcplearn.learn import export, perceptron

WHERE = export.CORE / "models"


def document() -> dict[str, object]:
    return {
        "name": "tiny",
        "inputs": ["rtt_min_to_srtt", "log_flight"],
        "mean": [0.5, 3],
        "gain": [2, 0.25],
        "hidden": [[1, -1], [0.5, 0.25], [0, 64]],
        "hidden_bias": [0, 1, -1],
        "output": [1, 2, 3],
        "output_bias": 0.5,
    }


def test_the_header_is_what_the_files_give() -> None:
    assert export.HEADER.read_text() == export.loss_header(export.shipped())
    assert export.main(["--check"]) == 0


def test_a_file_reads_as_it_was_written(tmp_path: Path) -> None:
    for shipped in export.shipped():
        path = tmp_path / "model.json"
        path.write_text(model.text(shipped))
        assert model.read(path, losses.features()) == shipped


@pytest.mark.parametrize("number, name", list(enumerate(export.LOSS_NAMES)))
def test_the_core_answers_what_the_file_says(number: int, name: str) -> None:
    read = model.read(WHERE / f"loss_{name}.json", losses.features())
    draw = np.random.default_rng(3)
    bounds = np.array([[f["low"], f["high"]] for f in _native.loss_features()])
    rows = np.clip(draw.uniform(0.01, 4, (200, len(bounds))), bounds[:, 0], bounds[:, 1])
    inputs = rows[:, [losses.features().index(feature) for feature in read.inputs]]
    expected = perceptron.probability(read, inputs)
    assert np.allclose(
        _native.LossClassifier("mlp", "double", {"model": number}).judge(rows), expected, atol=1e-12
    )
    assert np.allclose(
        _native.LossClassifier("mlp", "fixed", {"model": number}).judge(rows), expected, atol=1e-4
    )


BAD = {
    "nan": ("mean", [math.nan, 3], "not finite"),
    "infinite": ("output", [1, math.inf, 3], "not finite"),
    "too large": ("hidden", [[1, -1], [0.5, 65], [0, 1]], "beyond 64"),
    "far mean": ("mean", [0.5, 1e7], "beyond"),
    "a word": ("output_bias", "x", "not a number"),
    "true": ("output_bias", True, "not a number"),
    "gain of 0": ("gain", [0, 1], "above 0"),
    "short row": ("hidden", [[1, -1], [0.5], [0, 1]], "needs 2 numbers"),
    "no units": ("hidden", [], "1 to 64"),
    "too many units": ("hidden", [[0, 0]] * 65, "1 to 64"),
    "bias of another shape": ("hidden_bias", [0, 1], "needs 3 numbers"),
    "no such feature": ("inputs", ["rtt_min_to_srtt", "moon"], "no feature moon"),
    "twice": ("inputs", ["log_flight", "log_flight"], "twice"),
    "no inputs": ("inputs", [], "list of features"),
    "a name that is C": ("name", "x; int y", "identifier"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_no_model_is(case: str) -> None:
    key, value, message = BAD[case]
    with pytest.raises(UserError, match=message) as error:
        model.from_document({**document(), key: value}, "tiny.json", losses.features())
    assert str(error.value).startswith("tiny.json: ") and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": 1}', "[" * 100_000, '{"name": NaN}', "\x00"])
def test_what_no_file_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        model.read(path, losses.features())
    assert "\n" not in str(error.value) and error.value.exit_code == 2


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        model.read(tmp_path / "none.json", losses.features())


def test_weights_keep_what_the_core_holds() -> None:
    read = model.from_document(document(), "tiny.json", losses.features())
    again = json.loads(model.text(read))
    assert again["hidden"] == [[1, -1], [0.5, 0.25], [0, 64]]
    assert model.fixed(read.gain[1], model.SCALE_BITS) == 1 << 28
    assert model.rounded(0.1) == round(0.1 * 2**24) / 2**24


TINY = "tcplearn-mlp-1 tiny 1 1 log_flight 0 1073741824 0 16777216 0 16777216"


def test_the_core_reads_the_text_of_a_model() -> None:
    """Test that the core reads the text that `words` writes: both shipped models then answer as the compiled
    ones do."""
    for number, shipped in enumerate(export.shipped()):
        own = _native.LossClassifier("mlp", "fixed", {"model": 2}, model.words(shipped))
        rows = np.random.default_rng(4).uniform(0.01, 4, (50, len(losses.features())))
        assert (
            own.judge(rows) == _native.LossClassifier("mlp", "fixed", {"model": number}).judge(rows)
        ).all()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tcplearn-mlp-2" + TINY[14:], "word 1: 'tcplearn-mlp-2': 'tcplearn-mlp-1' is needed"),
        (TINY + " 0", "word 12: '0': the model has no more words"),
        (TINY.rpartition(" ")[0], "word 11: the text ends here"),
        (TINY.replace("log_flight", "moon"), "word 5: 'moon': a feature is needed"),
        (TINY.replace("1073741824", "0"), "word 7: '0': a whole number from 1 to"),
        (TINY.replace("1073741824", "9" * 400), "word 7: '999"),
        (TINY.replace("16777216", "1073741825"), "word 9: '1073741825': a whole number from -1073741824"),
        (TINY.replace("tiny", "t;ny"), "word 2: 't;ny': a name"),
        (TINY.replace("tiny", "x" * 32), "word 2: 'xxx"),
        (TINY.replace(" 1 1 ", " 1 65 "), "word 4: '65': a whole number from 1 to 64"),
    ],
)
def test_a_wrong_text_is_refused_with_its_place(text: str, complaint: str) -> None:
    assert 0 <= _native.LossClassifier("mlp", "fixed", {"model": 2}, TINY).judge(np.zeros((1, 32)))[0] <= 1
    with pytest.raises(ValueError, match=r"^model: word ") as error:
        _native.LossClassifier("mlp", "fixed", {"model": 2}, text)
    assert complaint in str(error.value) and "\n" not in str(error.value)


def test_without_weights_every_loss_is_congestion() -> None:
    core = _native.LossClassifier("mlp", "fixed", {"model": 2})
    core.observe(1000, 500, 1, False)
    assert core.decide(2000, 10, 10, 100) == (1.0, 0)
