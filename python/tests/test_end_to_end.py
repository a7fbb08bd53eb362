# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the command line as a user runs it, from the shipped capture to real results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.__main__ import main

CAPTURE = ROOT / "examples" / "captures" / "access-link.pcap.gz"


def tcplearn(*words: str | Path, **more: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tcplearn", *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **more)  # type: ignore[call-overload, no-any-return]


Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    """Return a function that runs tcplearn in this process and returns the exit status, stdout and stderr."""

    def run(*words: str | Path) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return run


def test_rows_of_the_shipped_capture(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = tcplearn("replay", CAPTURE, "--all", "--format", "json", "--report", page)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    bulk = {r["estimator"]: r for r in rows if r["flow"] == max(rows, key=lambda r: r["samples"])["flow"]}
    assert len({r["flow"] for r in rows}) == 3
    assert bulk["jacobson"]["mean_abs_error_ratio"] == 1
    # what ADR 2 and the paper's page say, on real traffic: the floor hides, the literal grid is far off
    assert bulk["jacobson/rfc6298"]["mean_rto_ms"] >= 1000
    assert bulk["experts"]["mean_abs_error_ms"] > 50 * bulk["jacobson"]["mean_abs_error_ms"]
    assert bulk["linux"]["mean_rto_ms"] > 200
    short = [r for r in rows if r["samples"] < 30]
    assert short and not any(r["judged"] for r in short) and "too short" in short[0]["note"]
    assert "http-equiv" in page.read_text() and page.stat().st_size < 3_000_000


def test_misses_of_a_bulk_and_a_thin_flow(tmp_path: Path) -> None:
    """Test the miss rates of a bulk and a thin flow. The RTO just before each sample has the chosen miss
    rate. Misses cause timeouts in the thin flow, and hardly any in the bulk flow."""
    page = tmp_path / "page.html"
    words = ("--miss", "0.02", "-e", "conformal", "-e", "jacobson", "--format", "json", "--report", page)
    rows = json.loads(tcplearn("replay", CAPTURE, *words).stdout)
    bulk, thin = (r for r in rows if r["estimator"] == "conformal:miss=0.02" and r["judged"])
    assert bulk["mean_flight_segments"] > 20 and thin["mean_flight_segments"] == 1
    assert 0.7 * 0.02 <= bulk["rto_miss_rate_before"] <= 1.3 * 0.02 < bulk["rto_miss_rate"]
    assert bulk["spurious_timeouts"] < 0.1 * bulk["rto_miss_rate_before"] * bulk["samples"]
    assert thin["rto_miss_rate"] == thin["rto_miss_rate_before"]
    assert thin["rto_miss_rate"] == pytest.approx(
        thin["spurious_timeouts"] / (thin["samples"] - thin["handshakes"])
    )
    assert all(r["rto_miss_rate_requested"] is None for r in rows if r["estimator"] == "jacobson")
    assert "A miss rate of 2 % was requested of conformal:miss=0.02" in page.read_text()


def test_miss_rates_and_seeds_that_cannot_be(here: Here) -> None:
    for words, problem in (
        (("replay", CAPTURE, "-e", "last", "--miss", "0.1"), "--miss: none of the estimators compared"),
        (("suite", CAPTURE.parent, "--miss", "0.9"), "--miss 0.9: give a share of the samples"),
        (("suite", CAPTURE.parent, "--seed", "1"), "no such option: --seed"),
    ):
        status, out, error = here(*words)
        assert (status, out, error.count("\n")) == (2, "", 1)
        assert problem in error


def test_a_preset_about_a_rate_of_its_own_keeps_it(here: Here) -> None:
    words = (
        "-e",
        "conformal",
        "-e",
        "conformal/thousandth",
        "-e",
        "last",
        "--miss",
        "0.05",
        "--format",
        "json",
    )
    rows = json.loads(here("replay", CAPTURE, *words)[1])
    assert {r["estimator"]: r["rto_miss_rate_requested"] for r in rows} == {
        "conformal:miss=0.05": 0.05,
        "conformal/thousandth": 0.001,
        "last": None,
    }


def test_input_problems_name_what_was_given(tmp_path: Path, here: Here) -> None:
    done = tcplearn("replay", "-", input=b"")
    assert (done.returncode, done.stderr) == (2, b"tcplearn: stdin: the file is empty\n")
    table = tmp_path / "rtts.csv"
    table.write_text("t_s,rtt_ms,flight_segments\n1,40,3\n2,41,-3\n")
    for words, problem in (
        ((table,), "line 3: flight_segments: -3 is below zero"),
        ((CAPTURE, "-e", "experts:share=5"), "share=5: it takes fixed, variable or past"),
        ((CAPTURE, "--report", "-"), "--report -"),
    ):
        status, _, error = here("replay", *words)
        assert status == 2 and problem in error


def test_a_pipe_is_as_good_as_a_file(here: Here) -> None:
    words = ("--format", "json", "-e", "jacobson", "-e", "eifel")
    by_name = json.loads(here("replay", CAPTURE, *words)[1])
    by_pipe = json.loads(tcplearn("replay", "-", *words, input=CAPTURE.read_bytes()).stdout)
    assert [{**r, "source": ""} for r in by_name] == [{**r, "source": ""} for r in by_pipe]


def test_what_is_read_is_not_written_over(tmp_path: Path, here: Here) -> None:
    copy = tmp_path / "copy.pcap.gz"
    copy.write_bytes(CAPTURE.read_bytes())
    os.link(copy, tmp_path / "other-name.html")
    for words in (("--report", copy), ("-o", copy), ("--report", tmp_path / "other-name.html")):
        status, _, error = here("replay", copy, *words)
        assert (status, "is also an input" in error) == (2, True)
    status, _, error = here("replay", copy, "-o", tmp_path / "out", "--report", tmp_path / "out")
    assert status == 2 and "give two files" in error
    assert copy.read_bytes() == CAPTURE.read_bytes()
    assert not (tmp_path / "out").exists()


def test_one_file_twice_counts_once(here: Here) -> None:
    _, twice, said = here("replay", CAPTURE, CAPTURE, "--format", "json", "-e", "last")
    _, once, _ = here("replay", CAPTURE, "--format", "json", "-e", "last")
    assert json.loads(twice) == json.loads(once)
    assert "named twice; it counts once" in said
    assert " 2 flows left out" in said and " 1 flow left out" in said  # two are judged alone


def test_both_arithmetics_agree(here: Here) -> None:
    rows, others = (
        json.loads(here("replay", CAPTURE, "--format", "json", "--arithmetic", arithmetic)[1])
        for arithmetic in ("double", "fixed")
    )
    for one, two in zip(rows, others, strict=True):
        assert one["mean_abs_error_ms"] == pytest.approx(two["mean_abs_error_ms"], rel=2e-3)


def test_a_pipe_without_an_end_is_refused(tmp_path: Path) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        done = subprocess.run(
            [sys.executable, "-m", "tcplearn", "replay", "-"], stdin=zeros, capture_output=True, timeout=60
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1) and b"stdin: not a trace" in done.stderr


def test_a_pipe_is_named_while_it_is_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "tcplearn", "replay", str(pipe)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stderr is not None
        assert started.stderr.readline() == f"tcplearn: {pipe}: a pipe: it is read until it ends\n".encode()
        pipe.write_bytes(CAPTURE.read_bytes())
        out, _ = started.communicate(timeout=60)
    assert started.returncode == 0 and out.startswith(b"Best ")
