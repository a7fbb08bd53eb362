# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the plan of thousands of runs: the work that it does for each run, and the progress that it shows."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import PAPER
from tcplearn.__main__ import main
from tcplearn.cli import simulate as verb
from tcplearn.simulate import engine, run_job, scenario, sweep
from tcplearn.simulate.results import RunStore

FILE = PAPER / "scenario-5.toml"


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the calls of functions that take long."""
    counts: Counter[str] = Counter()
    dumps, read = json.dumps, RunStore._read

    def counted_dumps(*given: Any, **more: Any) -> str:
        counts["texts"] += 1
        return dumps(*given, **more)

    def counted_read(self: RunStore, key: str) -> Any:
        counts["reads"] += 1
        return read(self, key)

    monkeypatch.setattr(json, "dumps", counted_dumps)
    monkeypatch.setattr(RunStore, "_read", counted_read)
    return counts


def test_a_plan_reads_no_file_that_is_not_there(tmp_path: Path, done: Counter[str]) -> None:
    """Test that planning reads no stored results that do not exist. A plan of 21,000 runs once took a
    minute."""
    planned = sweep.stored([FILE], "quick", RunStore(tmp_path))
    runs = len(planned.jobs)
    assert runs > 30 and done["reads"] == 0 and done["texts"] < 6 * runs
    # which is what each has by itself
    alone = [run_job.job(run, 1.0) for run in scenario.runs(FILE, "quick")]
    assert {job.key: job.arguments for job in alone} == {job.key: job.arguments for job in planned.jobs}


def test_runs_of_today_are_found(tmp_path: Path) -> None:
    kept = RunStore(tmp_path)
    first, second, *_ = sweep.plan([FILE], "quick").jobs
    for job in (first, second):
        kept.put(job, {"flows": [], "run": {"metrics": {}, "cost": {"cpu_s": 1}}})
    results = sweep.stored([FILE], "quick", kept).done.results
    assert results == {job.key: kept.get(job) for job in (first, second)} and all(results.values())


def test_another_ns3_and_another_core_have_other_runs(
    installed: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = scenario.runs(FILE, "quick")[0]
    keys = set()
    for minor in (37, 43):
        installed(minor)
        keys.add(run_job.job(run, 1.0).key)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "identity", lambda: "another core")
        keys.add(run_job.job(run, 1.0).key)
    assert len(keys) == 3


@pytest.mark.parametrize("fresh", [False, True])
def test_a_terminal_shows_that_a_plan_is_made(
    fresh: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    @contextlib.contextmanager
    def bar(quiet: bool) -> Iterator[Any]:
        yield None if quiet else lambda share, text: told.append(text)

    monkeypatch.setattr(verb, "progress_bar", bar)
    words = ["simulate", str(FILE), "--profile", "quick", "--plan", "--out", str(tmp_path)]
    assert main([*words, *(["--fresh"] if fresh else [])]) == 0
    assert told[0] == "0 runs planned" and told[-1].endswith(" runs planned" if fresh else " found")
    assert " runs, " in capsys.readouterr().err
