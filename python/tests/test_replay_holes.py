# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a replay does not depend on the file's name, does not store all of a long stall, and does not
write Parquet to a terminal."""

from __future__ import annotations

import json
import os
import pty
import random
import subprocess
import sys
from pathlib import Path

import pytest

from samples import PEAK_MB

REPLAY = [sys.executable, "-m", "tcplearn", "replay"]


def series(path: Path, count: int = 400) -> Path:
    chance = random.Random(1)
    path.write_text(
        "t_s,rtt_ms\n" + "".join(f"{i / 10},{chance.uniform(20, 60):.3f}\n" for i in range(count))
    )
    return path


def test_the_same_data_by_another_name_has_the_same_intervals(tmp_path: Path) -> None:
    found = []
    for name in ("one.csv", "another.csv"):
        run = subprocess.run([*REPLAY, series(tmp_path / name), "--format", "json"], capture_output=True)
        rows = json.loads(run.stdout)
        assert any(key.endswith("_low") and value for row in rows for key, value in row.items())
        of_file = ("source", "flow", "command")
        found.append([{k: v for k, v in row.items() if k not in of_file} for row in rows])
    assert found[0] == found[1]


STALL = (
    PEAK_MB
    + """
import numpy as np
from tcplearn import _native, estimators
from tcplearn.traces import schema
specs = [s for s in estimators.compared((), None) if s.core]
engine = _native.ReplayEngine([(s.name, "double", dict(s.params)) for s in specs], 0, 0.0)
now, before = 0, 0
for part in range(20):
    rtt_us = np.full(50_000, 10_000, np.int64)
    if part == 0:
        rtt_us[0] = 1_000_000_000
    time_us = now + np.cumsum(np.where(rtt_us > 10_000, rtt_us, 1000))
    now, sent_us = int(time_us[-1]), time_us - rtt_us
    given = {"time_us": time_us, "sent_us": sent_us, "rtt_us": rtt_us, "armed_us": sent_us}
    given |= {"head_sent_us": sent_us, "flow": np.zeros(50_000, np.uint32)}
    before = peak_mb() if part == 1 else before
    engine.feed(schema.batch(given))
print(peak_mb() - before)
"""
)


def test_a_long_stall_does_not_keep_eight_times_its_length() -> None:
    run = subprocess.run([sys.executable, "-c", STALL], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 20  # MB after the first part; all rows take 200


@pytest.mark.parametrize("output", [[], ["-o", "/dev/stdout"], ["-o", "TTY"]])
def test_parquet_is_not_for_a_terminal(tmp_path: Path, output: list[str]) -> None:
    leader, terminal = pty.openpty()
    output = [os.ttyname(terminal) if word == "TTY" else word for word in output]
    command = [*REPLAY, series(tmp_path / "a.csv"), "--format", "parquet", *output]
    run = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, text=True)
    os.close(terminal)
    os.close(leader)
    assert run.returncode == 2
    assert run.stderr == "tcplearn: Parquet is not for a terminal; add -o FILE or send it into a pipe\n"
