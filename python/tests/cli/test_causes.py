# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""`tcplearn replay --loss`: what each classifier says at each fast retransmit of a capture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tcplearn import _native, losses
from tcplearn.cli.app import main
from tcplearn.replay import causes

CAPTURE = Path(__file__).parents[3] / "examples" / "captures" / "access-link.pcap.gz"


def test_each_classifier_at_each_fast_retransmit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--loss", str(CAPTURE), "-q", "--format", "json"]) == 0
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
    assert main(["replay", "--loss", str(CAPTURE), "-q"]) == 0
    double = capsys.readouterr().out
    assert "20 fast retransmits, 0 timeouts" in double
    assert main(["replay", "--loss", str(CAPTURE), "-q", "--arithmetic", "fixed"]) == 0
    assert capsys.readouterr().out == double


@pytest.mark.parametrize(
    "more, message",
    [
        (["--report", "x.html"], "--loss gives a table"),
        (["--format", "parquet", "-o", "x"], "--loss gives a table"),
        (["--suite", "."], "--loss needs captures"),
    ],
)
def test_what_it_does_not_give(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--loss", str(CAPTURE), *more]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_only_a_capture_has_the_acks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "samples.csv"
    path.write_text("time_us,rtt_us\n1000,500\n2000,600\n")
    assert main(["replay", "--loss", str(path)]) == 2
    assert "only a capture has the ACKs" in capsys.readouterr().err
