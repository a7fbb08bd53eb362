# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The runs that are kept with docs/latency.md (bench/latency_archive.py), and the page itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from samples import ROOT
from tcplearn.lab import kept, machine, requests, results, run, scenario

sys.path.insert(0, str(ROOT / "bench"))

import latency
import latency_archive as archive
import latency_others as others
import latency_runs

NSTAT = "TcpRetransSegs 3 0.0\nTcpExtTCPTimeouts 2 0.0\n"
WIRED = latency_runs.SCENARIOS / "thin-wired.toml"


def _run(folder: Path, *, queue: bool) -> Path:
    """As a run of the lab leaves it, logs and all."""
    arm = folder / "cubic+stock+tlp-on"
    arm.mkdir(parents=True)
    (folder / kept.COMPLETE).write_text("abc\n0.1.0\n")
    (folder / "kernel").write_text("6.1.0-1\n")
    (folder / "queue-access").write_text("qdisc")
    (arm / "requests").write_text("36114 1588727964\n28439 1588848968\n")
    (arm / "log.gz").write_bytes(bytes(1000))
    (arm / "info").write_text("data_segs_out 12\n")
    (arm / "before.nstat").write_text(NSTAT.replace(" 3 ", " 1 "))
    (arm / "after.nstat").write_text(NSTAT)
    if queue:
        (arm / "after.queue").write_text("dropped 7")
    return folder


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An archive, a folder of unpacked runs and a machine's own, all empty."""
    monkeypatch.setattr(archive, "RUNS", tmp_path / "archive")
    monkeypatch.setattr(archive, "FOLDER", tmp_path / "unpacked")
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "cache")
    archive.folder.cache_clear()
    yield tmp_path
    archive.folder.cache_clear()


@pytest.mark.parametrize("queue", [False, True])
def test_a_kept_run_gives_the_figures_of_the_whole_one(places: Path, queue: bool) -> None:
    whole = _run(places / "cache" / "runs" / "thin-wired-000-key", queue=queue)
    here = archive.folder() / whole.name
    assert archive.keep(iter([here])) == 1 and archive.keep(iter([here])) == 0
    packed = (places / "archive" / f"{whole.name}.tar.xz").read_bytes()

    for gone in (places / "cache", places / "unpacked"):
        gone.rename(gone.with_name(f"{gone.name}-before"))
    archive.folder.cache_clear()
    again = archive.folder() / whole.name / "cubic+stock+tlp-on"
    arm = places / "cache-before" / "runs" / whole.name / again.name
    assert np.array_equal(requests.responses_ms(again), [36.114, 28.439])
    assert results.kernel_counts(again) == results.kernel_counts(arm)
    assert results.data_segments(again) == results.data_segments(arm) == 12
    assert kept.made_by(again.parent) == ("abc", "0.1.0")
    assert not (again / "log.gz").exists() and (again / "after.queue").exists() == queue
    assert (len((again / "requests").read_text().split()) == 4) == queue  # when they began
    assert archive.packed(archive.slim(places / "cache-before" / "runs" / whole.name)) == packed


def test_a_run_that_is_not_whole_is_not_taken(places: Path) -> None:
    (_run(places / "cache" / "runs" / "thin-wired-000-key", queue=False) / kept.COMPLETE).unlink()
    assert not list(archive.folder().glob("*"))


def test_runs_that_are_kept_are_not_done_again(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "fingerprint", lambda programs: "of the page")
    chosen = scenario.load(WIRED)
    first = run.job(chosen, 0, "of the page", run.Options())
    _run(kept.Folders(places / "cache" / "runs").path(first), queue=False)
    names = ("thin-wired/full", "thin-wired/bulk")
    found = latency_runs.wanted(names)
    assert [len(one.kept) for one in found] == [1, 0]
    todo = [job.title for job in latency_runs._todo(found, 2)]
    assert todo == ["thin-wired, run 0", "thin-wired, run 1", "thin-wired, run 1"]


def test_a_name_that_is_not_on_the_page_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["latency_runs.py", "thin-wired/none"])
        latency_runs.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("no thin-wired/none on the page; there are thin-wired/full, ")


@pytest.mark.full
def test_the_page_is_that_of_the_kept_runs(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "RUNS", latency_runs.SCENARIOS.parents[2] / "bench" / "latency-runs")
    text = latency.of_page(latency.path_cells(), others.overruns())
    _, _, rest = latency.PAGE.read_text().partition(latency.BEGIN)
    assert rest.partition(latency.END)[0] == f"\n{text}\n"
