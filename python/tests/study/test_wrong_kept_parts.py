# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a part of a study whose stored result is damaged is measured again, with a line that says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import wrong_results
from tcplearn.cli import main
from tcplearn.replay.trace_jobs import Results, Seen
from tcplearn.study import experts, measure

sys.path.append(str(Path(__file__).parents[1] / "suite"))
import suite_traces

WORDS = ["--n", "10", "--eta", "1", "--alpha", "0.1", "--format", "json", "-q"]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "home.csv"
    path.write_text(suite_traces.csv(6, 200))
    return path


def test_it_is_measured_again(trace: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "experts", str(trace), *WORDS]
    assert main(words) == 0
    first = capsys.readouterr()
    (file,) = own_cache.glob("study/runs/*/*.json")
    found = json.loads(file.read_bytes())
    file.write_text(json.dumps({**found, "scores": found["scores"][1:]}))
    assert main(words) == 0
    again = capsys.readouterr()
    assert again.out == first.out
    assert f"tcplearn: warning: {file}: not the result that was stored" in again.err
    assert main(words) == 0
    assert capsys.readouterr() == first


def test_whatever_is_wrong(trace: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "experts", str(trace), *WORDS]) == 0
    capsys.readouterr()
    options = experts.Options(n=(10,), eta=(1.0,), alpha=(0.1,))
    specs = [*(cell.spec.text for cell in experts.cells_of(options)), *experts.REFERENCES]
    settings = {"arithmetic": "double", "sender": "auto", "every_ack": False, "min_samples": 30, "flow": ""}
    (job,) = measure.jobs(Seen.of(trace), settings, specs)
    kept = Results(own_cache / "study")
    file = kept.path(job.key)
    wrong_results.check(kept, job, file, capsys)
    good = json.loads(file.read_bytes())
    scores = good["scores"]
    for wrong in (scores[:-1], [*scores, scores[0]], [[], *scores[1:]], [[scores[0][0][:7]], *scores[1:]]):
        file.write_text(json.dumps({**good, "scores": wrong}))
        assert kept.get(job) is None
