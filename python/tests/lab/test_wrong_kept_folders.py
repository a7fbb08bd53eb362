# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test stored runs of the lab whose files differ from the guest's output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.errors import FailedError
from tcplearn.jobs import Job
from tcplearn.lab import first_rto, handshake_waits, kept, machine, results, scenario

CONNECTION = {"host": 64, "number": 0, "connected_us": 9, "answered_us": 5}
SYN = {"sent_us": 1, "arrived_us": 4}
GOOD = [{**CONNECTION, "syns": [SYN], "answers": [SYN]}]
WRONG = {
    "an object": {"a": 1},
    "null": None,
    "a list of numbers": [1],
    "a key less": [CONNECTION],
    "a word": [{**GOOD[0], "host": "x"}],
    "a truth": [{**GOOD[0], "number": True}],
    "no list": [{**GOOD[0], "syns": {"a": 1}}],
    "a sending less": [{**GOOD[0], "syns": [{"sent_us": 1}]}],
    "a sending more": [{**GOOD[0], "syns": [{**SYN, "x": 1}]}],
    "NaN": [{**GOOD[0], "answers": [{**SYN, "sent_us": float("nan")}]}],
    "10^400": [{**GOOD[0], "answered_us": 10**400}],
}


def kept_run(folder: Path) -> tuple[kept.Folders, Job, Path]:
    job = Job("k", print, ({"name": "first-rto-001"},), check=handshake_waits.read)
    run = folder / "first-rto-001-k"
    run.mkdir()
    (run / kept.COMPLETE).write_text("commit\nversion\n")
    (run / handshake_waits.FILE).write_text(json.dumps(GOOD))
    return kept.Folders(folder), job, run


@pytest.mark.parametrize("case", WRONG)
def test_a_first_rto_is_as_if_absent(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders, job, run = kept_run(tmp_path)
    assert folders.get(job) == run and folders.has(job) and not capsys.readouterr().err
    (run / handshake_waits.FILE).write_text(json.dumps(WRONG[case]))
    assert folders.get(job) is None and folders.get(job) is None and not folders.has(job)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"tcplearn: warning: {run}: not the result that was stored")


def test_its_job_has_the_check(tmp_path: Path) -> None:
    network = first_rto.Network((first_rto.Place(10, 0),))
    ready = machine.Machine(tmp_path, tmp_path, "fingerprint", "6.1")
    job = first_rto._job(network, first_rto.Trial("stock"), ready, (b"", ""))
    assert job.check is handshake_waits.read


@pytest.mark.parametrize("info", ["", "elapsed_us x\n", "elapsed_us\n", "elapsed_us 0\nbytes 1\n", "\udcff"])
def test_a_run_is_refused_in_one_line(info: str, tmp_path: Path) -> None:
    """Test that a run with wrong files is refused in one line. As its tables come from many files, a person
    must decide which file is wrong."""
    of = scenario.load(ROOT / "linux" / "lab" / "scenarios" / "thin-wired.toml")
    run = tmp_path / "run"
    for arm in results.arms(of, 0):
        (run / arm.folder).mkdir(parents=True)
        (run / arm.folder / "info").write_bytes(info.encode(errors="surrogateescape"))
    (run / kept.COMPLETE).write_text("commit\n")
    ready = machine.Machine(tmp_path, tmp_path, "fingerprint", "6.1")
    with pytest.raises(FailedError, match=r"the guest's output cannot be read: .*; --fresh runs it again"):
        results.rows(of, "k", 1, run, ready)
