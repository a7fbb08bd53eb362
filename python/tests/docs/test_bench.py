# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that `make bench` runs with small inputs, and how it measures memory."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest

from samples import ROOT
from tcplearn import algorithms

sys.path.insert(0, str(ROOT / "bench"))

from measured import run


@pytest.mark.full
def test_every_part_of_the_benchmark_runs() -> None:
    out = ROOT / "out" / "bench-small.json"
    out.unlink(missing_ok=True)
    command = [sys.executable, str(ROOT / "bench" / "run.py"), "--small"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    updates = found["core"]["cpu_ns"]
    assert updates.keys() >= {
        f"{a}/{name}" for a in ("double", "fixed") for name in algorithms.by_name(algorithms.ESTIMATOR)
    }
    assert all(math.isfinite(ns) and ns > 0 for ns in updates.values())
    assert len(found["capture"]["runs"]) == 9 and found["capture"]["samples"] > 1000
    assert found["short_flows"]["peak_mb"].keys() == {"table", "json", "report", "explain"}
    shown = [*found["capture"]["runs"], "numpy loop", "short flows", "report"]
    assert all(any(line.startswith(name) for line in done.stdout.splitlines()) for name in shown)


def test_the_memory_is_the_command_s_own() -> None:
    """Test that the peak memory is that of the command itself. For a plain child process, Linux also counts
    the memory of the program that starts it."""
    ours = bytearray(b"x") * 300_000_000
    assert run(["true"]).peak_mb < 50 < len(ours) / 1e6
    assert run([sys.executable, "-c", "len(bytearray(b'x') * 100_000_000)"]).peak_mb > 100


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(SystemExit, match="no-such-file"):
        run(["ls", "no-such-file"])
