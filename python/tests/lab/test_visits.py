# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test requests of real programs, and a receiver that delays its ACKs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import ONE_HOP, refused

from samples import ROOT
from tcplearn.lab import guest, kernel_log, requests, run, scenario
from tcplearn.lab.scenario import Scenario

SCENARIOS = ROOT / "linux" / "lab" / "scenarios"


def _few(chosen: Scenario, count: int) -> Scenario:
    """Return the scenario `chosen` with `count` requests, one run, and no algorithms except stock and
    `priced`."""
    t = chosen.transfer
    name = "visits" if t.visits else "requests"
    few = t.model_copy(update={name: getattr(t, name).model_copy(update={"count": count})})
    ours = chosen.algorithms.model_copy(update={"rto_min_ms": [0], "settings": [], "resends": ["priced"]})
    one = chosen.runs.model_copy(update={"count": 1})
    return chosen.model_copy(update={"transfer": few, "algorithms": ours, "runs": one})


@pytest.mark.full
@pytest.mark.parametrize("profile", ["fresh", "echo"])
def test_a_program_reports_each_response(tmp_path: Path, profile: str) -> None:
    chosen = _few(scenario.load(SCENARIOS / "programs-requests.toml", profile), 20)
    finished = run.run(chosen, run.Options(out=tmp_path))
    assert not finished.failures
    value = {(row["algorithm"], row["metric"]): row["value"] for row in finished.rows}
    for arm in guest.arms(chosen, 0):
        times_ms = requests.responses_ms(finished.folders[0] / arm.folder)
        # half the path's 30 ms, twice where there is a handshake: its jitter is normal, 2 ms each way
        assert len(times_ms) == 20 and times_ms.min() > (30 if profile == "fresh" else 15)
    assert value["cubic+priced", "resend_events"] >= 40
    assert value["cubic+priced", "resend_differences"] == 0


@pytest.mark.full
def test_acks_without_data_come_late(tmp_path: Path) -> None:
    chosen = _few(scenario.load(SCENARIOS / "thin-delayed-acks-200.toml"), 25)
    finished = run.run(chosen, run.Options(out=tmp_path))
    (connection,) = kernel_log.parsed(
        finished.folders[0] / "cubic+priced+tlp-on" / "log"
    ).connections.values()
    rtt_ms = connection.resends["rtt_us"][connection.resends["rtt_us"] > 0] / 1000
    assert rtt_ms.max() < 245 and (rtt_ms > 180).any() and ((rtt_ms > 25) & (rtt_ms < 150)).any()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[transfer]\nby = "echo"', "one file: by send or nginx or iperf3, not echo"),
        ('[transfer]\nby = "iperf3"\nvisits = {}', "visits: by nginx or echo, not iperf3"),
        ('[transfer]\nby = "nginx"\nvisits = {}\npages = { sizes = [1] }', "visits and pages are two ways"),
    ],
)
def test_a_mistake_about_visits_is_one_line(tmp_path: Path, more: str, message: str) -> None:
    refused(tmp_path, f"{ONE_HOP}{more}\n", message)
