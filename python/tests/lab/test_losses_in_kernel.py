# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the loss classifiers in the real kernel: their decisions, the same decisions in the core, and the
packets that were lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import ONE_HOP, refused

from samples import ROOT
from tcplearn import metrics as vocabulary
from tcplearn.__main__ import main
from tcplearn.lab import guest, kernel_log, run, scenario, truth
from tcplearn.traces import tlog_losses

LAB = ROOT / "experiments" / "hwang2018" / "lab"
SMOKE = "smoke"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the folder with the paper's page of a short run of one scenario, and the folder of that run."""
    folder = tmp_path_factory.mktemp("hwang2018")
    words = [
        "experiments",
        "hwang2018",
        "loss-1e-2/smoke",
        "--page",
        "lab",
        "--profile",
        "smoke",
        "-q",
        "--run",
    ]
    words += ["--file", str(folder / "runs.parquet"), "--out", str(folder / "kept"), "-o", str(folder)]
    assert main(words) == 0
    return folder, next((folder / "kept" / "lab").glob("lab-loss-1e-2-*"))


def test_each_decision_is_the_cores_on_the_logged_acks(page: tuple[Path, Path]) -> None:
    chosen = scenario.load(LAB / "loss-1e-2.toml", SMOKE)
    compared = []
    for arm in guest.arms(chosen, 0):
        if arm.loss:
            c = kernel_log.opened(page[1] / arm.folder / "log").connection
            assert c.lost == 0
            compared.append(tlog_losses.compare(c, arm.loss))
            other = tlog_losses.compare(
                c, "congestion"
            )  # another classifier says otherwise, of the same features
            assert other.features == 0
    assert sum(part.decisions for part in compared) >= 3
    assert all(part.features == part.answers == 0 for part in compared)


def test_the_page_has_every_sender_and_known_metrics(page: tuple[Path, Path]) -> None:
    text = (page[0] / "lab.md").read_text()
    for name in ("ML-TCP, the paper's", "ML-TCP, wide", "ML-TCP, adaptive", "BBR"):
        assert f"| {name} |" in text
    assert "| 0 of " in text and "lab-figure-05.svg" in text and "lab-windows.svg" in text
    assert (page[0] / "figures" / "lab-windows.svg").read_text().startswith("<svg")
    rows = run.run(
        scenario.load(LAB / "loss-1e-2.toml", SMOKE), run.Options(out=page[0] / "kept" / "lab")
    ).rows
    assert all(vocabulary.known(row["metric"], vocabulary.LAB) for row in rows)
    costs = [row["value"] or 0 for row in rows if row["metric"] == "instructions_per_decision"]
    assert costs and min(costs) > 50


def test_the_captures_say_who_dropped_what(page: tuple[Path, Path]) -> None:
    drops = truth.drops(page[1])
    assert drops and {drop.by for drop in drops} <= {truth.QUEUE, truth.CHANNEL}
    assert not (page[1] / "pcap").exists()
    assert all(drop.resent_us > drop.sent_us for drop in drops)


@pytest.mark.parametrize(
    ("algorithms", "message"),
    [
        ('loss = ["mpl"]', "no loss classifier 'mpl'; did you mean mlp\\?"),
        ('loss = ["mlp:limit=1"]', "has no parameter 'limit'"),
        ('loss = ["mlp:threshold=2"]', "threshold"),
        ('loss = ["mlp:threshold=x"]', "threshold=x: it takes a number from 0 to 1"),
        ('loss = ["mlp"]\ncongestion = ["vegas"]', "reno and cubic only, not with vegas"),
        ('plain = ["bbr3"]', "should be 'reno'"),
    ],
)
def test_a_mistake_about_losses_is_one_line(tmp_path: Path, algorithms: str, message: str) -> None:
    refused(tmp_path, f"{ONE_HOP}[algorithms]\n{algorithms}\n", message)
