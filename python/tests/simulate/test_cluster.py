# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test a sweep of real runs on a Dask cluster that loses a worker and whose client is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REAL_RUNS, REAL_SWEEP, Simulate, until_on_disk
from dask_cluster import Cluster

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("ns3")]


def test_a_dask_cluster_loses_a_worker_and_its_client(
    cluster: Cluster, tmp_path: Path, simulate: Simulate
) -> None:
    file, out = tmp_path / "sweep.toml", tmp_path / "dask"
    file.write_text(REAL_SWEEP)
    serial = simulate(file, "--profile", "t", "--flows", "--jobs", "1", out=tmp_path / "serial")
    words = ["simulate", file, "--profile", "t", "--out", out, "--scheduler", cluster.address, "-q"]
    client = subprocess.Popen([sys.executable, "-m", "tcplearn", *words], stdout=subprocess.DEVNULL)
    until_on_disk(6, out, client)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    until_on_disk(14, out, client)
    client.send_signal(signal.SIGINT)
    assert client.wait(timeout=30) == 130
    kept = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/*.json")}
    assert 14 <= len(kept) < REAL_RUNS
    assert cluster.workers[0].wait() == -signal.SIGKILL
    assert cluster.workers[1].poll() is None

    resumed = simulate(file, "--profile", "t", "--flows", "--scheduler", cluster.address, out=out)
    assert resumed == serial
    named = [(r["run"], r["flow"], r["metric"]) for r in resumed]
    assert len(set(named)) == len(named)
    assert len({r["run"] for r in resumed}) == len(list(out.glob("runs/*/*.json"))) == REAL_RUNS
    assert {path: path.stat().st_mtime_ns for path in kept} == kept  # none was run again
