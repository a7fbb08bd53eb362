# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a user's path file gives the expected response times both in the lab and in ns-3."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samples import ROOT
from tcplearn.lab import requests, run
from tcplearn.lab import scenario as lab
from tcplearn.simulate import engine, run_job
from tcplearn.simulate import scenario as simulation

EXAMPLE = ROOT / "examples" / "path"
COUNT = 120  # 16 s: a period of its fade and its change, or two where losses hold requests up
FIRST = 80  # of the first period alone


def in_the_lab(folder: Path) -> np.ndarray:
    file = folder / "lab.toml"
    file.write_text(
        f'extends = "{EXAMPLE / "lab.toml"}"\n[profiles.stock]\ntransfer.requests.count = {COUNT}\n'
        "runs.count = 1\nalgorithms = { rto_min_ms = [0], settings = [], resends = [] }\n"
    )
    finished = run.run(lab.load(file, "stock"), run.Options(out=folder / "runs"))
    assert not finished.failures
    return requests.responses_ms(finished.folders[0] / "cubic+stock+tlp-on")


def in_ns3() -> np.ndarray:
    stock = simulation.runs(EXAMPLE / "ns3.toml", "smoke")[0]
    document = run_job.job(stock, 1.0).arguments[0]
    document["load"]["count"] = COUNT
    return np.array(engine.simulate(document)["run"]["responses_us"]) / 1000


def test_a_users_path_is_the_same_in_both_hosts(tmp_path: Path) -> None:
    if not list(Path("/usr/lib").glob("*/cmake/ns3/ns3Config.cmake")):
        pytest.skip("ns-3 is not installed: run `make ns3`")
    engine.build()
    for found in (in_the_lab(tmp_path), in_ns3()):
        assert len(found) == COUNT
        # 24 ms and 1,054 bytes at 5 Mbit/s; for a third of the time 18 ms more, and at 1 Mbit/s
        usual, slow = found < 36, (found > 40) & (found < 62)
        assert np.median(found[usual]) == pytest.approx(25.8, abs=1.5)
        assert np.median(found[slow]) == pytest.approx(50.5, abs=2)
        assert 0.5 < usual[:FIRST].mean() < 0.9 and 0.1 < slow[:FIRST].mean() < 0.45
        assert found.max() > 300  # the fade of 0.6 s, and bursts that only packets end
