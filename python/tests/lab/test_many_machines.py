# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test runs of the lab on other machines, and that virtual machines end when their parent is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dask_cluster import Cluster
from tcplearn.errors import FailedError
from tcplearn.jobs import Job, JobFailedError, Place
from tcplearn.lab import kept, machine, run, scenario

SCENARIO = """
name = "many"
[path.hop.link]
delay_ms = 10
forward = { rate_mbps = 10, queue_packets = 60, loss_percent = 1 }
[transfer]
bytes = "100kB"
[algorithms]
estimators = ["stock", "eifel"]
tlp = [false]
[runs]
count = 4
seed = 76543210
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "many.toml"
    path.write_text(SCENARIO)
    return path


def machines(seed: int) -> list[str]:
    """Return the running QEMU processes with the seed `seed`."""
    shown = subprocess.run(
        ["ps", "-ewwo", "comm,stat,args"], capture_output=True, text=True, check=True
    ).stdout
    found = [line for line in shown.splitlines() if line.startswith("qemu") and f"-seed {seed} " in line]
    return [line for line in found if not line.split()[1].startswith("Z")]


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def test_a_machine_ends_with_a_parent_that_is_killed(file: Path, tmp_path: Path) -> None:
    machine.prepare(machine.cache_folder())
    words = [sys.executable, "-m", "tcplearn", "lab", "run", str(file), "-j", "1", "-q"]
    process = subprocess.Popen([*words, "--out", str(tmp_path / "runs")], stdout=subprocess.DEVNULL)
    until(lambda: bool(machines(76543210)), 60, "no machine")
    process.kill()
    process.wait()
    until(lambda: not machines(76543210), 10, "a machine is left behind")
    assert not list((tmp_path / "runs").glob("many-*"))  # whole or not at all


@pytest.mark.full
def test_a_lab_scenario_on_dask_whose_worker_is_killed(cluster: Cluster, file: Path, tmp_path: Path) -> None:
    chosen = scenario.load(file)
    here = run.run(chosen, run.Options(out=tmp_path / "here"))
    words = [sys.executable, "-m", "tcplearn", "lab", "run", str(file), "-q", "--out", str(tmp_path / "dask")]
    client = subprocess.Popen([*words, "--scheduler", cluster.address], stdout=subprocess.DEVNULL)
    seeds = [run.seed_of(chosen, n) for n in range(4)]
    until(lambda: sum(bool(machines(seed)) for seed in seeds) == 2, 120, "not two machines")
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    assert client.wait(timeout=300) == 0
    assert cluster.workers[1].poll() is None
    there = run.run(chosen, run.Options(out=tmp_path / "dask", place=Place(scheduler="nobody:1")))
    assert there.rows == here.rows and len(here.folders) == 4
    assert not any(map(machines, seeds))


def test_what_fails_is_named_with_what_repeats_it_and_the_others_stay(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = scenario.load(file)

    def answer(document: dict[str, object]) -> bytes:
        if document["name"] == "many-002":
            raise JobFailedError("the guest is gone", "line of its console\n")
        raise FailedError("not this one either")

    answer.__module__, answer.__qualname__ = run.boot.__module__, run.boot.__qualname__
    monkeypatch.setattr(run, "boot", answer)
    lines: list[str] = []
    finished = run.run(chosen, run.Options(out=tmp_path), say=lines.append)
    assert finished.rows == [] and len(finished.failures) == 4 and lines == finished.failures
    gone = next(line for line in lines if "the guest is gone" in line)
    assert gone.startswith("many, run 2: the guest is gone; log: ") and " -P -m tcplearn.jobs " in gone
    assert "line of its console" in Path(gone.split("; ")[1].removeprefix("log: ")).read_text()


def test_a_folder_comes_back_as_it_was_packed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    (folder / "arm").mkdir(parents=True)
    (folder / "arm" / "log.gz").write_bytes(b"\0\1")
    (folder / "queue").write_text("text")
    store = kept.Folders(tmp_path / "runs")
    job = Job("key", run.boot, ({"name": "x-000"},))
    path = store.put(job, kept.packed(folder))
    assert store.get(job) == path and path.name == "x-000-key"
    assert (path / "arm" / "log.gz").read_bytes() == b"\0\1" and (path / "queue").read_text() == "text"
    assert [p.name for p in store.folder.iterdir()] == ["x-000-key"]


def test_a_run_of_another_machine_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "many.toml").write_text(SCENARIO)
    chosen = scenario.load(tmp_path / "many.toml")
    store = kept.Folders(tmp_path / "runs")
    (tmp_path / "a").mkdir()
    before = run.job(chosen, 0, "another machine", run.Options())
    path = store.put(before, kept.packed(tmp_path / "a"))
    assert store.get(before) == path
    assert store.get(run.job(chosen, 0, "today's", run.Options())) is None
