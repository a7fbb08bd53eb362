# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finds the commands that the pages and the docstrings of the scripts of bench/ show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from samples import ROOT

#: What is not written by hand, or tells what once was.
_LEFT_OUT = {"build", "out", "CHANGELOG.md"}
_PROGRAM = re.compile(
    r"(?:[A-Z_]+=\S+ |sudo )*(?:\S*/)?"
    r"(?:tcplearn|make|python3?|pip|pytest|ctest|ninja|cmake|cc|man|ssh|apt-get|tshark|insmod|modprobe|"
    r"[\w-]+\.sh|build/\S+|core_bench|test_ns3_\w+)(?= )"
)
_LOOP = re.compile(r"for (\w+) in ([^;]*?);? ?do (.*?);? ?done")
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, order=True)
class Shown:
    page: str
    command: str
    is_in_prose: bool


def pages() -> list[Path]:
    """Return every Markdown page of the tree, except generated ones and the changelog."""
    found = [path for path in ROOT.rglob("*.md") if not path.relative_to(ROOT).parts[0].startswith(".")]
    return sorted(path for path in found if path.relative_to(ROOT).parts[0] not in _LEFT_OUT)


def scripts() -> list[Path]:
    return sorted((ROOT / "bench").glob("*.py"))


def shown() -> list[Shown]:
    """Return each command of each page or script, without repetitions within one of them."""
    found = [Shown(_name(p), c, q) for p in pages() for c, q in of_page(p.read_text())]
    found += [Shown(_name(p), c, False) for p in scripts() for c in of_script(p.read_text())]
    return sorted(set(found))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def of_page(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each command of a page and whether it stands within a sentence. In blocks of language sh every
    line is a command; elsewhere only code that begins with the name of a program is."""
    for language, block in _FENCE.findall(text):
        if language in ("", "sh"):
            for line in _logical(block):
                if language or _PROGRAM.match(f"{line} "):
                    yield from ((command, False) for command in simple(line))
    for code in re.findall(r"`([^`]+)`", _FENCE.sub("", text)):
        line = " ".join(code.split())
        if _PROGRAM.match(line):
            yield from ((command, True) for command in simple(line))


def of_script(text: str) -> Iterator[str]:
    for line in (ast.get_docstring(ast.parse(text)) or "").splitlines():
        if _PROGRAM.match(line.strip()):
            yield from simple(re.split(r"  +|\.$", line.strip())[0])


def _logical(block: str) -> Iterator[str]:
    """Yield the lines of `block` without comments. Continued lines and loops become one line."""
    lines = (line.partition(" #")[0].strip() for line in block.replace("\\\n", " ").splitlines())
    text = "\n".join(line for line in lines if line and not line.startswith("#"))
    yield from re.sub(r"^for .*?^done$", _in_one, text, flags=re.MULTILINE | re.DOTALL).splitlines()


def _in_one(loop: re.Match[str]) -> str:
    return re.sub(r"\n\s*", " ", loop[0])


def simple(line: str) -> Iterator[str]:
    """Yield the single commands of a line, without sudo and the folder of the program. A loop is expanded,
    and the line is split at `&&`, `;` and `|`."""
    if loop := _LOOP.fullmatch(line):
        for value in loop[2].split():
            yield from simple(loop[3].replace(f"${loop[1]}", value))
        return
    parts = [line] if "$(" in line else re.split(r"\s*(?:&&|;|\|)\s*", line)
    for part in parts:
        command = re.sub(r"^(?:sudo )?(?:\.venv/bin/)?", "", part.strip())
        command = re.sub(r"\[(-.*?)\]", r"\1", command)  # "[--kernel 6.12]": may be left out
        command = command.replace("...", "").strip()
        if command:
            yield re.sub(r"^(.*?=\S+ )\.venv/bin/", r"\1", command)
