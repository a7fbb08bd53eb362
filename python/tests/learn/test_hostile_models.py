# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that model files written to crash their reader are refused in one line each, for both kinds of
model."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from samples import ROOT
from tcplearn import loss_model as loss_models
from tcplearn import losses
from tcplearn.cli import main
from tcplearn.errors import UserError
from tcplearn.learn.rtt import model as rtt_models

MODELS = ROOT / "core" / "models"
SHIPPED = {"rtt": MODELS / "rtt_emulated.json", "loss": MODELS / "loss_wide.json"}
#: A key of each whose value is a number.
NUMBER = {"rtt": "cap_us", "loss": "output_bias"}
HUGE = "an integer of more than 64 bits"


def read(kind: str, path: Path) -> object:
    return rtt_models.read(path) if kind == "rtt" else loss_models.read(path, losses.features())


def refused(kind: str, path: Path) -> str:
    with pytest.raises(UserError) as raised:
        read(kind, path)
    line = str(raised.value)
    assert line.startswith(f"{path}: ") and "\n" not in line and len(line) < 400
    return line


VALUES = {
    "10^400": ("1" + "0" * 400, HUGE),
    "401 digits": ("7" * 401, HUGE),
    "below": ("-" + "7" * 401, HUGE),
    "5,000 digits": ("7" * 5000, "not JSON: a number of too many digits"),
    "5,000 brackets": ("[" * 5000 + "]" * 5000, "nested too deeply"),
    "200 brackets": ("[" * 200 + "]" * 200, "nested too deeply"),
    "infinite": ("1e400", " is inf"),
    "nan": ("NaN", " is nan"),
    "a truth": ("true", "is not a number: True"),
    "half a character": ('"\\ud800"', "a text with a NUL, or half a character"),
}


@pytest.mark.parametrize("kind", SHIPPED)
@pytest.mark.parametrize("case", VALUES)
def test_a_value_that_is_no_number(kind: str, case: str, tmp_path: Path) -> None:
    value, expected = VALUES[case]
    made = json.loads(SHIPPED[kind].read_bytes()) | {NUMBER[kind]: "HERE"}
    path = tmp_path / "m.json"
    path.write_text(json.dumps(made).replace('"HERE"', value))
    line = refused(kind, path).replace("is not finite: ", "is ")
    assert expected in line
    assert "not JSON" in line or "nested" in line or NUMBER[kind] in line


@pytest.mark.parametrize("kind", SHIPPED)
def test_a_file_that_has_no_end(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.json").write_bytes(b" " * ((16 << 20) + 1))
    for path in (Path("/dev/zero"), tmp_path / "pipe"):
        assert "is a device or a pipe, which may have no end; name a file" in refused(kind, path)
    assert "has more than 16 MB" in refused(kind, tmp_path / "large.json")
    assert "is a directory" in refused(kind, tmp_path)


def test_a_document_of_python_has_the_same_checks() -> None:
    """Test that a model that is given as a Python object, in which a number may have any size, is checked as
    a file is."""
    for kind, path in SHIPPED.items():
        made: dict[str, Any] = json.loads(path.read_bytes())
        for value in (10**400, -(10**400)):
            with pytest.raises(UserError, match=NUMBER[kind]):
                if kind == "rtt":
                    rtt_models.from_document(made | {NUMBER[kind]: value}, "m.json")
                else:
                    loss_models.from_document(made | {NUMBER[kind]: value}, "m.json", losses.features())


@pytest.mark.parametrize("value", ["1" + "0" * 400, "[" * 5000])
def test_the_command_says_so_too(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.json"
    path.write_text(f'{{"cap_us": {value}}}')
    assert main(["first-rto", "load", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"tcplearn: {path}: ")


@pytest.mark.parametrize("what", ["loss", "rtt"])
def test_rows_that_have_no_end(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.csv").symlink_to("/dev/zero")
    assert main(["train", what, str(tmp_path / "x.csv"), "-o", str(tmp_path / "out")]) == 2
    assert "is a device or a pipe, which may have no end" in capsys.readouterr().err
