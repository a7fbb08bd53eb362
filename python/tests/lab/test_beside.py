# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the goodput of other traffic beside a transfer: the script that measures it, and the metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.lab import guest, results, scenario

FILE = ROOT / "experiments" / "hwang2018" / "lab" / "beside-1e-2.toml"


def test_a_scenario_with_the_truth_counts_what_others_send_around_each_transfer() -> None:
    chosen = scenario.load(FILE)
    lines = guest.script(chosen, 0).splitlines()
    for arm in guest.arms(chosen, 0):
        start = next(i for i, line in enumerate(lines) if line.startswith(f"transfer {arm.folder} "))
        assert lines[start - 1].endswith(f"/out/{arm.folder}/before.x0")
        assert lines[start + 2].endswith(f"/out/{arm.folder}/after.x0")
    live = scenario.load(ROOT / "experiments" / "nunes2014" / "live-1.toml")
    assert live.traffic and ".x0" not in guest.script(live, 0)


def test_half_of_the_rate_each_is_fair(tmp_path: Path) -> None:
    chosen = scenario.load(FILE)
    counted = {tmp_path / "before.x0": 1000.0, tmp_path / "after.x0": 3000.0}

    def read(path: Path) -> dict[str, float]:
        return {"TcpExtTCPOrigDataSent": counted[path]}

    sent_bits = 2000 * results.SEGMENT_BYTES * 8
    found = dict(results.beside_figures(chosen, tmp_path, 2.0, sent_bits / 2.0, read))
    assert found == {"beside_goodput_mbps": pytest.approx(2.0), "jain_index": pytest.approx(1.0)}
    found = dict(results.beside_figures(chosen, tmp_path, 6.0, sent_bits / 2.0, read))
    assert found["jain_index"] == pytest.approx(64 / 2 / 40)
    without = chosen.model_copy(update={"truth": False})
    assert not list(results.beside_figures(without, tmp_path, 2.0, 1.0, read))
