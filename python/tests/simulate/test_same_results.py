# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finished runs of earlier versions: found under their keys, read with today's names, and still the same."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from conftest import PAPER, ROOT
from tcplearn.simulate import engine, run_job, scenario
from tcplearn.simulate.results import RunStore

LISTED = tomllib.loads((ROOT / "ns3" / "same-results.toml").read_text())


WEB = ROOT / "papers" / "tambuwal2018" / "levels.toml"
THIN = ROOT / "ns3" / "scenarios" / "thin.toml"


def _digest(runs: Iterable[scenario.Run]) -> str:
    total = hashlib.sha256()
    for run in runs:
        result = engine.simulate(run_job.job(run, 1.0).arguments[0])
        result["run"].pop("cost")
        total.update(json.dumps(result, sort_keys=True).encode())
    return total.hexdigest()


def _ten_seconds(file: Path) -> scenario.Run:
    """The last smoke run of a scenario, as long as the list's: the profile itself may change."""
    run = scenario.runs(file, "smoke")[-1]
    load = run.scenario.load.model_copy(update={"start_s": [0.0, 2.0]})
    longer = run.scenario.model_copy(update={"duration_s": 10.0, "load": load})
    return dataclasses.replace(run, scenario=longer)


def _of_today() -> dict[str, str]:
    digests: dict[str, str] = LISTED["digests"][engine.ns3_version()]
    return digests


def _same(name: str) -> int:
    """Of how many identities the runs of an estimator or classifier are today's."""
    return sum(name not in was.get("others", LISTED["others"]) for was in LISTED["earlier"])


@pytest.mark.usefixtures("ns3")
def test_the_list_holds_what_today_gives() -> None:
    of = [_ten_seconds(PAPER / file) for file in ("scenario-3.toml", "scenario-5.toml")]
    assert _digest(of) == _of_today()["runs"], (
        "runs give other results: empty `earlier` in ns3/same-results.toml, and write this digest"
    )


@pytest.mark.usefixtures("ns3")
def test_so_it_does_of_web_connections() -> None:
    assert _digest(scenario.runs(WEB, "smoke")) == _of_today()["web"], (
        "other results: give all `earlier` of ns3/same-results.toml `web = false`, and write this digest"
    )


@pytest.mark.usefixtures("ns3")
def test_so_it_does_under_the_learned_resend_policy() -> None:
    priced = [run for run in scenario.runs(THIN, "smoke") if run.labels["tcp.resend"] == "priced"]
    assert _digest(priced) == _of_today()["priced"], (
        "other results: give all `earlier` of ns3/same-results.toml `priced = false`, and write this digest"
    )


@pytest.mark.usefixtures("pages_ns3")
def test_web_runs_of_other_results_are_not_taken() -> None:
    run = scenario.runs(WEB, "smoke")[0]
    assert len(run_job.job(run, 1.0).earlier) == sum(was.get("web", True) for was in LISTED["earlier"])


@pytest.mark.usefixtures("pages_ns3")
def test_an_earlier_result_is_found_and_read(tmp_path: Path) -> None:
    run = scenario.runs(PAPER / "scenario-5.toml", "smoke")[0]
    job = run_job.job(run, 1.0)
    assert len(job.earlier) == len(LISTED["earlier"]) > 0
    kept = RunStore(tmp_path)
    old = {
        "key": job.earlier[0],
        "commit": "b5b6d7241b3f",
        "document": {},
        "flows": [{"kind": "flow", "flow": 0, "metrics": {"samples": 3.0, "first_error_ms": 7.0}}],
        "run": {
            "metrics": {"mean_error_by_trial_ticks": 2.0, "queue_bytes": 1.0, "bias_ms": 0.5},
            "cost": {"cpu_s": 1.0},
        },
    }
    path = kept.path(job.earlier[0])
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(old))
    found = kept.get(job)
    assert found is not None
    assert (found["key"], found["commit"], found["version"]) == (job.key, "b5b6d7241b3f", None)
    assert found["flows"][0]["metrics"] == {"samples": 3.0, "first_abs_error_ms": 7.0}
    assert found["run"]["metrics"] == {
        "mean_abs_error_by_sample_ticks": 2.0,
        "mean_queue_bytes": 1.0,
        "bias_ms": 0.5,
    }
    kept.put(job, {"flows": [], "run": {"metrics": {}, "cost": {"cpu_s": 1.0}}})
    newer = kept.get(job)
    assert newer is not None and newer["flows"] == []


@pytest.mark.usefixtures("pages_ns3")
def test_the_key_of_an_earlier_identity_is_the_one_of_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """As computed by the version before, for the first smoke run of scenario V."""
    monkeypatch.delenv("TCPLEARN_NS3", raising=False)
    engine.earlier.cache_clear()
    run = scenario.runs(PAPER / "scenario-5.toml", "smoke")[0]
    assert "7e493ba51586e5b310f67fb2" in run_job.job(run, 1.0).earlier


@pytest.mark.usefixtures("pages_ns3")
def test_a_run_of_a_changed_estimator_is_found_under_its_name_of_then() -> None:
    run = scenario.runs(PAPER / "scenario-5.toml", "smoke")[0]

    def keys(algorithm: str) -> tuple[str, ...]:
        return run_job.job(dataclasses.replace(run, algorithm=algorithm), 1.0).earlier

    for changed in ("tracking", "conformal", "conformal/thousandth"):
        assert len(keys(changed)) == _same(changed) < len(LISTED["earlier"])
    assert len(keys("tracking/first")) == len(keys("jacobson")) == len(LISTED["earlier"])
    assert set(keys("tracking/first")).isdisjoint(keys("conformal/first"))


@pytest.mark.usefixtures("pages_ns3")
def test_a_run_of_a_changed_classifier_is_not_taken() -> None:
    run = scenario.runs(ROOT / "papers" / "hwang2018" / "figure-7.toml", "smoke")[0]
    assert run.scenario.loss is not None

    def keys(classifier: str) -> tuple[str, ...]:
        loss = run.scenario.loss.model_copy(update={"classifier": classifier})
        changed = run.scenario.model_copy(update={"loss": loss})
        return run_job.job(dataclasses.replace(run, scenario=changed), 1.0).earlier

    assert len(keys("history")) == _same("history") < len(LISTED["earlier"])
    assert len(keys("history:threshold=0.45")) == len(keys("adaptive")) == len(LISTED["earlier"])


def test_under_another_ns3_no_earlier_run_is_taken(installed: Callable[[int], None]) -> None:
    run = scenario.runs(PAPER / "scenario-5.toml", "smoke")[0]
    keys = set()
    for minor in (37, 43):
        installed(minor)
        job = run_job.job(run, 1.0)
        keys.add(job.key)
        assert len(job.earlier) == (len(LISTED["earlier"]) if minor == 37 else 0)
    assert len(keys) == 2
