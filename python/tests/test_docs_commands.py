# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The commands that the documents show: all of them parse, and the cheap ones run as they stand."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import ROOT, series
from tcplearn.cli.app import app

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "core/README.md", "examples/captures/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "papers").rglob("*.md")),
]
CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"
#: What stands for a word in a command's description.
PLACEHOLDERS = {"N": "4", "JOBS": "4", "SECONDS": "4"}
#: Run elsewhere, too long, or for root.
NOT_HERE = ("simulate", "lab", "module", "papers")


def lines_of(page: Path) -> Iterator[str]:
    """Of code blocks whose language is sh or none, lines that end in \\ joined; and code within a sentence."""
    text = page.read_text()
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if language in ("", "sh"):
            yield from block.replace("\\\n", " ").splitlines()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))


def commands() -> Iterator[tuple[str, tuple[str, ...]]]:
    """(page, words after tcplearn) of each command that is whole."""
    for page in PAGES:
        for line in lines_of(page):
            for part in re.split(r"[|;&]+", line.partition(" #")[0]):
                words = shlex.split(part, posix=True) if part.count("'") % 2 == 0 else []
                names = [i for i, word in enumerate(words) if Path(word).name == "tcplearn"]
                if not names or names[0] > 1 or "..." in part or "…" in part:
                    continue
                yield str(page.relative_to(ROOT)), tuple(words[names[0] + 1 :])


COMMANDS = sorted(set(commands()))


def test_there_are_commands() -> None:
    pages = {page for page, _ in COMMANDS}
    assert len(COMMANDS) > 40 and {"README.md", "docs/traces.md", "docs/kernel.md", "docs/suite.md"} <= pages


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_a_command_parses(page: str, words: tuple[str, ...]) -> None:
    """Its work is not done: a command only hands it back."""
    given = [PLACEHOLDERS.get(word, word) for word in words]
    group = not given or given[-1] in ("lab", "study", "module")
    work = app(["--help"] if group else given, prog_name="tcplearn", standalone_mode=False)
    assert group or callable(work)
