# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a full disk gives exit code 1 and one line that names it, and leaves no incomplete file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tcplearn.__main__ import main

CAPTURE = Path(__file__).parents[3] / "examples" / "captures" / "access-link.pcap.gz"
NO_SPACE = "cannot write: no space left on device"


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["replay", str(CAPTURE), "-e", "last", "-e", "jacobson", "-q", *words]) == 1
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1
    return error


def filled(disk: Path, left_bytes: int = 0) -> None:
    """Fill the file system `disk` except for `left_bytes`, in pages of 4 KB."""
    (disk / "other").write_bytes(bytes((64 << 10) - left_bytes))


@pytest.mark.parametrize(
    "words", [("--format", "json", "-o"), ("--format", "parquet", "-o"), ("--report",), ("-o",)]
)
@pytest.mark.parametrize("left_bytes", [0, 4096])
def test_of_the_output(
    small_disk: Path, words: tuple[str, ...], left_bytes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(small_disk, left_bytes)
    before = sorted(small_disk.iterdir())
    target = small_disk / "page.html"
    if words == ("-o",) and left_bytes:  # a table fits
        assert main(["replay", str(CAPTURE), "-q", "-o", str(target)]) == 0
        return
    said = refused(capsys, *words, str(target))
    assert f"{target}: {NO_SPACE} {small_disk}; make room there" in said
    assert sorted(small_disk.iterdir()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("format", ["table", "json", "csv", "parquet"])
def test_of_a_device_and_of_standard_output(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"/dev/full: {NO_SPACE}" in refused(capsys, "--format", format, "-o", "/dev/full")
    words = ["replay", str(CAPTURE), "-e", "last", "-q", "--format", format]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tcplearn", *words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (1, f"tcplearn: standard output: {NO_SPACE}\n")
