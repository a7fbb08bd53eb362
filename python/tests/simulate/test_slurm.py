# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `--slurm` on a Slurm of one node that the test starts: jobs are ended early and submitted again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import REAL_RUNS, REAL_SWEEP, Simulate, until_on_disk

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("ns3")]

# Without a login daemon: nobody but this test talks to it.
CONFIGURATION = """
ClusterName=one
SlurmctldHost=localhost
SlurmUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=17817
SlurmdPort=17818
StateSaveLocation={0}/state
SlurmdSpoolDir={0}/spool
SlurmctldPidFile={0}/slurmctld.pid
SlurmdPidFile={0}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
NodeName=localhost CPUs=2 RealMemory=3000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def _says(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not shutil.which("slurmctld") or not shutil.which("slurmd") or os.geteuid() != 0:
        pytest.skip("needs root, and the packages slurmctld slurmd slurm-client")
    file = tmp_path / "slurm.conf"
    file.write_text(CONFIGURATION.format(tmp_path))
    (tmp_path / "state").mkdir()
    (tmp_path / "spool").mkdir()
    monkeypatch.setenv("SLURM_CONF", str(file))
    with ExitStack() as stack:
        for words in (["slurmctld", "-D"], ["slurmd", "-D", "-N", "localhost"]):
            with (tmp_path / f"{words[0]}.log").open("wb") as log:
                process = subprocess.Popen(words, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        deadline = time.monotonic() + 30
        while "idle" not in _says("sinfo", "-h", "-o", "%T"):
            assert time.monotonic() < deadline, "no node"
            time.sleep(0.2)
        yield


def test_jobs_that_end_early_are_replaced(
    slurm: None, tmp_path: Path, simulate: Simulate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file, out = tmp_path / "sweep.toml", tmp_path / "slurm"
    file.write_text(REAL_SWEEP)
    serial = simulate(file, "--profile", "t", "--jobs", "1", out=tmp_path / "serial")
    words = ["simulate", file, "--profile", "t", "--out", out, "--slurm", "2", "-q"]
    client = subprocess.Popen([sys.executable, "-m", "tcplearn", *words], stdout=subprocess.DEVNULL)
    until_on_disk(4, out, client)
    before = set(_says("squeue", "-h", "-o", "%i").split())
    assert len(before) == 2
    subprocess.run(["scancel", *before], check=True)  # as the time limit does
    assert client.wait(timeout=180) == 0
    assert len(list(out.glob("runs/*/*.json"))) == REAL_RUNS
    assert simulate(file, "--profile", "t", out=out) == serial
    started = set(_says("scontrol", "-o", "show", "job").split("JobId=")[1:])
    assert len(started) > len(before)
    assert not _says("squeue", "-h", "-t", "RUNNING,PENDING"), "jobs are left behind"
    assert not list(tmp_path.glob("slurm-*.out"))  # their logs are beside the results
    assert list((out / "slurm").iterdir())
