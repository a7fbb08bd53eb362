# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test tools/tests-to-run: a folder of tests is run until it has passed with the current contents of its
input files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from samples import ROOT

JUNIT = """<testsuites><testsuite>
<testcase classname="python.tests.cli.test_a" name="one"/>
<testcase classname="python.tests.lab.test_b" name="two">{}</testcase>
<testcase classname="python.tests.test_c" name="three"><skipped/></testcase>
</testsuite></testsuites>"""
ALL = ["python/tests"]


def all_but(*done: str) -> list[str]:
    return ALL + [f"--ignore=python/tests/{name}" for name in done]


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "tests-to-run", folder / "tools")
        self.write(".gitignore", "build/\n")
        for name in ("cli/test_a.py", "lab/test_b.py", "test_c.py", "helper.py"):
            self.write(f"python/tests/{name}", "1\n")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def tool(self, *arguments: str, **environment: str) -> list[str]:
        out = subprocess.run(
            [self.folder / "tools" / "tests-to-run", *arguments],
            env=os.environ | {"ALL": ""} | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return out.stdout.split()

    def run(self, failure: str = "") -> list[str]:
        started = self.tool()
        self.write("build/times/pytest.xml", JUNIT.format(failure))
        self.tool("--passed")
        return started


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_nothing_is_run_again_without_a_change(repository: Repository) -> None:
    assert repository.run() == ALL
    assert repository.tool() == []
    assert repository.tool(ALL="1") == ALL


def test_what_failed_is_run_again(repository: Repository) -> None:
    repository.run("<failure/>")
    assert repository.tool() == all_but("cli", "test_c.py")
    assert repository.run() == all_but("cli", "test_c.py")
    assert repository.tool() == []


def test_a_result_that_was_cut_off(repository: Repository) -> None:
    repository.run()
    repository.write("build/passed/pytest.json", '{"cli": "0')
    assert repository.tool() == ALL


def test_without_git(repository: Repository) -> None:
    repository.run()
    python = str(Path(sys.executable).parent)
    assert repository.tool(PATH=python) == ALL
    shutil.rmtree(repository.folder / ".git")
    assert repository.tool() == ALL


def test_a_file_of_tests_that_cannot_be_read(repository: Repository) -> None:
    repository.run('</testcase><testcase classname="" name="python.tests.lab.test_d"><error/>')
    assert repository.tool() == ALL


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ("python/tests/cli/test_a.py", all_but("lab", "test_c.py")),
        ("python/tests/test_c.py", all_but("cli", "lab")),
        ("python/tests/helper.py", ALL),
        ("core/new.h", ALL),
    ],
)
def test_a_change_runs_what_depends_on_it(repository: Repository, changed: str, runs: list[str]) -> None:
    repository.run()
    repository.write(changed, "2\n")
    assert repository.tool() == runs


def test_a_file_that_changes_while_tests_run(repository: Repository) -> None:
    repository.tool()
    repository.write("core/new.h", "2\n")
    repository.write("build/times/pytest.xml", JUNIT.format(""))
    repository.tool("--passed")
    assert repository.tool() == ALL


def test_a_test_that_is_gone(repository: Repository) -> None:
    repository.run()
    (repository.folder / "python/tests/helper.py").unlink()
    assert repository.tool() == ALL
