# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Make a manual page of each command from its --help: `python -m tcplearn.cli.man DIR`. The tool click-man
cannot make them, because typer has its own copy of click."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from tcplearn.cli.app import app, version
from tcplearn.output.files import make_directory, write_atomically

EXIT_STATUS = {
    "0": "The command succeeded.",
    "1": "The command failed.",
    "2": "The usage or an input was bad; one line says what to do.",
    "130": "The command was interrupted.",
}
CACHE = "Finished runs are stored in $XDG_CACHE_HOME/tcplearn (~/.cache/tcplearn)."


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]  # the words of the command, such as ("tcplearn", "lab", "run")
    context: Any  # the Context of typer's own copy of click

    @property
    def page(self) -> str:
        return "-".join(self.words)

    @property
    def help(self) -> str:
        return str(self.context.command.help or "")

    @property
    def commands(self) -> list[Command]:
        group = self.context.command
        found = getattr(group, "commands", {})
        return [
            Command((*self.words, name), self.context.__class__(found[name], self.context, name))
            for name in (group.list_commands(self.context) if found else ())
        ]


def root() -> Command:
    command: Any = typer.main.get_command(app)
    return Command(("tcplearn",), command.context_class(command, info_name="tcplearn"))


def walk(command: Command) -> Iterator[Command]:
    yield command
    for below in command.commands:
        yield from walk(below)


def roff(text: str) -> str:
    """Return `text` escaped for roff, with parts in backticks in bold."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return f"\\&{text}" if text[:1] in (".", "'") else text


def _names(text: str) -> str:
    """Return the option `text`, such as "-e, --estimator SPEC", in roff: names bold, the argument italic."""

    def marked(found: re.Match[str]) -> str:
        word = found[0]
        return f"\\fB{roff(word)}\\fR" if word.startswith("-") else f"\\fI{roff(word)}\\fR"

    return re.sub(r"[^\s,]+(?<!/)", lambda m: m[0] if m[0] == "/" else marked(m), text)


def _paragraphs(items: list[tuple[str, str]]) -> list[str]:
    return [line for name, text in items for line in (".TP", name, roff(text))]


def _section(title: str, lines: list[str]) -> list[str]:
    return [f".SH {title}", *lines] if lines else []


def _see(command: Command) -> list[str]:
    above = "-".join(command.words[:-1])
    pages = [below.page for below in command.commands] + ([above] if above else [])
    lines = [f".BR \\%{roff(page)} (1)" for page in pages]  # \% keeps the name on one line
    return [f"{line}," for line in lines[:-1]] + lines[-1:]


def page(command: Command, date: str) -> str:
    """Return the manual page of `command`, dated `date`, in the macros of man(7)."""
    context = command.context
    parameters = context.command.get_params(context)
    records = [(p.param_type_name, *p.get_help_record(context)) for p in parameters]
    arguments = [(_names(name.partition(" ")[0]), text) for kind, name, text in records if kind == "argument"]
    options = [(_names(name), text) for kind, name, text in records if kind == "option"]
    below = [(f".BR {roff(c.page)} (1)", c.help) for c in command.commands]
    usage = " ".join(context.command.collect_usage_pieces(context))
    first = command.help.partition(".")[0]
    lines = [
        f'.TH {roff(command.page.upper())} 1 {date} "tcplearn {version()}" tcplearn',
        *_section("NAME", [f"{roff(command.page)} \\- {roff(first[:1].lower() + first[1:])}"]),
        *_section("SYNOPSIS", [f".B {' '.join(command.words)}", roff(usage)]),
        *_section("DESCRIPTION", [roff(command.help)]),
        *_section("ARGUMENTS", _paragraphs(arguments)),
        *_section("COMMANDS", _paragraphs(below)),
        *_section("OPTIONS", _paragraphs(options)),
        *_section("FILES", [] if len(command.words) > 1 else [roff(CACHE)]),
        *_section("EXIT STATUS", _paragraphs(list(EXIT_STATUS.items()))),
        *_section("SEE ALSO", _see(command)),
    ]
    return "\n".join(lines) + "\n"


def pages(date: str) -> dict[str, str]:
    """Return all manual pages, dated `date`, by file name."""
    return {f"{command.page}.1": page(command, date) for command in walk(root())}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m tcplearn.cli.man DIR", file=sys.stderr)
        return 2
    given = os.environ.get("SOURCE_DATE_EPOCH")
    made = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    folder = Path(arguments[0])
    make_directory(folder)
    for name, text in pages(made.date().isoformat()).items():
        write_atomically(folder / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
