# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test copies, links and compressed copies of a trace: each series counts once in a suite, a replay and a
study."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import suite_traces

from samples import ROOT
from tcplearn.cli import main
from tcplearn.replay import replay
from tcplearn.report import suite as suite_report
from tcplearn.suite import measure, suite
from tcplearn.suite import rows as suite_rows

sys.path.append(str(ROOT / "python" / "tests" / "traces"))
import wire

NAMES = ("last", "jacobson", "linux")
SOME = ["--jobs", "1", *(word for name in NAMES for word in ("-e", name))]


def copies(folder: Path) -> list[str]:
    """Write a trace and its copies, and return the names of the copies."""
    text = suite_traces.csv(1, 900)
    first = folder / "b.csv"
    first.write_text(text)
    (folder / "c copy.csv").write_text(text)
    os.link(first, folder / "d-hard.csv")
    (folder / "e-soft.csv").symlink_to(first)
    (folder / "f.csv.gz").write_bytes(gzip.compress(text.encode()))
    # another format and another clock
    rows = [line.split(",") for line in text.splitlines()[1:]]
    moved = [f"x;{round(float(t) * 1e6) + 5_000_000};{round(float(ms) * 1000)}" for t, ms in rows]
    (folder / "g.csv").write_text("\n".join(["flow;time_us;rtt_us", *moved]) + "\n")
    return ["c copy.csv", "d-hard.csv", "e-soft.csv", "f.csv.gz", "g.csv x"]


def replayed(capsys: pytest.CaptureFixture[str], folder: Path, *more: str) -> tuple[Any, str]:
    assert main(["suite", str(folder), *SOME, "--format", "json", *more]) == 0
    out, said = capsys.readouterr()
    return json.loads(out), said


def figures(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "version"} for row in rows]


def test_copies_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, many = tmp_path / "one", tmp_path / "many"
    for folder in (one, many):
        folder.mkdir()
        (folder / "a.csv").write_text(suite_traces.csv(2, 700))
        (folder / "short.csv").write_text(suite_traces.csv(3, 100))
    (one / "b.csv").write_text(suite_traces.csv(1, 900))
    names = copies(many)
    (many / "short2.csv").write_text(suite_traces.csv(3, 100))
    wanted, _ = replayed(capsys, one)
    for _ in ("measured", "kept"):
        rows, said = replayed(capsys, many)
        assert figures(rows) == figures(wanted)
        assert "6 series left out, whose samples are those of another: c copy.csv (as b.csv)," in said
        assert said.count("\n") == 1 and "and 3 more" in said
    assert main(["suite", str(many), *SOME]) == 0
    shown = capsys.readouterr().out
    assert "6 series left out" in shown and "more than chance" not in shown
    done = suite.run(many, measure.Options(estimators=NAMES))
    page = "".join(suite_report.page(done, suite_rows.rows(done)).body)
    for copy in (*names[:4], "g.csv"):
        assert f"{copy} (as b.csv)" in page
    assert "short2.csv (as short.csv)" in page


def test_what_is_kept_of_a_copy_does_not_depend_on_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copies(tmp_path)
    rows, _ = replayed(capsys, tmp_path)
    assert {row["error_worst_series"] for row in rows} == {"b.csv"}
    (tmp_path / "b.csv").rename(tmp_path / "z.csv")
    (tmp_path / "e-soft.csv").unlink()
    rows, said = replayed(capsys, tmp_path)
    assert {(row["series"], row["error_worst_series"]) for row in rows} == {(1, "c copy.csv")}
    assert "(as c copy.csv)" in said


def capture(path: Path, flows: range, wrap: str = "pcap") -> Path:
    frames = []
    for k in flows:
        w = wire.Wire(client=wire.Host("10.0.0.1", 40_000 + k), start_us=1_600_000_000_000_000 + k * 500_000)
        now = w.handshake()
        for i in range(40):
            w.send(now, w.client, 1 + 100 * i, 100, ack=1)
            rtt_us = 30_000 + (i * 7919 + k * 104_729) % 20_011
            w.send(now + rtt_us, w.server, 1, ack=101 + 100 * i)
            now += rtt_us + 2000
        frames += w.frames
    path.write_bytes(getattr(wire, wrap)(sorted(frames, key=lambda f: f[0])))
    return path


def test_a_flow_in_two_captures_counts_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Test flows that are in two overlapping captures, and in another file format with the same packets."""
    capture(tmp_path / "a.pcap", range(5))
    capture(tmp_path / "b.pcap", range(3, 9))
    capture(tmp_path / "c.pcapng", range(5), "pcapng")
    rows, said = replayed(capsys, tmp_path, "--min-samples", "30")
    assert {row["series"] for row in rows} == {9}
    assert "7 series left out" in said and "c.pcapng (as a.pcap)" in said
    files = [tmp_path / name for name in ("a.pcap", "b.pcap", "c.pcapng")]
    done = replay.run(files)
    whole = replay.run([capture(tmp_path / "whole.pcap", range(9))])
    assert [row.values for row in done.totals] == [row.values for row in whole.totals]
    assert done.warnings == [
        f"{files[1]}: 2 flows left out: the same samples as in {files[0]}, and each counts once",
        f"{files[2]}: 5 flows left out: the same samples as in {files[0]}, and each counts once",
    ]


def test_short_flows_of_a_copy_count_once_in_a_replay(tmp_path: Path) -> None:
    lines = [f"f{i},{i / 10:.1f},{20 + i % 3}" for i in range(200)]  # many alike, each a flow of its own
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("\n".join(["flow,t_s,rtt_ms", *lines]) + "\n")
    one, both = (replay.run([tmp_path / name for name in names]) for names in (["a.csv"], ["a.csv", "b.csv"]))
    assert one.totals[0].samples == both.totals[0].samples == 200
    assert len(both.warnings) == 1 and "200 flows left out" in both.warnings[0]


def test_a_study_counts_them_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copies(tmp_path)
    grid = ["--n", "10", "--eta", "2", "--alpha", "0.08", "--format", "json"]
    found = []
    for names in (["b.csv"], ["b.csv", "f.csv.gz", "g.csv"]):
        assert main(["study", "experts", *grid, *(str(tmp_path / name) for name in names)]) == 0
        out, said = capsys.readouterr()
        found.append(figures(json.loads(out)))
    assert found[0] == found[1] and "2 series left out" in said
