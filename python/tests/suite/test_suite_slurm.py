# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `suite --slurm` on a simulated Slurm: sbatch starts the job on this machine, and scancel ends it.

`python/tests/simulate/test_slurm.py` uses a real Slurm."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import suite_traces
from test_suite_jobs import SLOW, kept, rows_of, until_kept

SBATCH = """#!/bin/sh
# as Slurm: the script is copied before this returns, the job is on its own, and its number is printed
cp "$1" "$0.job.$$"
setsid sh "$0.job.$$" >/dev/null 2>&1 &
echo "$!" >>"$0.started"
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
echo "$@" >>"$0.called"
for job in "$@"; do kill -TERM -"$job" 2>/dev/null; done
exit 0
"""
FILES = 12


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    pytest.importorskip("dask_jobqueue")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    yield folder
    for job in jobs_started(folder):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job, signal.SIGKILL)


def jobs_started(programs: Path) -> list[int]:
    path = programs / "sbatch.started"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def until_gone(jobs: list[int]) -> None:
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{job}/task").exists() for job in jobs):
        assert time.monotonic() < deadline, "jobs are left behind"
        time.sleep(0.1)


@pytest.mark.full
def test_a_suite_as_slurm_jobs(
    programs: Path, tmp_path: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    for seed in range(FILES):
        (folder / f"{seed}.csv").write_text(suite_traces.csv(seed, 4000))
    words = ["suite", str(folder), *SLOW[:6]]
    client = subprocess.Popen(
        [sys.executable, "-m", "tcplearn", *words, "--slurm", "2", "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until_kept(2, own_cache, client, seconds=300)
    first = jobs_started(programs)
    assert len(first) == 2
    subprocess.run(["scancel", str(first[0])], check=True)  # as the time limit does
    out, err = client.communicate(timeout=600)
    assert client.returncode == 0, err
    assert b"estimator" in out and len(kept(own_cache)) == FILES
    by_slurm = rows_of(capsys, *words)  # of what was kept
    until_gone(jobs_started(programs))
    assert rows_of(capsys, *words, "--fresh") == by_slurm


def test_without_slurm_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dask_jobqueue")
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "a.csv").write_text(suite_traces.csv(1, 600))
    run = subprocess.run(
        [sys.executable, "-m", "tcplearn", "suite", str(folder), "--slurm", "1", "-q"],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PATH": "/nowhere"},
    )
    line = "tcplearn: --slurm: there is no sbatch here; run it where jobs are submitted\n"
    assert (run.returncode, run.stdout, run.stderr) == (2, "", line)
