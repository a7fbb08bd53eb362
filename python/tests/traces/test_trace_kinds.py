# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that every capture gives a table that fits 80 columns, or one line with the reason why not."""

from __future__ import annotations

import io
from pathlib import Path

import make_captures
import pytest
from rich.console import Console

from samples import ROOT
from tcplearn.cli import main
from tcplearn.replay import replay, tables
from tcplearn.replay.results import Replay


def shown(result: Replay) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    console.print(tables.document(result, console))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def replayed(path: Path) -> Replay:
    result = replay.run([path])
    lines = shown(result)
    assert max(map(len, lines)) <= 80 and len(lines) <= 24, lines
    assert lines[0].startswith(("Best ", "Which timer is best cannot be told", "No RTO compared")), lines[0]
    assert lines[-1].startswith("Next: ")
    return result


@pytest.mark.parametrize("name", make_captures.GIVEN)
def test_the_same_samples_in_other_clothes(name: str, tmp_path: Path, samples: int) -> None:
    path = tmp_path / name
    path.write_bytes(make_captures.GIVEN[name]())
    assert replayed(path).totals[0].samples == samples


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> int:
    path = tmp_path_factory.mktemp("plain") / "plain.pcap"
    path.write_bytes(make_captures.GIVEN["ethernet.pcap"]())
    found = replay.run([path]).totals[0].samples
    assert found > 500
    return found


@pytest.mark.parametrize("name", make_captures.OTHERS)
def test_other_captures_have_a_table(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(make_captures.OTHERS[name]())
    replayed(path)
    assert main(["replay", str(path), "-q", "-o", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("name", make_captures.REFUSED)
def test_one_line_says_why_there_is_none(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(make_captures.REFUSED[name]())
    assert main(["replay", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"tcplearn: {path}: ") and err.count("\n") == 1, err


def test_there_are_many() -> None:
    assert len(make_captures.GIVEN) + len(make_captures.OTHERS) + len(make_captures.REFUSED) >= 75


def test_the_shipped_capture_fits_one_screen() -> None:
    replayed(ROOT / "examples" / "captures" / "access-link.pcap.gz")
