# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn resend` from a capture to its rows, its table and its picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.cli import main
from tcplearn.replay import resends

CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"
FEW = ["resend", str(CAPTURE), "--losses", "none,iid1", "--requests", "1000"]


def test_every_policy_under_each_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--format", "json", "-q", "--pictures", str(tmp_path)]) == 0
    rows = json.loads(capsys.readouterr().out)
    cells = {(row["flow"], row["losses"]) for row in rows}
    assert {losses for _, losses in cells} == {"none", "iid1"}
    names = [*resends.POLICIES, *resends.LIMITS]
    assert len(rows) == len(cells) * len(names)
    assert {row["policy"] for row in rows} == set(names)
    assert all(row["lost_permille"] == 0 for row in rows if row["losses"] == "none")
    assert (tmp_path / "resends.svg").stat().st_size > 1000


def test_no_parquet_by_the_name_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "-q", "-o", str(tmp_path / "rows.parquet")]) == 2
    assert "resend writes a table, CSV or JSON" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "-q"]) == 0
    shown = capsys.readouterr().out
    assert all(policy in shown for policy in [*resends.POLICIES, *resends.LIMITS])
    assert "Share of the way" in shown


def test_options_change_what_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    def rows(*more: str) -> list[dict[str, object]]:
        assert main([*FEW, "--format", "json", "-q", *more]) == 0
        return [{k: v for k, v in row.items() if k != "seed"} for row in json.loads(capsys.readouterr().out)]

    plain = rows()
    assert rows() == plain
    for more in (["--seed", "1"], ["--no-timestamps"], ["--requests", "1200"]):
        assert rows(*more) != plain, more


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--losses", "iid2"], "did you mean iid3, iid1 or iid0.1?"),
        (["--flow", "zebra"], "no flow has"),
        (["--format", "parquet"], "'parquet' is not one of 'table', 'json', 'csv'"),
        (["--report", "x.html"], "no such option: --report"),
        (["--sender", "nobody"], "not a sender"),
        (["--unit", "h"], "not a unit"),
    ],
)
def test_bad_usage(more: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, *more]) == 2
    out, error = capsys.readouterr()
    assert message in error and (out, error.count("\n")) == ("", 1)
