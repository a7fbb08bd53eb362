# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The commands that the documents show: all of them parse, and the cheap ones run as they stand."""

from __future__ import annotations

import gzip
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.exceptions import TyperException

from samples import ROOT, series
from tcplearn.cli.app import app
from tcplearn.errors import UserError

PAGES = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "core/README.md", "examples/captures/README.md")
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "papers").rglob("*.md")),
]
CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"
#: What the cheap ones read, and the test makes.
READ = {"capture.pcap", "rtts.csv", "captures/", "traces/", "examples/captures/access-link.pcap.gz"}


def lines_of(page: Path) -> Iterator[str]:
    """Of code blocks whose language is sh or none, and code within a sentence."""
    text = page.read_text()
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if language in ("", "sh"):
            yield from block.replace("\\\n", " ").splitlines()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))


def commands() -> Iterator[tuple[str, tuple[str, ...]]]:
    """(page, words after tcplearn) of each command."""
    for page in PAGES:
        for line in lines_of(page):
            for part in re.split(r"[|;&]+", line.partition(" #")[0]):
                part = re.sub(r"\[(-.*?)\]", r"\1", part)  # "[--kernel 6.12]": may be left out
                words = shlex.split(part) if part.count("'") % 2 == 0 else []
                names = [i for i, word in enumerate(words) if Path(word).name == "tcplearn"]
                if not names or names[0] > 1 or "..." in part or "…" in part:
                    continue
                yield str(page.relative_to(ROOT)), tuple(words[names[0] + 1 :])


COMMANDS = sorted(set(commands()))


def _named(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def test_there_are_commands() -> None:
    pages = {page for page, _ in COMMANDS}
    assert len(COMMANDS) > 40 and {"README.md", "docs/traces.md", "docs/kernel.md", "docs/suite.md"} <= pages


def is_name(words: tuple[str, ...]) -> bool:
    """Of commands and of a command that wants more than one file."""
    groups = ("lab", "study", "module", "first-rto", "train", "collect")
    return not words or words[-1] in groups or words in (("train", "loss"), ("train", "rtt"))


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=_named)
def test_a_command_parses(page: str, words: tuple[str, ...]) -> None:
    """Its work is not done: a command only hands it back."""
    given = ["vectors" if word == "NAME" else word for word in words]
    if is_name(words):
        assert app([*given, "--help"], prog_name="tcplearn", standalone_mode=False) == 0
        return
    try:
        work = app(given, prog_name="tcplearn", standalone_mode=False)
    except (UserError, TyperException) as error:
        if "missing" not in str(error).lower():
            raise
        work = app([*given, "FILE"], prog_name="tcplearn", standalone_mode=False)  # the name of a command
    assert callable(work)


CHEAP = [(page, words) for page, words in COMMANDS if READ & set(words)]


def _marked(page: str, words: tuple[str, ...]) -> Any:
    """Half a minute is for make test-full."""
    long = "--suite" in words or words[:3] == ("study", "experts", "capture.pcap")
    return pytest.param(page, words, marks=[pytest.mark.full] if long else [])


@pytest.fixture
def folder(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the documents name, of the shipped capture and of made-up samples."""
    monkeypatch.chdir(tmp_path)
    whole = gzip.decompress(CAPTURE.read_bytes())
    (tmp_path / "capture.pcap").write_bytes(whole)
    for name in ("captures", "traces"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.pcap").write_bytes(whole)
    rows = "".join(f"{i / 20},{us / 1000}\n" for i, us in enumerate(series(1).tolist()))
    (tmp_path / "rtts.csv").write_text(f"t_s,rtt_ms\n{rows}")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.parametrize(("page", "words"), [_marked(*cheap) for cheap in CHEAP], ids=_named)
def test_a_command_runs(page: str, words: tuple[str, ...], folder: Path) -> None:
    outputs = [folder / word for word in words if word.endswith(".html")]
    run = subprocess.run(
        [sys.executable, "-m", "tcplearn", *words], capture_output=True, text=True, cwd=folder
    )
    assert run.returncode == 0 and run.stdout.count("\n") > 3, run.stderr
    assert all(path.stat().st_size > 10_000 for path in outputs)


def test_the_cheap_ones_are_most_of_a_readme() -> None:
    assert sum(page == "README.md" for page, _ in CHEAP) >= 4
    assert {"docs/study.md", "docs/suite.md", "docs/algorithms/experts.md"} <= {page for page, _ in CHEAP}


def test_the_targets_of_make_exist() -> None:
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        (str(page.relative_to(ROOT)), target)
        for page in PAGES
        for line in lines_of(page)
        for target in re.findall(r"^make (?!docs/)([a-z][\w-]*)", line)
    }
    assert len(named) > 10 and {target for _, target in named} <= known, named
