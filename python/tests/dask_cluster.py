# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Provides a Dask cluster for one test."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path


class Cluster:
    """Runs a scheduler and two workers, each in a process of its own that is not restarted if it ends."""

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
