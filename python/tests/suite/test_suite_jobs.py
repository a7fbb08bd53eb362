# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test a suite and a study as jobs on a cluster that loses a worker, interrupted, and resumed, and which of
their results are stored."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import suite_traces

import own_estimators
from dask_cluster import Cluster
from tcplearn.cli import main
from tcplearn.errors import FailedError
from tcplearn.replay import trace_jobs
from tcplearn.replay.trace_jobs import Seen
from tcplearn.suite import measure

FILES = 24
#: Long enough for a kill in the middle.
SLOW = [w for k in range(1, 9) for w in ("-e", f"experts:n=500,eta={k}")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield the Dask cluster of all tests here; the last of them removes a worker."""
    pytest.importorskip("distributed")
    with contextlib.ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("cluster"), stack)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    for seed in range(FILES):
        (folder / f"{seed}.csv").write_text(suite_traces.csv(seed, 4000))
    (folder / "notes.txt").write_text("nothing to see\n")
    return folder


def kept(cache: Path, room: str = "suite") -> dict[Path, int]:
    found = {}
    for path in cache.glob(f"{room}/runs/*/[!.]*.json"):
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_mtime_ns
    return found


def until_kept(count: int, cache: Path, process: subprocess.Popen[Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while len(kept(cache)) < count:
        assert process.poll() is None, "the suite ended early"
        assert time.monotonic() < deadline, "the suite stands still"
        time.sleep(0.02)


def rows_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main([*words, "--format", "json", "-q"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tcplearn", *words, "--format", "json", "-q"]


def test_a_study_on_dask(
    cluster: Cluster, many: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["study", "experts", str(many / "0.csv"), str(many / "1.csv"), "--n", "20,100"]
    there = rows_of(capsys, *words, "--scheduler", cluster.address)
    before = kept(own_cache, "study")
    assert len(before) == 2 * -(-(2 * 9 * 10 + 2) // 15)
    assert rows_of(capsys, *words) == there and kept(own_cache, "study") == before
    assert rows_of(capsys, *words, "--fresh", "--jobs", "1") == there


@pytest.mark.full
def test_a_suite_on_dask_loses_a_worker_and_its_client(
    cluster: Cluster, many: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["suite", str(many), *SLOW]
    client = subprocess.Popen(
        command(*words, "--scheduler", cluster.address), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until_kept(2, own_cache, client)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    until_kept(4, own_cache, client)
    client.send_signal(signal.SIGINT)
    out, said = client.communicate(timeout=30)
    before = kept(own_cache)
    assert (out, client.returncode) == (b"", 130)
    assert said.decode() == (
        f"tcplearn: stopped: {len(before)} of {FILES + 1} files kept in {own_cache / 'suite'}; "
        "the same command goes on from there\n"
    )
    assert 4 <= len(before) < FILES
    assert cluster.workers[0].wait() == -signal.SIGKILL and cluster.workers[1].poll() is None

    resumed = rows_of(capsys, *words, "--scheduler", cluster.address)
    after = kept(own_cache)
    assert len(after) == FILES  # and not notes.txt
    assert {path: after[path] for path in before} == before  # none was done again
    assert rows_of(capsys, *words, "--fresh", "--jobs", "1") == resumed


def test_a_suite_goes_on_after_an_interrupt(
    many: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["suite", str(many), *SLOW]
    process = subprocess.Popen(command(*words, "--jobs", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until_kept(3, own_cache, process)
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=30)
    before = kept(own_cache)
    assert (out, process.returncode) == (b"", 130)
    assert f"stopped: {len(before)} of {FILES + 1} files kept in ".encode() in said and said.count(b"\n") == 1
    assert len(before) < FILES
    resumed = rows_of(capsys, *words, "--jobs", "1")
    after = kept(own_cache)
    assert len(after) == FILES and {path: after[path] for path in before} == before
    assert rows_of(capsys, *words) == resumed and kept(own_cache) == after


def until_two_work(process: subprocess.Popen[str]) -> None:
    """Wait until two children of the process have loaded the native module, which runs replays."""
    deadline, two = time.monotonic() + 60, 0
    while two < 2:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
        two = 0
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            with contextlib.suppress(OSError):
                two += "_native" in Path(f"/proc/{child}/maps").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_the_workers(tmp_path: Path) -> None:
    for seed in range(2):
        (tmp_path / f"{seed}.csv").write_text(suite_traces.csv(seed, 20_000))
    out = tmp_path / "rows.json"
    slow = [w for k in range(1, 25) for w in ("-e", f"experts:n=1000,eta={k}")]
    more = ["--jobs", "2", "-o", str(out), "--format", "json", "--restart", "1000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tcplearn", "suite", str(tmp_path), *slow, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until_two_work(process)
    process.send_signal(signal.SIGINT)  # to the parent alone
    out_text, said = process.communicate(
        timeout=20
    )  # ends only when the workers, which hold the pipes, have ended
    assert (out_text, process.returncode) == ("", 130)
    assert said == "tcplearn: stopped: none of 2 files kept yet\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.csv", "1.csv"]


def test_what_determines_a_files_figures_determines_its_key(
    traces: Path, own_cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["suite", str(traces), "-e", "last", "-e", "jacobson", "--jobs", "1"]
    rows_of(capsys, *words)
    first = kept(own_cache)
    files = len(first)
    assert files == 5  # not notes.txt
    rows_of(capsys, *words, "--fresh")
    assert kept(own_cache).keys() == first.keys() and not kept(own_cache).items() & first.items()
    total = files
    for more in (["-e", "linux"], ["--min-samples", "300"], ["--min-rto-ms", "5"], ["--restart", "50"]):
        rows_of(capsys, *words, *more)
        total += files
        assert len(kept(own_cache)) == total, more
    (traces / "a.csv").write_text(suite_traces.csv(77, 600))  # another content
    (traces / "b.csv").rename(traces / "bb.csv")  # another name: series are called by it
    rows_of(capsys, *words)
    assert len(kept(own_cache)) == total + 2
    traces.rename(tmp_path / "elsewhere")
    rows = rows_of(capsys, "suite", str(tmp_path / "elsewhere"), *words[2:])
    assert len(kept(own_cache)) == total + 2
    assert {r["error_worst_series"] for r in rows} <= {
        "a.csv",
        "bb.csv",
        "deep/er/c.csv.gz",
        "deep/short.csv",
    }


def test_a_users_code_is_part_of_the_key(
    traces: Path, plain_timer: str, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["suite", str(traces), "-e", plain_timer, "-q", "--jobs", "1"]
    assert main(words) == 0
    files = len(kept(own_cache))
    assert main(words) == 0 and len(kept(own_cache)) == files > 0
    module = tmp_path / "site" / "plain_timer.py"
    module.write_text(own_estimators.MODULE + "\nHELPER = 2\n")
    assert main(words) == 0 and len(kept(own_cache)) == 2 * files
    monkeypatch.setattr(sys.modules["plain_timer"], "__file__", str(tmp_path / "gone.so"))
    assert main(words) == 0 and len(kept(own_cache)) == 2 * files  # not to be known: never kept


def test_a_file_that_changes_while_it_is_read(
    traces: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = measure.Worker.file

    def grown(self: Any, file: Any, inside: str) -> Any:
        found = measured(self, file, inside)
        if inside == "a.csv":
            with Path(file.path).open("a") as more:
                more.write("9999,20\n")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(measure.Worker, "file", grown)
        assert main(["suite", str(traces), "-e", "last", "--jobs", "1", "-q"]) == 0
    assert f"{traces / 'a.csv'}: changed while it was read" in capsys.readouterr().err
    files = len(kept(own_cache))
    assert main(["suite", str(traces), "-e", "last", "--jobs", "1", "-q"]) == 0
    assert "changed" not in capsys.readouterr().err and len(kept(own_cache)) == files + 1


def test_a_cache_that_cannot_be_written(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    words = ["suite", str(traces), "-e", "last", "--jobs", "1"]
    wanted = rows_of(capsys, *words)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert rows_of(capsys, *words) == wanted


def test_a_worker_that_differs(traces: Path, own_cache: Path) -> None:
    job = measure.job(Seen.of(traces / "a.csv"), "a.csv", measure.Options(("last",)), False)
    (document,) = job.arguments
    with pytest.raises(FailedError, match=r"differs on .*: install the same there"):
        measure.measured_file({**document, "identity": "other"})
    elsewhere = {**document, "file": {**document["file"], "path": str(traces / "absent" / "a.csv")}}
    found = measure.measured_file(elsewhere)
    assert found["problem"] == f"{traces / 'a.csv'}: No such file or directory"
    with pytest.raises(FailedError, match=r"is not on .*; put the traces where all workers have them"):
        trace_jobs.Results(own_cache / "suite").put(job, found)
    copied = {**document["file"], "modified_ns": 1}  # the same content under another time
    assert measure.measured_file({**document, "file": copied}) == measure.measured_file(document)
    assert "changed" in measure.measured_file({**document, "file": {**copied, "sha256": "x"}})["problem"]
