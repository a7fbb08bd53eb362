# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares simulations with stored digests of their results, so that no result changes unnoticed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from conftest import PAPER, ROOT
from tcplearn.simulate import engine, run_job, scenario

pytestmark = pytest.mark.usefixtures("ns3")

DIGESTS = tomllib.loads((Path(__file__).parent / "result_digests.toml").read_text())
WEB = ROOT / "experiments" / "tambuwal2018" / "levels.toml"
THIN = ROOT / "ns3" / "scenarios" / "thin.toml"


def _digest(runs: Iterable[scenario.Run]) -> str:
    total = hashlib.sha256()
    for run in runs:
        result = engine.simulate(run_job.job(run, 1.0).arguments[0])
        result["run"].pop("cost")
        total.update(json.dumps(result, sort_keys=True).encode())
    return total.hexdigest()


def _ten_seconds(file: Path) -> scenario.Run:
    """Return the last short run of a scenario with a fixed duration, so that changes of the profile do not
    matter."""
    run = scenario.runs(file, "smoke")[-1]
    load = run.scenario.load.model_copy(update={"start_s": [0.0, 2.0]})
    longer = run.scenario.model_copy(update={"duration_s": 10.0, "load": load})
    return dataclasses.replace(run, scenario=longer)


def _runs(name: str) -> list[scenario.Run]:
    if name == "estimators":
        return [_ten_seconds(PAPER / file) for file in ("scenario-3.toml", "scenario-5.toml")]
    if name == "web":
        return scenario.runs(WEB, "smoke")
    return [run for run in scenario.runs(THIN, "smoke") if run.labels["tcp.resend"] == "priced"]


@pytest.mark.parametrize("name", ["estimators", "web", "priced"])
def test_simulations_give_the_stored_results(name: str) -> None:
    assert _digest(_runs(name)) == DIGESTS[engine.ns3_version()][name], (
        "simulations give other results: if that is meant, write this digest into result_digests.toml, "
        "and say on the pages of experiments which runs are of an earlier version"
    )
