# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The runs that are kept with docs/latency.md (bench/latency_archive.py), and the page itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from samples import ROOT
from tcplearn.lab import guest, kept, machine, requests, results, run, scenario
from tcplearn.papers import lab_runs

sys.path.insert(0, str(ROOT / "bench"))

import latency
import latency_archive as archive
import latency_bar as bar
import latency_cells as cells
import latency_others as others
import latency_runs

NAMES = "TcpExt: TCPTimeouts TCPLossProbes TCPDSACKRecv\n"
WIRED = cells.SCENARIOS / "thin-wired.toml"
ARM = "cubic+stock+tlp-on"
PRINTS = {"page": "of the page", "before": "of the one before"}


def _run(folder: Path, *, queue: bool = False, arms: Sequence[str] = (ARM,)) -> Path:
    """As a run of the lab leaves it, logs and all."""
    for name in arms:
        arm = folder / name
        arm.mkdir(parents=True)
        (arm / "requests").write_text("36114 1588727964\n28439 1588848968\n")
        (arm / "log.gz").write_bytes(bytes(1000))
        (arm / "info").write_text("data_segs_out 12\n")
        (arm / "before.nstat").write_text(f"{NAMES}TcpExt: 1 0 0\n")
        (arm / "after.nstat").write_text(f"{NAMES}TcpExt: 3 4 1\n")
        if queue:
            (arm / "after.queue").write_text("dropped 7")
    (folder / kept.COMPLETE).write_text("abc\n0.1.0\n")
    (folder / "kernel").write_text("6.1.0-1\n")
    (folder / "queue-access").write_text("qdisc")
    return folder


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive, a folder of unpacked runs and a machine's own, all empty."""
    monkeypatch.setattr(archive, "RUNS", tmp_path / "archive")
    monkeypatch.setattr(archive, "FOLDER", tmp_path / "unpacked")
    monkeypatch.setattr(archive, "_used", {})
    monkeypatch.setattr(archive, "fingerprint", lambda programs: PRINTS["page"])
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(lab_runs, "earlier", lambda: (PRINTS["before"],))
    (tmp_path / "archive").mkdir()
    return tmp_path


def _done(places: Path, profile: str, number: int, of: str = "page", *, queue: bool = False) -> Path:
    """A run of thin-wired.toml on this machine."""
    chosen = scenario.load(WIRED, profile)
    job = run.job(chosen, number, PRINTS[of], run.Options())
    arms = [arm.folder for arm in guest.arms(chosen, number)]
    return _run(kept.Folders(places / "cache" / "runs").path(job), queue=queue, arms=arms)


@pytest.mark.parametrize("queue", [False, True])
def test_a_kept_run_gives_the_figures_of_the_whole_one(places: Path, queue: bool) -> None:
    whole, chosen = _done(places, "full", 0, queue=queue), scenario.load(WIRED)
    assert archive.runs(chosen) == [whole]
    assert archive.keep() == 1 and archive.keep() == 0

    (places / "cache").rename(places / "elsewhere")
    archive._used.clear()
    (here,) = archive.runs(chosen)
    again = here / ARM
    assert np.array_equal(requests.responses_ms(again), [36.114, 28.439])
    assert results.kernel_counts(again) == {
        "TcpExtTCPTimeouts": 2.0,
        "TcpExtTCPLossProbes": 4.0,
        "TcpExtTCPDSACKRecv": 1.0,
    }
    assert results.data_segments(again) == 12
    assert kept.made_by(here) == ("abc", "0.1.0")
    assert not (again / "log.gz").exists() and (again / "after.queue").exists() == queue
    assert (len((again / "requests").read_text().split()) == 4) == queue  # when they began
    assert archive.keep() == 0


def test_what_is_no_longer_in_the_archive_is_not_used(places: Path) -> None:
    _done(places, "full", 0)
    chosen = scenario.load(WIRED)
    archive.runs(chosen)
    archive.keep()
    (places / "cache").rename(places / "elsewhere")
    assert archive.runs(chosen)
    for path in archive.RUNS.iterdir():
        path.unlink()
    assert archive.runs(chosen) == []


def test_a_run_that_is_not_whole_is_not_taken(places: Path) -> None:
    (_done(places, "full", 0) / kept.COMPLETE).unlink()
    assert archive.runs(scenario.load(WIRED)) == []


def test_runs_that_are_there_are_not_done_again(places: Path) -> None:
    _done(places, "full", 0)
    found = latency_runs.wanted(("thin-wired/full", "thin-wired/bulk"))
    full, bulk = (one.chosen.runs.count for one in found)
    assert [one.missing for one in found] == [[*range(1, full)], [*range(bulk)]]
    keys = [
        run.job(scenario.load(WIRED, profile), n, PRINTS["page"], run.Options()).key
        for profile, n in (("bulk", 0), ("full", 1), ("bulk", 1))
    ]
    assert [job.key for job in latency_runs.todo(found, 2)] == keys


def test_beside_an_earlier_run_ours_alone_are_done_again(places: Path) -> None:
    for number in (0, 1):
        _done(places, "full", number, "before")
    (one,) = latency_runs.wanted(("thin-wired/full",))
    ours = scenario.load(WIRED, "ours")
    keys = [run.job(ours, n, PRINTS["page"], run.Options()).key for n in (0, 1)]
    keys.append(run.job(one.chosen, 2, PRINTS["page"], run.Options()).key)
    assert [job.key for job in latency_runs.todo([one], 3)] == keys
    assert cells.path_cell(WIRED) is None

    _done(places, "ours", 0)
    cell = cells.path_cell(WIRED)
    assert cell and (cell.requests, cell.requests_of("priced")) == (4, 2)
    assert one.missing == [*range(1, one.chosen.runs.count)]
    assert archive.keep() == 3  # what the page is of, the earlier runs too


def test_the_floor_is_chosen_on_one_half_and_judged_on_the_other() -> None:
    def timer(of_runs: Sequence[float], needless: float) -> cells.Timer:
        times = [np.full(50, value) for value in of_runs]
        return cells.Timer(times, [needless] * len(times), [1000.0] * len(times), [0.0] * len(times))

    timers = {
        "stock": timer([200, 200, 200, 200], 1),
        "rto_min 5 ms": timer([40, 90, 40, 90], 1),  # best on the first half, worst on the second
        "rto_min 20 ms": timer([60, 60, 60, 60], 1),
        "rto_min 1 ms": timer([1, 1, 1, 1], 2),  # more needless resends than ours
        "priced": timer([30, 45, 30, 45], 1),
        "never": timer([30, 45, 30, 45], 0),
    }
    cell = cells.Cell("x", timers)
    assert cell.over_floor("priced", cells.p99) == pytest.approx(np.sqrt(45 / 90 * 30 / 60))
    assert cell.over_floor("never", cells.p99) == pytest.approx(np.sqrt(45 / 200 * 30 / 200))  # stock
    assert cell.over_floor_drawn("priced", cells.p99) == pytest.approx(cell.over_floor("priced", cells.p99))


def test_needless_resends_vary_as_their_runs_do() -> None:
    rng = np.random.default_rng(1)

    def timer(mean: float) -> cells.Timer:
        counts = rng.poisson(mean, 8).astype(float).tolist()
        return cells.Timer([np.ones(10)] * 8, counts, [1000.0] * 8, [0.0] * 8)

    cell = cells.Cell("x", {"stock": timer(20), "priced": timer(20)})
    ours, stock = (np.array(cell.timers[name].needless) for name in ("priced", "stock"))
    drawn = bar._more_needless_drawn(cell, "priced", np.random.default_rng(2))
    assert drawn.std() == pytest.approx((ours - stock).std(ddof=1) / np.sqrt(8), rel=0.15)
    single = cells.Cell(
        "x", {n: cells.Timer(t.times_ms[:1], [3.0], [1.0], [0.0]) for n, t in cell.timers.items()}
    )
    one = bar._more_needless_drawn(single, "priced", np.random.default_rng(2))
    assert cells.how(1, one) == "undecided"


def test_every_file_of_the_archive_is_a_run_of_a_scenario() -> None:
    """Else the guest's script or a scenario has changed since, and the page has lost its runs."""
    names = {name for one in latency_runs.wanted() for name in one.names()}
    strange = [
        path.name for path in archive.RUNS.glob("*.tar.xz") if path.name[: -len(".tar.xz")] not in names
    ]
    assert not strange


def test_a_name_that_is_not_on_the_page_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["latency_runs.py", "thin-wired/none"])
        latency_runs.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("no thin-wired/none on the page; there are thin-wired/full, ")


@pytest.mark.full
def test_the_page_is_that_of_the_kept_runs(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(archive, "FOLDER", places / "unpacked")
    monkeypatch.setattr(machine, "cache_folder", lambda: places / "none")
    text = latency.of_page(latency.path_cells(), others.overruns())
    _, _, rest = latency.PAGE.read_text().partition(latency.BEGIN)
    assert rest.partition(latency.END)[0] == f"\n{text}\n"
