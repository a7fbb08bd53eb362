# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A plan of thousands of runs: what it does for each of them, and what is seen meanwhile."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
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
def version_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The ns-3 whose runs of earlier versions are known, whichever is here and is remembered."""
    remembered = engine.identity, engine.earlier, run_job._then
    monkeypatch.setattr(engine, "ns3_version", lambda: engine.PAGES_NS3)
    for function in remembered:
        function.cache_clear()
    yield
    for function in remembered:
        function.cache_clear()


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the costly steps were taken."""
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


@pytest.mark.usefixtures("version_of_the_pages")
def test_the_work_of_a_plan_does_not_grow_with_the_earlier_versions(
    tmp_path: Path, done: Counter[str]
) -> None:
    """The plan of 21,000 runs once took a minute: each was hashed and looked for as of 34 versions."""
    assert len(engine.earlier()) > 10
    planned = sweep.stored([FILE], "quick", RunStore(tmp_path))
    runs = len(planned.jobs)
    assert runs > 30 and max(len(job.earlier) for job in planned.jobs) > 10
    assert done["reads"] == 0 and done["texts"] < 6 * runs
    # which is what each has by itself
    alone = [run_job.job(run, 1.0) for run in scenario.runs(FILE, "quick")]
    found = {job.key: (job.earlier, job.arguments) for job in planned.jobs}
    assert {job.key: (job.earlier, job.arguments) for job in alone} == found


@pytest.mark.usefixtures("version_of_the_pages")
def test_runs_of_today_and_of_an_earlier_version_are_found(tmp_path: Path, done: Counter[str]) -> None:
    kept = RunStore(tmp_path)
    first, second, *_ = sweep.plan([FILE], "quick").jobs
    for key in (first.key, second.earlier[-1]):
        path = kept.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        run = {"metrics": {}, "cost": {"cpu_s": 1}}
        path.write_text(json.dumps({"key": key, "format": 2, "commit": "x", "flows": [], "run": run}))
    results = sweep.stored([FILE], "quick", kept).done.results
    assert results == {job.key: kept.get(job) for job in (first, second)} and all(results.values())


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
