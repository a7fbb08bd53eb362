# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the causes of losses in ns-3: short runs of hwang2018's scenarios, labelled rows, and networks drawn
by seed."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT, Simulate
from experiments.hwang2018.sample import CALLS
from tcplearn import metrics
from tcplearn.__main__ import main
from tcplearn.errors import UserError
from tcplearn.simulate import draws, engine, run_job, scenario
from tcplearn.simulate.scenario import Run

PAPER = ROOT / "experiments" / "hwang2018"
SCENARIOS = sorted(set(PAPER.glob("*.toml")) - {PAPER / "common.toml"})


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("file", SCENARIOS, ids=lambda p: p.stem)
def test_smoke_of_every_scenario(file: Path, simulate: Simulate) -> None:
    rows = simulate(file, "--profile", "smoke")
    assert rows and all(metrics.known(row["metric"], metrics.NS3) for row in rows)
    by = {(r["run"], r["metric"]): r["value"] for r in rows}
    for run in {r["run"] for r in rows}:
        assert by[run, "flows_died"] == 0
        assert by[run, "goodput_mbps"] > 0
        assert all(by[run, name] >= 0 for name in CALLS)
    oracles = {r["run"] for r in rows if '"oracle"' in r["parameters"]}
    for run in oracles:
        assert by[run, "random_called_congestion"] == by[run, "congestion_called_random"] == 0


@pytest.mark.usefixtures("ns3")
def test_each_fast_retransmit_is_a_row(tmp_path: Path) -> None:
    file = tmp_path / "losses.parquet"
    words = ["simulate", str(PAPER / "training.toml"), "--profile", "smoke", "--losses", str(file)]
    assert (
        main([*words, "--format", "json", "-o", str(tmp_path / "rows.json"), "--out", str(tmp_path), "-q"])
        == 0
    )
    found = pl.read_parquet(file)
    rows = json.loads((tmp_path / "rows.json").read_text())
    total = sum(r["value"] for r in rows if r["metric"] in CALLS)
    assert len(found) == total > 0
    assert set(found["truth"]) <= {"congestion", "random"}
    assert ((found["truth"] == "congestion") == (found["queue_drops"] > 0)).all()
    assert found["rtt_min_to_rtt"].is_between(0, 1).all()
    assert set(found["scenario"]) == {"hwang2018 0.01 0.6 1"}  # what is varied, and the seed


def test_no_rows_no_file(tmp_path: Path, fake_engine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "simulate",
        str(ROOT / "experiments" / "nunes2014" / "scenario-5.toml"),
        "--profile",
        "smoke",
        "-q",
    ]
    out = ["--losses", str(tmp_path / "l.parquet"), "--out", str(tmp_path)]
    assert main([*words, *out]) == 2
    assert "no fast retransmit is recorded" in capsys.readouterr().err


def drawn() -> list[Run]:
    return scenario.runs(PAPER / "wide.toml", "full")


def test_a_network_is_drawn_by_its_number_alone() -> None:
    many = drawn()
    assert len(many) == 500
    few = scenario.runs(PAPER / "wide.toml", "first")
    assert [r.scenario for r in few] == [r.scenario for r in many[:60]]
    rates = [r.drawn["topology.rate_mbps"] for r in many]
    assert min(rates) >= 1 and max(rates) <= 50 and len(set(rates)) == 500
    assert {r.scenario.topology.queue for r in many} == {"droptail", "codel", "fq-codel"}
    assert {r.scenario.load.udp for r in many} == {"none", "cbr", "onoff"}
    without = sum(r.scenario.topology.loss_rate == 0 for r in many)
    assert 60 <= without <= 140  # a fifth


def test_what_a_grid_sets_is_not_labelled_as_drawn() -> None:
    found = scenario.runs(PAPER / "calibration-cubic.toml", "quick")
    assert all(run.labels["topology.queue"] == run.scenario.topology.queue for run in found)
    assert {run.drawn.get("topology.queue") for run in found} == {None, "droptail", "codel", "fq-codel"}


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ({"of": []}, "of: wrong values"),
        ({"log": [0.0, 1.0]}, "log: wrong values"),
        ({"even": [1.0]}, "even: wrong values"),
        ({"normal": [0, 1]}, "no 'normal'; give one of even, log, of, any"),
        ([1, 2], "give one of even, log, of, any"),
    ],
)
def test_a_wrong_draw_is_refused_in_one_line(source: object, complaint: str) -> None:
    with pytest.raises(UserError, match=r"^grid\.draw\.topology\.rtt_ms: ") as error:
        draws.drawn({"topology.rtt_ms": source}, "t", 1)
    assert complaint in str(error.value)


def test_weights_are_in_the_key_of_learned_classifiers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCPLEARN_NS3", raising=False)
    by_sender = {r.labels["variant"]: r for r in scenario.runs(PAPER / "figure-5.toml", "smoke")}

    def keys(weights: str) -> dict[str, str]:
        monkeypatch.setattr(engine, "weights", lambda: weights)
        return {sender: run_job.job(run, 1.0).key for sender, run in by_sender.items()}

    before, after = keys("a"), keys("b")
    assert {sender for sender in before if before[sender] != after[sender]} == {"ml-hwang2018"}
