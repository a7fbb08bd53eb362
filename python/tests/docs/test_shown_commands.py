# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test every command that a page or a script of bench/ shows, by running it, in a small form if it takes
long."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pages
import pytest
import small_forms
from runner import Runner
from typer.exceptions import TyperException

from samples import ROOT
from tcplearn.cli.app import app
from tcplearn.errors import UserError

SHOWN = pages.shown()


def is_name(one: pages.Shown) -> bool:
    """Return whether the command is only a name of a verb of tcplearn within a sentence."""
    return (
        one.is_in_prose
        and re.fullmatch(r"tcplearn [a-z-]+( (run|loss|rtt|check))?|python -P -m tcplearn", one.command)
        is not None
    )


COMMANDS = sorted({one.command for one in SHOWN if not is_name(one)})


def _where(small: str) -> list[str]:
    """Return the pages and the commands on them that the small form `small` replaces."""
    whole = [f"{one.page}: {one.command}" for one in SHOWN if not is_name(one)]
    return [
        line for line in whole if any(small in runs for runs in small_forms.small(line.partition(": ")[2]))
    ]


def _each() -> Iterator[object]:
    """Yield each small form once as a test parameter, with its time limit and marks."""
    seen = set()
    for long in (False, True):
        for command in COMMANDS:
            for run in small_forms.small(command)[long]:
                if run not in seen:
                    seen.add(run)
                    yield pytest.param(run, 1200 if long else 60, marks=[pytest.mark.full] if long else [])


@pytest.mark.parametrize(("small", "seconds"), [*_each()])
def test_it_runs(small: str, seconds: int, runner: Runner) -> None:
    ran = runner.run(small, seconds)
    assert ran.code == 0, "\n".join([*_where(small), ran.output[-2000:], ran.errors[-2000:]])
    if small.startswith("tcplearn "):
        assert ran.output or ran.errors or any(runner.own.iterdir())


def options(command: str) -> set[str]:
    return set(re.findall(r"(?<= )--?[a-zA-Z][\w-]*", command))


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith(("tcplearn", "python bench"))])
def test_its_options_are_run_too(command: str) -> None:
    if not small_forms.is_not_run(command):
        runs = " ".join(run for some in small_forms.small(command) for run in some)
        known = {"-j": "--jobs", "--jobs": "-j", "--out": "--out"}
        missing = {o for o in options(command) - options(runs) if known.get(o) not in options(runs)}
        assert not missing


@pytest.mark.parametrize(
    "command", sorted({one.command for one in SHOWN if one.command.startswith("tcplearn ")})
)
def test_it_parses(command: str) -> None:
    """Test that tcplearn can parse the command as printed. The command's work is not done."""
    words = ["vectors" if word == "NAME" else word for word in shlex.split(command)[1:]]
    if words[-1] == "-e":
        words.append("last")
    try:
        work = app(words, prog_name="tcplearn", standalone_mode=False)
    except (UserError, TyperException) as error:
        if "missing" not in str(error).lower():
            raise
        assert (
            app([*words, "--help"], prog_name="tcplearn", standalone_mode=False) == 0
        )  # the name of a command
        return
    assert callable(work) or (words in (["--files"], ["--version"]) and work == 0)


def test_no_row_is_of_a_command_that_is_gone() -> None:
    of = [small_forms.form_of(command) for command in COMMANDS]
    assert [form.shown for form in small_forms.FORMS if form not in of] == []
    not_run = small_forms.NOT_RUN
    assert [p for p in not_run if not any(re.fullmatch(p, command) for command in COMMANDS)] == []


def test_every_script_of_the_benchmarks_is_run() -> None:
    runs = " ".join(run for command in COMMANDS for some in small_forms.small(command) for run in some)
    scripts = [p.stem for p in pages.scripts() if 'if __name__ == "__main__"' in p.read_text()]
    by_run_py = {name for name in scripts if name in (ROOT / "bench" / "run.py").read_text()}
    assert len(scripts) > 5 and [n for n in scripts if n not in by_run_py and n not in runs] == []


def test_no_command_writes_a_tracked_page() -> None:
    """Test that no command writes a page of an experiment into the checkout, in whichever folder it runs."""
    runs = [run for command in COMMANDS for some in small_forms.small(command) for run in some]
    steps = [step for run in runs for step in run.split(" && ")]
    writers = [step for step in steps if re.match(r"tcplearn experiments ", step)]
    assert writers and [w for w in writers if "--list" not in w and " -o TMP/" not in w] == []


def test_commands_are_found() -> None:
    of = {one.page for one in SHOWN}
    assert len(COMMANDS) > 100 and {"README.md", "CONTRIBUTING.md", "docs/traces.md", "bench/run.py"} <= of
    made = [
        *pages.of_page(
            "```sh\nmake a # b\nfor x in 1 2; do\n  sudo y $x\ndone\n```\nand `pip \ninstall z`.\n"
        )
    ]
    assert made == [("make a", False), ("y 1", False), ("y 2", False), ("pip install z", True)]
