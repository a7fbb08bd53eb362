# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the layout of the `--help` of each verb on a terminal of 80 columns and 24 lines."""

from __future__ import annotations

import re

import pytest

from tcplearn.cli import main, man
from tcplearn.cli.app import GROUPS

COMMANDS = list(man.walk(man.root()))
COLUMNS, SCREEN = 80, 24


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERMINAL_WIDTH", str(COLUMNS))


def help_of(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main([*words, "--help"]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.page)
def test_it_fits_two_screens(command: man.Command, capsys: pytest.CaptureFixture[str]) -> None:
    lines = help_of(command.words[1:], capsys)
    assert len(lines) <= 2 * SCREEN and max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.page)
def test_it_prints_no_type_of_python(command: man.Command, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(help_of(command.words[1:], capsys))
    assert not re.search(r"<(list\[|str|int|float|bool|path|file|dir)", text, re.IGNORECASE)


def test_each_verb_has_a_line_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    lines = help_of((), capsys)
    verbs = [command.words[1] for command in COMMANDS[0].commands]
    headings = [lines.index(f"{heading}:") for heading in GROUPS]
    below = [line for line in lines[headings[0] :] if line.startswith("  ")]
    assert [line.split()[0] for line in below] == verbs and not [line for line in below if "..." in line]
    assert len({line.index(line.split()[1], 3) for line in below}) == 1  # one column, whatever the group
    assert headings == sorted(headings) and len(lines) <= SCREEN + 9
    assert verbs[:4] == ["explain", "replay", "suite", "watch"]
    assert verbs[4:7] == ["resend", "causes", "study"]


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS[1:] if command.commands], ids=lambda command: command.page
)
def test_each_subcommand_has_a_whole_line(command: man.Command, capsys: pytest.CaptureFixture[str]) -> None:
    lines = help_of(command.words[1:], capsys)
    below = lines[lines.index("Commands:") + 1 :]
    assert len(below) == len(command.commands) and not [line for line in below if "..." in line]


def test_no_option_says_of_which_other_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Test that no option's help begins with "Of --", that is, has a meaning only beside another option."""
    for command in COMMANDS:
        assert "Of --" not in "\n".join(help_of(command.words[1:], capsys)), command.page
