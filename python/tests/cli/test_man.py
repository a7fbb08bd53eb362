# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the manual pages: each command has one, it contains all text of --help, and man prints no warning."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tcplearn.cli import main, man

COMMANDS = list(man.walk(man.root()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man") / "man1"
    assert man.main([str(folder)]) == 0
    return folder


def run(*words: str | Path) -> str:
    """Return the standard output of a program, and check that it succeeds and writes nothing to standard
    error."""
    if not shutil.which(str(words[0])):
        pytest.skip(f"{words[0]} is not installed")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def test_a_page_for_each_command(folder: Path) -> None:
    assert {path.stem for path in folder.iterdir()} == {command.page for command in COMMANDS}
    assert {"tcplearn", "tcplearn-replay", "tcplearn-lab-run"} <= {command.page for command in COMMANDS}


def words_of(text: str) -> str:
    """Return `text` without white space and backquotes, which differ between --help and man."""
    return re.sub(r"\s", "", text.replace("`", ""))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.page)
def test_all_that_help_says_is_in_it(
    command: man.Command, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert main([*command.words[1:], "--help"]) == 0
    lines = capsys.readouterr().out.split("\n")
    shown = words_of(
        run("groff", "-man", "-Tascii", "-Kutf8", "-P-cbou", "-rHY=0", folder / f"{command.page}.1")
    )
    options = [line for line in lines[lines.index("Options:") + 1 :] if line.startswith("  -")]
    assert len(options) >= 1 and command.help
    for line in options:
        name, _, text = line.strip().partition("  ")
        assert words_of(name) in shown and words_of(text) in shown, line
    for below in command.commands:
        assert f"{below.page}(1)" in shown and words_of(below.help) in shown


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.page)
def test_man_does_not_complain(command: man.Command, folder: Path) -> None:
    path = folder / f"{command.page}.1"
    run("groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", path)
    assert run("mandoc", "-T", "lint", "-W", "warning", path) == ""
    assert run("man", "-l", path).count("\n") > 10


@pytest.mark.parametrize(
    ("text", "shown"),
    [(".5 of them", ".5 of them"), ("'tis", "'tis"), ("a\\b ~c", "a\\b ~c"), ("`-e X` or-so", "-e X or-so")],
)
def test_text_stands_as_it_is(tmp_path: Path, text: str, shown: str) -> None:
    path = tmp_path / "text.1"
    path.write_text(f".TH X 1 2026-01-01\n.SH NAME\nx \\- y\n.SH TEXT\n{man.roff(text)}\n")
    assert shown in run("groff", "-man", "-Tascii", "-P-cbou", path)
