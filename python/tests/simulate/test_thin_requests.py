# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test requests in ns-3 whose retransmission timer a resend policy runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT, Simulate
from tcplearn import algorithms
from tcplearn.cli import main
from tcplearn.simulate import engine, run_job, scenario

THIN = ROOT / "ns3" / "scenarios" / "thin.toml"


def _run(resend: str, **set_: Any) -> dict[str, Any]:
    run = scenario.runs(THIN, "smoke")[0]
    tree = run.scenario.model_dump(exclude={"path"})
    tree["tcp"]["resend"] = resend
    for key, value in set_.items():
        part, _, name = key.partition("__")
        tree[part][name] = value
    changed = type(run.scenario).model_validate(tree)
    document = run_job.job(type(run)(run.file, run.document, changed, run.algorithm, run.timing, 1), 1.0)
    return engine.simulate(document.arguments[0])


@pytest.mark.usefixtures("ns3")
def test_the_smoke_profile(simulate: Simulate) -> None:
    rows = simulate(THIN, "--profile", "smoke")
    assert {json.loads(row["parameters"])["variant"] for row in rows} == {"wired", "fades"}
    assert {row["value"] for row in rows if row["metric"] == "requests"} == {40.0}


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("name", list(algorithms.by_name(algorithms.RESEND)))
def test_every_policy_of_the_core_runs_the_timer(name: str) -> None:
    result = _run(name, load__count=200, topology__loss_rate=0.05)["run"]
    metrics = result["metrics"]
    assert metrics["probes"] + metrics["timeouts"] > 0
    times_ms = np.array(result["responses_us"]) / 1000
    assert len(times_ms) == metrics["requests"] == 200
    assert metrics["p99_response_ms"] == pytest.approx(np.percentile(times_ms, 99))
    assert metrics["slowest_response_ms"] == pytest.approx(np.sort(times_ms)[-4:].mean())


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("fades", [False, True])
def test_a_clairvoyant_sender_is_fastest_and_never_in_vain(fades: bool) -> None:
    setup: dict[str, Any] = {"load__count": 600, "topology__loss_rate": 0.05}
    if not fades:
        setup["topology__moving"] = None
    of = {
        name: _run(name, **setup)["run"]["metrics"]
        for name in ("stock", "clairvoyant", "clairvoyant/doubling")
    }
    for name in ("clairvoyant", "clairvoyant/doubling"):
        assert of[name]["needless_resends_permille"] == 0 and of[name]["timeouts"] == 0
        assert of[name]["probes"] >= 20  # about 5 % of 600 are lost
        assert of[name]["p99_response_ms"] < 0.7 * of["stock"]["p99_response_ms"]
    assert of["clairvoyant"]["slowest_response_ms"] <= of["clairvoyant/doubling"]["slowest_response_ms"]


@pytest.mark.usefixtures("ns3")
def test_a_sender_that_knows_the_statistics_of_its_path_is_between_ours_and_the_clairvoyant() -> None:
    setup: dict[str, Any] = {"load__count": 600, "topology__loss_rate": 0.05, "topology__moving": None}
    of = {
        name: _run(name, **setup)["run"]["metrics"]
        for name in ("stock", "priced", "statistical", "clairvoyant")
    }
    slowest = {name: metrics["slowest_response_ms"] for name, metrics in of.items()}
    assert slowest["clairvoyant"] <= slowest["statistical"] <= slowest["priced"] < slowest["stock"]
    # without jitter nothing is late, so that it retransmits just what is lost: the same packets in each run
    assert of["statistical"]["needless_resends_permille"] == 0 and of["statistical"]["timeouts"] == 0
    assert of["statistical"]["probes"] == of["clairvoyant"]["probes"] >= 20


@pytest.mark.usefixtures("ns3")
def test_a_sender_that_knows_the_statistics_cannot_tell_a_late_answer_from_a_lost_one() -> None:
    moving = {"tail_ms": 20.0}
    setup: dict[str, Any] = {"load__count": 1500, "topology__loss_rate": 0.2, "topology__moving": moving}
    found = _run("statistical", **setup)["run"]["metrics"]
    told = _run("clairvoyant", **setup)["run"]["metrics"]
    assert found["needless_resends_permille"] > 0 == told["needless_resends_permille"]
    assert found["slowest_response_ms"] > told["slowest_response_ms"]


@pytest.mark.usefixtures("ns3")
def test_a_clairvoyant_sender_doubles_its_wait_for_the_same_data_only() -> None:
    """Test requests of ten segments, several of which are lost at once, without fades."""
    setup: dict[str, Any] = {"load__count": 300, "load__request_bytes": 14_000, "topology__loss_rate": 0.1}
    setup["topology__moving"] = None
    once, doubled = (
        _run(name, **setup)["run"]["metrics"]["slowest_response_ms"]
        for name in ("clairvoyant", "clairvoyant/doubling")
    )
    assert doubled < 1.5 * once


@pytest.mark.usefixtures("ns3")
def test_the_floor_of_stock_is_what_a_lost_request_waits() -> None:
    """Test that the slowest requests take the wait for a tail loss probe or for the RTO, which is the floor
    plus one or two SRTTs of 30 ms, and then one RTT."""
    longest = {
        ms: _run(f"stock:rto_min_us={ms}000", load__count=400, topology__moving=None)["run"]["metrics"]
        for ms in (50, 200)
    }
    for ms, metrics in longest.items():
        assert ms + 2 * 30 < metrics["slowest_response_ms"] < ms + 2 * 30 + 12


@pytest.mark.usefixtures("ns3")
def test_without_a_policy_the_timer_is_that_of_ns3() -> None:
    metrics = _run("", load__count=200, topology__loss_rate=0.05)["run"]["metrics"]
    assert metrics["probes"] == 0 and metrics["timeouts"] > 0


@pytest.mark.usefixtures("ns3")
def test_fades_are_the_same_for_every_policy_and_spaced_resends_come_sooner_after_them() -> None:
    moving = {"fade_s": [0.5, 2.0], "fade_every_s": 5.0}
    found = {
        name: _run(name, load__count=400, topology__loss_rate=0.0, topology__moving=moving)["run"]["metrics"]
        for name in ("stock", "priced/spaced")
    }
    for metrics in found.values():
        assert metrics["overruns"] > 3
    assert found["priced/spaced"]["mean_overrun_ms"] < found["stock"]["mean_overrun_ms"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ('tcp.resend = "pricey"', "pricey"),
        ('tcp.resend = "stock:floor=3"', "floor"),
        ("topology.moving = { fade_every_s = 3.0 }", "path and topology both describe"),
        ('path.drawn_fades = { hop = "access" }', "path.drawn_fades.lasts_s: is missing"),
    ],
)
def test_what_is_not_known_is_refused(
    change: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(f'extends = "{THIN}"\n[profiles.p.scenario]\n{change}\n')
    assert main(["simulate", str(file), "--profile", "p"]) == 2
    assert says in capsys.readouterr().err
