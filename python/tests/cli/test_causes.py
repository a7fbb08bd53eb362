# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn causes`, which prints each loss classifier's decision at each fast retransmit of a
capture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tcplearn import _native, losses
from tcplearn.cli.app import main
from tcplearn.replay import causes

ROOT = Path(__file__).parents[3]
CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"


def test_each_classifier_at_each_fast_retransmit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["causes", str(CAPTURE), "-q", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["classifier"] for row in rows} == set(causes.DEFAULTS)
    assert len(rows) == 20 * len(causes.DEFAULTS)
    for row in rows:
        assert 0 <= row["congestion_probability"] <= 1 and row["cause"] in losses.CAUSES
    # the features are the answer's: the log of a decision is enough to check it
    of_mlp = [row for row in rows if row["classifier"] == "mlp"]
    features = np.array([[row[name] for name in losses.features()] for row in of_mlp])
    again = _native.LossClassifier("mlp").judge(features)
    assert again.tolist() == [row["congestion_probability"] for row in of_mlp]
    # and Veno's rule is plain in them
    for row in rows:
        if row["classifier"] == "veno":
            assert row["cause"] == (losses.RANDOM if row["veno_packets"] < 3 else losses.CONGESTION)


def test_a_table_and_both_arithmetics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["causes", str(CAPTURE), "-q"]) == 0
    double = capsys.readouterr().out
    assert "20 fast retransmits, 0 timeouts" in double
    assert main(["causes", str(CAPTURE), "-q", "--arithmetic", "fixed"]) == 0
    assert capsys.readouterr().out == double


@pytest.mark.parametrize(
    "more, message",
    [
        (["--report", "x.html"], "no such option: --report"),
        (["--pictures", "x"], "no such option: --pictures"),
        (["--truth", "missing.csv"], "no such file"),
        (["--sender", "nobody"], "not a sender"),
    ],
)
def test_what_it_does_not_give(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["causes", str(CAPTURE), *more]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_only_a_capture_has_the_acks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("time_us,rtt_us\n1000,500\n2000,600\n")
    assert main(["causes", str(path)]) == 2
    assert "only a capture has the ACKs" in capsys.readouterr().err


def test_parquet_has_the_rows_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["causes", str(CAPTURE), "-q", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    file = tmp_path / "losses.parquet"
    assert main(["causes", str(CAPTURE), "-q", "--format", "parquet", "-o", str(file)]) == 0
    there = pl.read_parquet(file).to_dicts()
    assert [row["congestion_probability"] for row in there] == [row["congestion_probability"] for row in rows]
    assert {"flow", "time_us", "version", *losses.features()} <= set(there[0])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_answers_are_held_against_a_table_of_truth(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["causes", str(CAPTURE), "-q", "--format", "json"]) == 0
    rows = [row for row in json.loads(capsys.readouterr().out) if row["classifier"] == "veno"]
    assert {row["cause"] for row in rows} == set(losses.CAUSES)
    # Veno's own answers as the truth, a little off in time, but for one
    left_out = next(k for k, row in enumerate(rows) if row["cause"] == losses.CONGESTION)
    known = [row for k, row in enumerate(rows) if k != left_out]
    table = pl.DataFrame(
        [{"flow": r["flow"], "time_us": r["time_us"] + 900, "truth": r["cause"]} for r in known]
    )
    file = tmp_path / f"truth.{kind}"
    table.write_csv(file) if kind == "csv" else table.write_parquet(file)
    command = ["causes", str(CAPTURE), "-q", "--truth", str(file)]
    assert main([*command, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    truths = [r["truth"] for r in found if r["classifier"] == "veno"]
    assert truths == [None if k == left_out else row["cause"] for k, row in enumerate(rows)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "19 with a known cause" in shown
    veno = next(line for line in shown.splitlines() if line.split()[:1] == ["veno"])
    assert veno.split()[-3:] == ["1.000", "1.000", "1.000"]


@pytest.mark.parametrize(
    "content, message",
    [
        ("time_us\n1\n", "no column truth"),
        ("time_us,truth\n1,queue\n", "congestion or random"),
        ("time_us,truth\n1.5,random\n", "not whole microseconds"),
        ("time_us,truth\n,random\n1,random\n", "not whole microseconds"),
        ("", "no table of causes"),
    ],
)
def test_a_bad_table_of_truth(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "truth.csv"
    file.write_text(content)
    assert main(["causes", str(CAPTURE), "--truth", str(file)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_model_file_in_place_of_the_usual_classifiers(capsys: pytest.CaptureFixture[str]) -> None:
    own = f"mlp:model={ROOT / 'core' / 'models' / 'loss_hwang2018.json'},threshold=0.5"
    words = ["causes", str(CAPTURE), "-q", "--format", "json", "--arithmetic", "fixed"]
    said = []
    for spec in (own, "mlp/hwang2018"):
        assert main([*words, "--classifier", spec]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert rows and {row.pop("classifier") for row in rows} == {spec}
        said.append([(row["cause"], row["congestion_probability"]) for row in rows])
    assert said[0] == said[1]
    files = ("./none.json", str(CAPTURE), "own", "2")
    for wrong in ("veno:model=own", "mpl", *(f"mlp:model={file}" for file in files)):
        assert main([*words, "--classifier", wrong]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
