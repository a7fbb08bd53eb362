# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that no Python process of tcplearn imports modules from the current directory, and that a job file can
call only functions that are jobs."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hostile import Hostile

import own_estimators
from samples import ROOT
from tcplearn import jobs, search_path
from tcplearn.jobs import Place, Store, job, pool
from tcplearn.lab import run as lab_run
from tcplearn.lab import scenario as lab_scenario
from tcplearn.replay.trace_jobs import Seen
from tcplearn.simulate import run_job, scenario
from tcplearn.study import measure as study
from tcplearn.suite import measure as suite

EXPERIMENTS = ROOT / "experiments"


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    for number, name in enumerate("ab"):
        lines = (f"{k / 10},{50 + number + k % 7}\n" for k in range(600))
        (folder / f"{name}.csv").write_text("time_s,rtt_ms\n" + "".join(lines))
    return folder


def test_a_suites_workers_and_a_users_estimator_on_pythonpath(
    hostile: Hostile, traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    with own_estimators.installed(site, monkeypatch):
        words = (
            "suite",
            traces,
            "--jobs",
            "2",
            "-e",
            "last",
            "-e",
            "plain-timer",
            "--format",
            "json",
        )
        done = hostile.tcplearn(*words, PYTHONPATH=str(site))
    assert done.returncode == 0 and {row["estimator"] for row in json.loads(done.stdout)} >= {"plain-timer"}
    assert hostile.imported() == [] and done.stderr == ""


def test_a_study(hostile: Hostile, traces: Path) -> None:
    done = hostile.tcplearn("study", "experts", traces / "a.csv", "--n", "20", "--jobs", "2", "-q")
    assert (done.returncode, done.stderr, hostile.imported()) == (0, "", [])


def test_the_bridge_to_a_users_estimator_in_a_simulation(
    hostile: Hostile, tmp_path: Path, installed_example: str
) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(
        f'extends = "{EXPERIMENTS / "nunes2014" / "scenario-5.toml"}"\nname = "T"\n[profiles.t]\n'
        f'[[profiles.t.grids]]\nseeds = 1\nalgorithms = ["{installed_example}"]\n'
        'timings = ["every-ack"]\nvariants = []\nvary = {}\n'
    )
    (run,) = scenario.runs(file, "t")
    command = run_job.job(run, 1).arguments[0]["estimator"]["command"]
    done = hostile.run(["sh", "-c", command], "new 0\nupdate 0 9 0 9 1\n", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr, hostile.imported()) == (0, "", [])
    assert len(done.stdout.splitlines()) == 2


def described(file: Path, function: str, *arguments: object) -> Path:
    file.write_text(json.dumps({"function": function, "arguments": arguments}))
    return file


def repeat(hostile: Hostile, file: Path) -> Any:
    return hostile.run([sys.executable, "-P", "-m", "tcplearn.jobs", str(file)])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("os:system", ["touch imported"]),
        ("signal:signal", [{}]),
        ("tcplearn.lab.run:boot.__globals__", [{}]),
        ("tcplearn.study.measure:part", ["touch imported"]),
        ("tcplearn.study.measure:part", []),
        ("tcplearn.study.measure:part", [{}]),
        ("", []),
    ],
)
def test_a_file_that_is_no_job_is_refused(
    hostile: Hostile, tmp_path: Path, function: str, arguments: list[object]
) -> None:
    file = described(tmp_path / "job.json", function, *arguments)
    done = repeat(hostile, file)
    assert (done.returncode, done.stdout, hostile.imported()) == (2, "", [])
    assert done.stderr.startswith(f"{file}: no job of tcplearn") and done.stderr.count("\n") == 1
    assert not (hostile.cwd / "imported").exists()


@pytest.mark.parametrize("content", [b"\xff", b"[]", b"3", b"{", b'{"function": [], "arguments": [{}]}'])
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "job.json"
    file.write_bytes(content)
    with pytest.raises(job.UserError, match=r"job.json: no job of tcplearn[:;] ") as refused:
        jobs.repeated(file)
    assert refused.value.exit_code == 2


def test_what_repeats_a_failed_job(hostile: Hostile, traces: Path, tmp_path: Path) -> None:
    settings = {"sender": "auto", "every_ack": False, "flow": "", "min_samples": 30, "arithmetic": "double"}
    (work,) = study.jobs(Seen.of(traces / "a.csv"), settings, ["last"])
    broken = jobs.Job(work.key, work.function, ({**work.arguments[0], "identity": "another"},), "a.csv")
    done = jobs.run([broken], Store(tmp_path / "kept"), Place(1).pool(tmp_path), say=lambda _: None)
    command = shlex.split(done.failures[0].partition("; again: ")[2])
    again = hostile.run(command)
    assert again.returncode == 1 and again.stderr.startswith("tcplearn or an estimator of your own differs")
    file = Path(command[-1])
    described(file, "tcplearn.study.measure:part", *work.arguments)
    again = hostile.run(command)
    assert again.returncode == 0 and json.loads(again.stdout)["samples"] == [600]
    assert hostile.imported() == []


def test_every_job_whose_command_is_printed_can_be_repeated(traces: Path) -> None:
    seen = Seen.of(traces / "a.csv")
    works = [
        suite.job(seen, "a.csv", suite.Options(), False),
        *study.jobs(seen, {}, ["last"]),
        lab_run.job(
            lab_scenario.load(EXPERIMENTS / "nunes2014" / "live-1.toml"), 0, "fingerprint", lab_run.Options()
        ),
    ]
    assert {job.name_of(work) for work in works} < set(job.REPEATABLE)
    for name in job.REPEATABLE:
        module, _, function = name.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_pythonpath_counts_as_far_as_it_names_folders_outright(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here, site = str(tmp_path), "/opt/site"
    monkeypatch.setattr(sys, "path", ["", here, "/usr/lib/python3", f"{here}/lib", site])
    for given, kept in ((f"{site}:", site), (f".:{site}", site), (f"{site}:lib", site), (f"{here}:", here)):
        monkeypatch.setenv("PYTHONPATH", given)
        monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        before = [*sys.path]
        with search_path.safe():
            assert os.environ["PYTHONPATH"] == kept and os.environ["PYTHONSAFEPATH"] == "1"
            assert "" not in sys.path and (here in sys.path) == (here == kept or "lib" in given)
            assert (f"{here}/lib" in sys.path) == ("lib" not in given)
            assert {"/usr/lib/python3", site} <= {*sys.path}
        assert sys.path == before and os.environ["PYTHONPATH"] == given
        assert "PYTHONSAFEPATH" not in os.environ


def test_slurm_jobs_do_not_search_the_folder_that_they_were_submitted_from(tmp_path: Path) -> None:
    config = pytest.importorskip("dask.config")
    pytest.importorskip("dask_jobqueue")
    asked = pool._unless_configured(tmp_path)
    assert asked["python"] == f"{sys.executable} -P"
    with config.set({"jobqueue.slurm.python": "singularity exec image python"}):
        assert pool._unless_configured(tmp_path)["python"] == "singularity exec image python -P"
