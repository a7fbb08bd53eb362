# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A sweep of real runs on a Dask cluster that loses a worker, and whose client is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import REAL_RUNS, REAL_SWEEP, Simulate, until_on_disk

pytestmark = pytest.mark.usefixtures("ns3")


class Cluster:
    """A scheduler and two workers, each a process of its own that nobody starts again."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.file = folder / "scheduler.json"
        self._folder, self._stack = folder, stack
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 30
        while not self.file.exists() or not self.file.read_text():
            assert time.monotonic() < deadline, "no scheduler"
            time.sleep(0.05)
        self.address: str = json.loads(self.file.read_text())["address"]
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
        self.workers = [self._start("worker", *options) for _ in range(2)]

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "dask", what, "--scheduler-file", str(self.file), *options]
        with (self._folder / f"{what}.log").open("ab") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


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
