# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a file of a suite whose stored result is damaged is measured again, with a line that says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import suite_traces

import wrong_results
from tcplearn.cli import main
from tcplearn.replay.trace_jobs import Results, Seen
from tcplearn.suite import measure

WORDS = ["--match", "--restart", "50", "--min-samples", "100", "--format", "json", "-q", "-j", "1"]
OPTIONS = measure.Options(min_samples=100, restarts=(50,), match=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "traces"
    out.mkdir()
    for seed in range(2):
        (out / f"{seed}.csv").write_text(suite_traces.csv(seed, 400))
    return out


def test_each_is_measured_again(folder: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["suite", str(folder), *WORDS]
    assert main(words) == 0
    first = capsys.readouterr()
    one, other = sorted(own_cache.glob("suite/runs/*/*.json"))
    found = json.loads(one.read_bytes())
    found["series"][0]["figures"].pop("jacobson")
    one.write_text(json.dumps(found))
    other.write_text("[]")
    assert main(words) == 0
    again = capsys.readouterr()
    assert again.out == first.out
    for path in (one, other):
        assert f"tcplearn: warning: {path}: not the result that was stored" in again.err
    assert main(words) == 0
    assert capsys.readouterr() == first


def test_whatever_is_wrong(folder: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", str(folder), *WORDS]) == 0
    capsys.readouterr()
    kept = Results(own_cache / "suite")
    job = measure.job(Seen.of(folder / "1.csv"), "1.csv", OPTIONS, matching=True)
    file = kept.path(job.key)
    wrong_results.check(kept, job, file, capsys)
    good = json.loads(file.read_bytes())
    series = good["series"][0]
    assert series["matched"] and series["restarts"]
    wrong = {
        "figures": {**series["figures"], "last": {**series["figures"]["last"], "more": 1}},
        "fired": {},
        "matched": [series["matched"][0][:3]],
        "restarts": [[50, {"last": 1.0}]],
        "curves": [["jacobson", "x", series["figures"]["last"]]],
        "judged": 1,
    }
    for key, value in wrong.items():
        file.write_text(json.dumps({**good, "series": [{**series, key: value}]}))
        assert kept.get(job) is None, key
