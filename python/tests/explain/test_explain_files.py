# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn explain` of many files: each file is a job whose result is stored, and all results are
combined."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import thin
from scenes import SCENES
from talk import Talk, pcap_of
from test_explain_cli import capture
from wire import pcap

import wrong_results
from tcplearn.cli import main
from tcplearn.explain import files, read, run, sentences, tables
from tcplearn.replay.trace_jobs import Results, Seen
from test_short_flows import MAKE

FILES = 12


def kept(cache: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in cache.glob("explain/runs/*/[!.]*.json")}


def rows_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["explain", *words, "--format", "json", "-q"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "captures"
    out.mkdir()
    capture(out / "a.pcap", "answer_lost", "slow_server")
    capture(out / "b.pcap", "delayed_ack")
    return out


def test_connections_that_go_on_in_the_next_file(tmp_path: Path) -> None:
    """Test a capture that was rotated while one of two connections was open."""
    short, long = Talk(port=40_000), Talk(port=40_001)
    short.exchanges(short.open(), 3)
    long.exchanges(long.open(), 20)
    parts = [tmp_path / "part0.pcap", tmp_path / "part1.pcap"]
    frames = sorted((frame for talk in (short, long) for frame in talk.frames()), key=lambda frame: frame[0])
    half = len(frames) // 2  # the short connection has ended by then
    parts[0].write_bytes(pcap(frames[:half]))
    parts[1].write_bytes(pcap(frames[half:]))

    def said(*paths: Path) -> list[str]:
        return [line for line in run(paths).warnings if "from one file to another" in line]

    assert [line.partition(" on")[0] for line in said(*parts)] == ["1 connection goes"]
    assert said(*reversed(parts)) == said(*parts)  # whatever the order of the files
    assert said(parts[0]) == said(parts[1]) == []
    parts[1].write_bytes(pcap(short.frames()))
    assert said(*parts) == []  # the same ports again, with a handshake: another connection


def test_percentiles_of_few_requests_are_left_out(folder: Path) -> None:
    table = tables.files(run([folder]), everything=True)
    heads = [column.head.replace("\n", " ") for column in table.columns]
    for row in table.rows:
        shown = {head: cell.shown for head, cell in zip(heads, row, strict=True)}
        assert shown["p50, ms"] and shown["longest, ms"], shown
        assert not shown["p99, ms"] and not shown["p99.9, ms"], shown


def test_a_folder_with_links_and_pipes(folder: Path) -> None:
    (folder / "gone.pcap").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe.pcap")
    found = run([folder])
    assert found.requests.height and len(found.sources) == 2
    assert [line for line in found.warnings if "gone.pcap: no such file" in line]


def test_a_server_for_which_alone_a_setting_is_advised(tmp_path: Path) -> None:
    """Test that slow requests to another server do not hide what a setting would gain for this one."""
    lossy = Talk()
    thin.traffic(lossy, 1, 2000, 0.02)
    (tmp_path / "thin.pcap").write_bytes(pcap_of(lossy))
    talk = Talk(server="10.0.0.9")
    at = talk.open()
    for k in range(400):
        talk.client(at, 1 + 100 * k, 100, 1 + 10 * k)
        talk.answer(at + 5_000_000, 1 + 10 * k, 10, 101 + 100 * k)
        at += 6_000_000
    (tmp_path / "slow.pcap").write_bytes(pcap_of(talk))
    found = run([tmp_path / "thin.pcap", tmp_path / "slow.pcap"])
    assert found.advice is not None and found.advice.chosen is None
    assert len(found.advised_alone) == 1 and not found.advised_alone[0].startswith("10.0.0.9")
    said = [line for lines in sentences.advice(found) for line in lines]
    assert f"add --host {found.advised_alone[0]}." in said[1]
    shared = run([tmp_path / "thin.pcap", tmp_path / "slow.pcap"], anonymize=True)
    (line,) = (line for lines in sentences.advice(shared) for line in lines if "alone a setting" in line)
    assert line.endswith("leave --anonymize out, and add --host with the address that host-2:80 stands for.")


def test_an_interrupted_run_goes_on(
    tmp_path: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in range(FILES):
        path = tmp_path / f"{seed:02}.pcap"
        subprocess.run([sys.executable, MAKE, path, "--flows", "1500", "--seed", str(seed)], check=True)
    (tmp_path / "cut.pcap").write_bytes(path.read_bytes()[:30])
    words = [sys.executable, "-m", "tcplearn", "explain", str(tmp_path), "-q", "-j", "2"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(kept(own_cache)) < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    before = kept(own_cache)
    assert (out, process.returncode) == ("", 130)
    assert 3 <= len(before) < FILES
    where = f"kept in {own_cache / 'explain'}; the same command goes on from there\n"
    assert said == f"tcplearn: stopped: {len(before)} of {FILES + 1} files {where}"

    rows = rows_of(capsys, str(tmp_path))
    after = kept(own_cache)
    assert len(after) == FILES  # and not cut.pcap, which may be whole the next time
    assert {path: after[path] for path in before} == before  # none was done again
    assert rows_of(capsys, str(tmp_path), "--fresh", "-j", "1") == rows
    assert kept(own_cache).keys() == after.keys() and not kept(own_cache).items() & after.items()
    assert [Path(row["source"]).name for row in rows if "source" in row] == [
        f"{k:02}.pcap" for k in range(FILES)
    ]
    assert sum(row["requests"] for row in rows if "source" in row) == rows[0]["requests"] == FILES * 1500


def test_all_together_are_what_each_is(folder: Path, own_cache: Path) -> None:
    paths = sorted(folder.iterdir())
    together, alone = run([folder]), [run([path]) for path in paths]
    assert together.sources == [str(path) for path in paths] and together.named == str(folder)
    for name in read.TABLES:
        parts = [
            getattr(one, name).with_columns(pl.lit(k, pl.UInt32).alias("source"))
            for k, one in enumerate(alone)
        ]
        assert getattr(together, name).equals(pl.concat(parts))
    assert [(one.requests, one.parts) for one in together.captures] == [
        (one.total.requests, one.total.parts) for one in alone
    ]
    assert not alone[0].captures


def test_of_many_captures_those_with_much_waiting_come_first(tmp_path: Path, own_cache: Path) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    for n in range(tables.SHOWN + 1):
        talk = Talk(port=40_000 + n)  # two equal files would count once
        talk.exchanges(talk.open(), 9 if n == tables.SHOWN else 3)
        (folder / f"{n:02}.pcap").write_bytes(pcap_of(talk))
    found = run([folder])
    names = [Path(row[0].shown).stem for row in tables.files(found, everything=False).rows]
    assert names[0] == f"{tables.SHOWN:02}" and len(names) == tables.SHOWN
    names = [Path(row[0].shown).stem for row in tables.files(found, everything=True).rows]
    assert names == sorted(names)


def test_a_damaged_file_has_a_line_and_the_others_go_on(
    folder: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = rows_of(capsys, str(folder))
    cut, text, twin = folder / "cut.pcap", folder.parent / "notes.txt", folder.parent / "twin.pcap"
    cut.write_bytes((folder / "a.pcap").read_bytes()[:30])
    text.write_text("no capture\n")
    twin.write_bytes((folder / "b.pcap").read_bytes())
    assert main(["explain", str(folder), str(text), str(twin), "--format", "json"]) == 0
    out, said = capsys.readouterr()
    seen = [(row["requests"], row.get("source")) for row in json.loads(out) if row.get("setting", "") == ""]
    assert seen == [(row["requests"], row.get("source")) for row in whole if row.get("setting", "") == ""]
    assert f"left out: {cut}: " in said and f"left out: {text}: not a capture" in said
    assert f"left out: {twin}: a copy of {folder / 'b.pcap'}" in said and said.count("left out") == 3
    assert main(["explain", str(cut), str(text)]) == 2
    out, said = capsys.readouterr()
    assert out == "" and "no capture can be read: " in said and "(and 1 more file)" in said


def test_what_is_kept_and_wrong_is_read_again(
    folder: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = rows_of(capsys, str(folder))
    results = Results(own_cache / "explain")
    job = files.job(Seen.of(folder / "b.pcap"))
    file = results.path(job.key)
    wrong_results.check(results, job, file, capsys)
    good = json.loads(file.read_bytes())
    for spoilt in ({}, {**good["tables"], "stalls": "AAAA"}, {**good["tables"], "stalls": "é"}):
        file.write_text(json.dumps({**good, "tables": spoilt}))
        assert rows_of(capsys, str(folder)) == first
        assert json.loads(file.read_bytes())["tables"] == good["tables"]


def test_servers_and_captures_are_tables_of_their_own(
    folder: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Talk(server="10.0.0.9")
    SCENES["window_closed"](other)
    (folder / "c.pcap").write_bytes(pcap_of(other))
    assert main(["explain", str(folder), "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("10.0.0.9:80") for line in lines)
    assert sum(line.startswith(str(folder)) for line in lines) == 3
