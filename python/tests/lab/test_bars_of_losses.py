# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018's page of the lab, of runs made up: a sender's bars are of the scenarios that have it."""

from __future__ import annotations

from samples import ROOT
from tcplearn.lab import scenario
from tcplearn.papers.hwang2018 import lab_page, lab_runs
from tcplearn.papers.hwang2018.runs import Point

FOLDER = ROOT / "papers" / "hwang2018" / "lab"
GOODPUTS = {"reno+none": 2.0, "veno+none": 3.0, "bbr+none": 4.0}


def made_up(file: str, **ours: float) -> tuple[str, tuple[scenario.Scenario, list[Point]]]:
    chosen = scenario.load(FOLDER / f"{file}.toml")
    points = [
        Point(chosen.name, sender, {}, seed, {"goodput_mbps": mbps, "retransmitted_packets": 100.0})
        for sender, mbps in (GOODPUTS | ours).items()
        for seed in (1, 2)
    ]
    return chosen.name, (chosen, points)


def test_history_is_judged_by_its_own_runs() -> None:
    found = dict(
        [
            made_up("loss-0", **{"reno+mlp:threshold=0.4": 4.0}),
            made_up("loss-1e-2", **{"reno+mlp:threshold=0.4": 3.2}),
            made_up("history-0", **{"reno+history": 4.8}),
            made_up("history-1e-2", **{"reno+history": 3.6}),
        ]
    )
    text = lab_page.page(found, lab_page.About("tcplearn", 0.9, "Notes.", ["6.1"], []))
    over_bbr = [line for line in text.splitlines() if line.startswith("| goodput at 0.01 over BBR's")]
    assert [line.split(" | ")[3].split()[0] for line in over_bbr] == ["0.80", "0.90"]
    over_lossless = [line for line in text.splitlines() if "over its own without loss" in line]
    assert [line.split(" | ")[3].split()[0] for line in over_lossless] == ["0.80", "0.75"]


def test_a_classifiers_name_says_its_threshold_where_two_have_one() -> None:
    assert lab_runs.name("reno+history") == "ML-TCP, history"
    assert lab_runs.name("cubic+history:threshold=0.45") == "ML-TCP, history at 0.45 over CUBIC"
