# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test standard streams that are closed, that have no reader, or whose encoding is ASCII."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from samples import ROOT, series
from tcplearn.cli import main

CLOSED = "tcplearn: standard output: is closed; open it, or write to a file with -o\n"
ROWS = "t_s,rtt_ms\n" + "".join(f"{k},{us / 1000:.3f}\n" for k, us in enumerate(series(1)))
VERBS = {
    "help": ["--help"],
    "version": ["--version"],
    "help of a verb": ["replay", "--help"],
    "algorithms": ["algorithms"],
    "replay": ["replay", "TABLE", "-q"],
    "JSON": ["replay", "TABLE", "-q", "--format", "json"],
    "script": ["lab", "script", str(ROOT / "linux" / "lab" / "scenarios" / "thin-wired.toml")],
}


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "séance.csv"
    path.write_text(ROWS)
    return str(path)


def command(verb: str, table: str, *more: str) -> list[str]:
    words = [table if word == "TABLE" else word for word in VERBS[verb]]
    return [sys.executable, "-m", "tcplearn", *words, *more]


def redirected(words: list[str], streams: str) -> tuple[int, str, str]:
    line = f"exec {shlex.join(words)} {streams}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_a_closed_output_gets_one_line(verb: str, table: str) -> None:
    assert redirected(command(verb, table), ">&-") == (1, "", CLOSED)


def test_a_file_needs_no_output(table: str, tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    assert redirected(command("JSON", table, "-o", str(out)), ">&- 2>&- <&-") == (0, "", "")
    assert out.read_bytes().startswith(b"[")


@pytest.mark.parametrize("verb", ["replay", "JSON"])
def test_a_closed_error_changes_nothing(verb: str, table: str) -> None:
    expected = subprocess.run(command(verb, table), capture_output=True, text=True, check=True)
    assert redirected(command(verb, table), "2>&-") == (0, expected.stdout, "")
    # what is said does not go where the rows go
    assert redirected(command(verb, table, "--flow", "nowhere"), "2>&-") == (2, "", "")


def test_a_closed_input_is_an_empty_one() -> None:
    words = [sys.executable, "-m", "tcplearn", "replay", "-"]
    empty = redirected(words, "</dev/null")
    assert empty[0] == 2 and empty[2].count("\n") == 1
    assert redirected(words, "<&-") == empty


@pytest.mark.parametrize("verb", ["help", "version", "help of a verb", "algorithms", "script"])
def test_a_pipe_that_nobody_reads_ends_it_quietly(verb: str, table: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command(verb, table), stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def shown(monkeypatch: pytest.MonkeyPatch, encoding: str, *words: str) -> str:
    """Run the command `words` with a standard output of the encoding `encoding` and return its text."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    assert main(words) == 0
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_an_encoding_does_not_have_is_spelled_without(
    encoding: str, table: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("study", "experts", table, "--n", "10", "--eta", "1", "--alpha", "0.1")
    text = shown(monkeypatch, encoding, *words)
    assert ("N=10, η=1, α=0.1" if encoding == "utf-8" else "N=10, eta=1, alpha=0.1") in text
    assert ("\nx: mean error" if encoding == "ascii" else "\n×: mean error") in text
    assert ("seance" if encoding == "ascii" else "séance") in shown(monkeypatch, encoding, "replay", table)


def test_a_real_terminal_without_utf8(table: str) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    words = command("replay", table)
    done = subprocess.run(words, capture_output=True, env={**os.environ, **plain}, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii() and b" x " in done.stdout


def test_files_stay_utf8(
    table: str, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test that files, and data that is written to a pipe, are UTF-8 in any locale, because readers expect
    UTF-8."""
    out = tmp_path / "table.txt"
    assert shown(monkeypatch, "ascii", "replay", table, "-o", str(out)) == ""
    assert "×" in out.read_text(encoding="utf-8") and "séance.csv" in out.read_text(encoding="utf-8")
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["replay", table, "--format", "csv"]) == 0
    assert "séance.csv" in raw.getvalue().decode("utf-8")
