# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn explain` from captures to its sentences, tables and rows."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import thin
import zstandard
from scenes import BEFORE, SCENES
from talk import RTT_US, SERVER, Talk, explained, pcap_of

from samples import ROOT
from tcplearn import metrics
from tcplearn.cli import main
from tcplearn.explain import rows, run, sentences
from tcplearn.explain.candidates import ALL
from tcplearn.explain.causes import CAUSES, WORDS

EXAMPLES = ROOT / "examples" / "captures"


def capture(path: Path, *scenes: str) -> Path:
    talks = [Talk(port=40_000 + k, place=SERVER) for k in range(len(scenes))]
    for talk, scene in zip(talks, scenes, strict=True):
        SCENES[scene](talk)
    path.write_bytes(pcap_of(*talks))
    return path


def test_every_cause_has_words() -> None:
    assert set(WORDS) == set(CAUSES)
    assert len({words.label for words in WORDS.values()}) == len(WORDS)


def test_the_first_screen_says_where_the_time_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = capture(tmp_path / "a.pcap", "answer_lost")
    assert main(["explain", str(path), "-q"]) == 0
    out = capsys.readouterr().out
    first, second, third = out.splitlines()[:3]
    assert third == "1 of 27 segments with data was a retransmission."
    assert first == "13 requests in 1 connection: half are answered within 40.0 ms, the slowest takes 282 ms."
    spent = "86 % went to lost segments that a tail loss probe repaired and 14 % to round trips and transfer"
    assert second == f"Of the time of the slowest request, {spent}."
    assert "lost, repaired by a tail loss probe" in out


def test_nothing_wrong_is_said(tmp_path: Path) -> None:
    talk = Talk()
    talk.exchanges(talk.open(), 20)
    said = sentences.of(explained(tmp_path, talk))
    assert len(said) == 4 and "nothing held it up" in said[1]
    assert said[2] == "This request moved 201 bytes; the shortest round trip of its connection took 40.0 ms."
    assert said[3].startswith("None of ")


@pytest.mark.parametrize("scene", SCENES)
def test_each_scene_in_words(tmp_path: Path, scene: str) -> None:
    talk = Talk()
    truth = SCENES[scene](talk)
    said = " ".join(sentences.of(explained(tmp_path, talk)))
    apart = truth.cause in ("syn_lost", "syn_ack_lost")
    lost = f"wait for a lost {WORDS[truth.cause].label.removesuffix(' lost')} "
    words = lost if apart else WORDS[truth.cause].spent
    assert (words in said) == truth.waited


def database(path: Path) -> Path:
    """Write a capture of requests to a host with an RTT of 1 ms, of which some are lost."""
    talks = [Talk(port=40_000 + n, rtt_us=1000) for n in range(4)]
    for n, talk in enumerate(talks):
        thin.traffic(talk, n, 200, 0.02, rtt_us=1000)
    path.write_bytes(pcap_of(*talks))
    return path


def well(path: Path) -> Path:
    """Write a capture of requests over a path that loses no packets."""
    talk = Talk()
    thin.traffic(talk, 1, 300, 0.0)
    path.write_bytes(pcap_of(talk))
    return path


#: What a reader of the first screen is to do, and what would be wrong.
FIRST_SCREENS: dict[str, tuple[Callable[[Path], Path], list[str], str, str]] = {
    "web with losses": (
        lambda _: EXAMPLES / "requests.pcap.gz",
        [],
        "Set on the server (10.0.1.2): sudo ip route change $(ip -o route show default | head -1 | "
        "tr -d '\\\\' | sed 's/ rto_min .*ms//; s/ linkdown//g; s/ dead//g; s/^default/& rto_min 50ms/' | "
        "grep . || echo default)",
        "No setting",
    ),
    "database": (
        database,
        [],
        "Set on the client (10.0.0.1): sudo ip route add 10.0.0.2 $(ip",
        "No setting",
    ),
    "bulk": (
        lambda _: EXAMPLES / "access-link.pcap.gz",
        ["--host", ":5001"],
        "No setting of TCP's timers is advised: there are no requests; a transfer in one direction waits "
        "for its window",
        "sudo",
    ),
    "slow server": (
        lambda path: capture(path, "slow_server"),
        [],
        "No setting of TCP's timers is advised: the server itself takes that long; look at its program.",
        "sudo",
    ),
    "nothing wrong": (
        well,
        [],
        "nothing held them up. Medians of these requests: 201 bytes and 28.8 ms for the shortest round trip. "
        "None of 600 segments with data was a retransmission. No setting of TCP's timers is advised: the "
        "time of requests is round trips",
        "sudo",
    ),
}


@pytest.mark.parametrize("kind", FIRST_SCREENS)
def test_the_first_screen_says_what_to_do(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, more, said, not_said = FIRST_SCREENS[kind]
    monkeypatch.setenv("COLUMNS", "80")
    words = ["explain", str(make(tmp_path / "a.pcap")), "-q", *more]
    assert main(words) == 0
    screen = " ".join(" ".join(capsys.readouterr().out.splitlines()[:24]).split())
    assert said in screen and not_said not in screen, screen
    # rows say the same
    assert main([*words, "--format", "json"]) == 0
    advised = [row["setting"] for row in json.loads(capsys.readouterr().out) if row.get("advised")]
    assert [
        re.search(rf"{setting.replace(' ms', 'ms')}(/' \| grep . \|\| echo default\))? 99 of 100", screen)
        is not None
        for setting in advised
    ] == ([True] if "Set on" in said else [])


def test_folders_files_and_pipes_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    capture(folder / "a.pcap", "answer_lost")
    capture(folder / "b.pcap", "slow_server", "delayed_ack")
    (folder / "notes.txt").write_text("no capture\n")
    (folder / "cut.pcap").write_bytes((folder / "a.pcap").read_bytes()[:30])
    piped = capture(tmp_path / "c.pcap", "window_closed")
    with piped.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["explain", str(folder), "-", "--format", "json", "--rows", "connections"]) == 0
    out, error = capsys.readouterr()
    assert [Path(row["source"]).name for row in json.loads(out)] == ["a.pcap", "b.pcap", "b.pcap", "-"]
    assert "cut.pcap" in error and "1 file left out, no captures: " in error
    assert os.fspath(folder / "notes.txt") in error


def test_rows_of_the_summary_are_registered_metrics(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = capture(tmp_path / "a.pcap", "answer_lost", "slow_server")
    assert main(["explain", str(path), "--format", "parquet", "-q"]) == 0
    found = pl.read_parquet(io.BytesIO(capsysbinary.readouterr().out))
    assert set(found["host"]) == {metrics.EXPLAIN}
    assert set(found["flow"]) == {"total", "10.0.0.2:80"}
    assert all(metrics.known(key, metrics.EXPLAIN) for key in found["metric"])
    settings = set(found["algorithm"])
    assert settings == {"", *(candidate.name for candidate in ALL)}
    found = found.filter(pl.col("algorithm") == "")
    total = dict(found.filter(pl.col("flow") == "total").select("metric", "value").iter_rows())
    assert total["requests"] == 2 * (BEFORE + 1)
    assert total["longest_response_ms"] == pytest.approx(RTT_US / 1e3 + 300, abs=1)
    assert total["stalls_server"] == total["stalls_tail_probe"] == 1
    shares = [value for key, value in total.items() if key.startswith("slow_share_")]
    assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["requests", "stalls", "connections"])
def test_every_column_is_explained(tmp_path: Path, kind: str) -> None:
    page = (ROOT / "docs" / "explain.md").read_text().split("## Rows of the results")[1]
    tables = {part.split()[0]: part for part in page.split("| columns of ")[1:]}
    told = {
        name
        for part in (tables["every"], tables[kind])
        for line in part.splitlines()[2:]
        for name in re.findall(r"`(\w+)`", line.split("|")[1] if line.startswith("|") else "")
    }
    found = run([capture(tmp_path / "a.pcap", "answer_lost")])
    columns = rows.table(found, kind).columns
    of_causes = {f"{cause}_ms" for cause in CAUSES}
    assert told == {"CAUSE_ms" if name in of_causes else name for name in columns}


def test_the_setting_is_advised_for_the_host_that_waits(tmp_path: Path) -> None:
    """Test that of two clients in a folder, the advice and its cost are about the one whose losses a timer
    repairs. A shorter timer would make the other one retransmit spuriously."""
    for name, host, loss, jitter in (("a", 2, 0.05, 0.03), ("b", 4, 0.0, 0.4)):
        talk = Talk(server=f"10.0.0.{host}", own=f"10.0.0.{host + 1}")
        thin.traffic(talk, 1, 400, loss, jitter=jitter)
        (tmp_path / f"{name}.pcap").write_bytes(pcap_of(talk))
    alone, both = run([tmp_path / "a.pcap"]), run([tmp_path])
    assert both.advice is not None and alone.advice is not None and both.advice.chosen is not None
    assert both.advice.line == alone.advice.line and "10.0.0.2" in both.advice.line
    assert both.forecast is not None and alone.forecast is not None
    assert both.forecast.segments == alone.forecast.segments
    rates = [[one.spurious_permille for one in of.forecast.outlooks] for of in (alone, both)]
    assert rates[0] == rates[1]
    other = run([tmp_path / "b.pcap"])
    assert int(other.connections["client_spurious_1"].sum()) > 3


@pytest.mark.parametrize("kind", ["requests", "stalls", "connections"])
def test_every_row_in_each_format(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], kind: str
) -> None:
    path = capture(tmp_path / "a.pcap", "answer_lost", "slow_server")
    read = {"csv": pl.read_csv, "json": pl.read_json, "parquet": pl.read_parquet}
    tables = []
    for format, reader in read.items():
        assert main(["explain", str(path), "--rows", kind, "--format", format, "-q"]) == 0
        tables.append(reader(io.BytesIO(capsysbinary.readouterr().out)))
    count = {"requests": 2 * (BEFORE + 1), "stalls": 2, "connections": 2}[kind]
    assert [table.height for table in tables] == [count] * 3
    assert tables[0].columns == tables[1].columns == tables[2].columns
    assert tables[0].columns[:3] == ["source", "client", "server"]


def test_one_host_of_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near, far = Talk(port=40_000), Talk(port=40_001, server="10.0.0.9")
    SCENES["slow_server"](near)
    SCENES["answer_lost"](far)
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_of(near, far))
    assert main(["explain", str(path), "-q"]) == 0
    both = capsys.readouterr().out
    assert "10.0.0.2:80" in both and "10.0.0.9:80" in both
    assert main(["explain", str(path), "-q", "--host", "10.0.0.9"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("13 requests in 1 connection") and "server's own time" not in out


def test_a_whole_address_comes_before_one_that_begins_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near, far = Talk(port=40_000, server="10.0.2.1"), Talk(port=40_001, server="10.0.2.11")
    for talk in (near, far):
        SCENES["slow_server"](talk)
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_of(near, far))
    for host, connections in (("10.0.2.1", 1), ("10.0.2.1:80", 1), ("10.0.2", 2), (":80", 2)):
        assert main(["explain", str(path), "-q", "--host", host]) == 0
        assert f" in {connections} connection" in capsys.readouterr().out.splitlines()[0], host


def test_a_capture_packed_with_zstd_is_named_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = capture(tmp_path / "a.pcap", "slow_server")
    path.write_bytes(zstandard.compress(path.read_bytes()))
    assert main(["explain", str(path)]) == 2
    assert "a capture packed with zstd; unpack it first: zstd -d FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "name captures, or an interface with -i"),
        (["nowhere.pcap"], "no such file"),
        (["README.md"], "not a capture"),
        (["python/tests/samples.py"], "not a capture"),
        (["--for", "5m", "README.md"], "no live traffic is read"),
        (["--rows", "stalls", "README.md"], "a table shows the summary"),
        (["-i", "no-such-interface0"], "no-such-interface0"),
        (
            ["examples/captures/access-link.pcap.gz", "--host", "zebra"],
            "no connection has this text in an address or port",
        ),
        (["examples/hosts"], "none of the files is a capture"),
    ],
)
def test_bad_usage(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    assert main(["explain", *more]) == 2
    out, error = capsys.readouterr()
    assert message in error and (out, error.count("\n")) == ("", 1)


def test_the_readme_shows_the_setting_that_is_advised_today(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(EXAMPLES / "requests.pcap.gz"), "-q", "--format", "json"]) == 0
    (advised,) = (row["setting"] for row in json.loads(capsys.readouterr().out) if row.get("advised"))
    picture = (ROOT / "docs" / "images" / "answer.svg").read_text()
    assert set(re.findall(r"forecast: ([^<&\";]*)", picture)) == {advised}, "make docs/images/answer.svg"


def test_the_page_has_each_cause_as_it_is_printed() -> None:
    page = (ROOT / "docs" / "explain.md").read_text()
    table = page.split("| cause | printed as |")[1].split("\n\n")[0]
    printed: dict[str, str] = {}
    for keys, labels in re.findall(r"^\| ([a-z_`, ]+) \| ([^|]+) \|", table, re.M):
        printed |= dict(zip(re.findall(r"`(\w+)`", keys), labels.split("; "), strict=True))
    assert printed == {key: words.label for key, words in WORDS.items()}
