# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that requests over the same path file in ns-3 and over the emulated link have similar response times
and loss rates."""

from __future__ import annotations

import json
import math
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulate_command import emulated, missing, on_a_busy_machine, path_file

from samples import ROOT
from tcplearn.simulate import engine, run_job, scenario

TALK = Path(__file__).parents[1] / "live" / "small_talk.py"
PATH = """
[hop.line]
delay_ms = 10
forward = { rate_mbps = 3, jitter_ms = 4, distribution = "uniform", loss_percent = 5 }
reverse = { jitter_ms = 2 }
"""
COUNT = 130
THINK_MS = 5
_LOST_MS = 150  # requests without a loss take less, with one Linux's 200 ms more


def _simulated(folder: Path, path: Path, count: int) -> list[float]:
    file = folder / "x.toml"
    file.write_text(
        f'extends = "{ROOT}/ns3/scenarios/thin.toml"\nname = "x"\n[scenario]\npath = "{path}"\n'
        f"load.count = {count}\nload.think_s = {THINK_MS / 1000}\n"
        '[grid]\nseeds = 1\nvariants = []\nvary = { "tcp.resend" = ["stock"] }\n'
    )
    (one,) = scenario.runs(file, "full")
    result: dict[str, Any] = engine.simulate(run_job.job(one, 1.0).arguments[0])["run"]
    return [us / 1000 for us in result["responses_us"]]


@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.skipif(
    not list(Path("/usr/lib").glob("*/cmake/ns3/ns3Config.cmake")),
    reason="ns-3 is not installed: run `make ns3`",
)
@on_a_busy_machine
def test_requests_take_as_long_as_in_ns3(tmp_path: Path) -> None:
    engine.build()
    path = path_file(tmp_path, PATH)
    simulated = np.array(_simulated(tmp_path, path, 4000))
    options = ("--server", shlex.join([sys.executable, str(TALK), "serve"]), "--wait-port", 7000)
    words = (sys.executable, TALK, "ask", "198.18.0.2", COUNT, THINK_MS, 1)
    result = emulated(tmp_path, path, *words, options=options)
    found = np.array(json.loads(result["output"])["ms"])
    # delays spread over 12 ms; on a busy machine programs get their packets later, never sooner
    later = [float(np.quantile(found, q) - np.quantile(simulated, q)) for q in (0.1, 0.25, 0.5, 0.75)]
    assert min(later) > -1 and max(later) < 3, later
    share, lost = float((simulated > _LOST_MS).mean()), int((found > _LOST_MS).sum())
    assert share == pytest.approx(0.05, abs=0.02)
    assert abs(lost - COUNT * share) <= 4 * math.sqrt(COUNT * share)
    after = [float(np.median(ms[(ms > _LOST_MS) & (ms < 300)])) for ms in (simulated, found)]
    assert after[0] == pytest.approx(after[1], abs=15)  # what a loss costs
