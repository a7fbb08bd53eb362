# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the load `long` with a number of packets: the transfer ends, and its duration is the result."""

from __future__ import annotations

import pytest

from conftest import ROOT
from experiments.baddam2018 import paper
from tcplearn.simulate import engine, run_job, scenario

FILE = ROOT / "experiments" / "baddam2018" / "downloads.toml"
PACKETS, MBPS = 400, 20


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("variant", ["reno-none", "reno-high"])
def test_a_transfer_ends_with_its_last_packet(variant: str) -> None:
    run = next(one for one in scenario.runs(FILE, "smoke") if one.labels["variant"] == variant)
    result = engine.simulate(run_job.job(run, 1.0).arguments[0])
    (flow,) = result["flows"]
    assert (flow["state"], flow["metrics"]["delivered_packets"]) == ("finished", PACKETS)
    metrics, _ = paper.keep(run, result)
    least_s = PACKETS * run.scenario.tcp.segment_bytes * 8e-6 / MBPS
    assert least_s < metrics[paper.TIME] < 5 and metrics["finished"] == 1


def test_a_transfer_without_packets_is_endless() -> None:
    file = ROOT / "experiments" / "hwang2018" / "figure-9.toml"
    endless = run_job.job(scenario.runs(file, "smoke")[0], 1.0).arguments[0]
    ending = run_job.job(scenario.runs(FILE, "smoke")[0], 1.0).arguments[0]
    assert endless["load"]["packets"] == [0, 0]
    assert ending["load"]["packets"] == [PACKETS, PACKETS]
