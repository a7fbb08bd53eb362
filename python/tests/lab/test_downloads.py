# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test downloads with the estimator at either end, first RTOs in the guest, and the pages of baddam2018."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scenario_text import load, refused

from experiments.baddam2018 import first_rto as page
from experiments.baddam2018 import grid, published
from samples import ROOT
from tcplearn.__main__ import main
from tcplearn.errors import FailedError
from tcplearn.jobs import Place
from tcplearn.lab import downloads, first_rto, guest, run, scenario
from tcplearn.lab.handshake_waits import Connection, Sending

FOLDER = ROOT / "experiments" / "baddam2018"
GRID = FOLDER / "grid.toml"
DOWNLOADS = """
name = "x"
[path.hop.a]
forward = { rate_mbps = 10, delay_ms = 5 }
[transfer]
by = "nginx"
captured = true
pings = { every_us = 100 }
[algorithms]
at = ["sender", "receiver"]
estimators = ["stock", "linreg"]
[algorithms.of]
vegas = ["stock", "linreg/vegas"]
"""


MISTAKES = {
    r"pings: by nginx, not send": ('by = "nginx"', 'by = "send"'),
    r"pings\.every_us: should be greater than or equal to 50": ("every_us = 100", "every_us = 1"),
    r"no estimator 'linreg/vega'; did you mean linreg/vegas": ('"linreg/vegas"]', '"linreg/vega"]'),
    r"algorithms\.at is for downloads": ("captured = true\npings = { every_us = 100 }", ""),
    r"algorithms\.at\.1: should be 'sender' or 'receiver'": ('"receiver"]', '"router"]'),
    r"places\.site": ("captured = true", "places = { site = [] }"),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_of_a_mistake_one_line_is_said(tmp_path: Path, message: str) -> None:
    mistaken = DOWNLOADS.replace(*MISTAKES[message])
    assert mistaken != DOWNLOADS
    refused(tmp_path, mistaken, message)


def test_whose_kernel_is_changed(tmp_path: Path) -> None:
    text = guest.script(load(tmp_path, DOWNLOADS), 0)
    assert "transfer reno+stock+tlp-on tl-reno stock " in text
    assert "transfer reno+linreg+tlp-on tl-reno linreg " in text
    receivers = "changed=c3; in_ns c3 sysctl -qw net.ipv4.tcp_congestion_control=tl-reno\n"
    assert f"{receivers}transfer reno+linreg+receiver+tlp-on reno linreg " in text
    assert "stock+receiver" not in text and text.count("transfer reno") == 3
    assert "beside='syns flood 10.0.0.2 80 100'" in text
    assert "capture_port sender c0 r0 5002\ncapture_port receiver c3 l2 5002" in text


def test_the_grid_is_the_issues() -> None:
    """Test that the grid has 3 kernels, 3 versions of the estimator at two ends and stock, 3 kinds of other
    traffic and 5 downloads each, and that the sites are those that the paper prints."""
    of = guest.arms(scenario.load(GRID), 0)
    assert len(of) == 3 * (1 + 3 * 2) and scenario.load(GRID).runs.count == 5
    assert {grid.version_of(arm.estimator) for arm in of} == {"stock", *grid.VERSIONS.values()}
    every = {name: scenario.load(GRID, name).transfer.pings for name in ("full", "low", "high")}
    assert every["full"] is None and every["low"] and every["high"]
    assert (every["low"].every_us, every["high"].every_us) == (100_000, 100)
    places = scenario.load(FOLDER / "sanity.toml").transfer.places
    assert places
    printed = {
        b.site: b.mean for b in published.bursts(FOLDER) if (b.kernel, b.version) == ("cubic", "original")
    }
    assert {site.name: site.rtt_ms for site in places.site} == printed and len(printed) == 9


def test_pings_are_read_as_they_are_printed(tmp_path: Path) -> None:
    (tmp_path / downloads.PINGS).write_text("a.b 20 1000 2500 4000\nc 0 0 0 0\n")
    sanity = scenario.load(FOLDER / "sanity.toml").transfer
    found = {site: figures for site, _, figures in sanity.flows(tmp_path)}
    assert found["a.b"] == {"pings_answered": 20, "ping_min_ms": 1, "ping_mean_ms": 2.5, "ping_max_ms": 4}
    assert found["c"] == {"pings_answered": 0}


def connection(syns: list[tuple[int, int]], answers: list[tuple[int, int]]) -> Connection:
    """Return a connection with the SYNs and SYN-ACKs sent and arrived at these times in ms; -1 means lost."""
    both = [
        tuple(Sending(1000 * sent, -1 if arrived < 0 else 1000 * arrived) for sent, arrived in of)
        for of in (syns, answers)
    ]
    return Connection(64, 1, 0, 0, *both)


LOST_SYN = connection([(0, -1), (100, 130)], [(130, 160)])
LOST_ANSWER = connection([(0, 30), (100, 130)], [(30, -1), (130, 160)])
BY_ITS_TIMER = connection([(0, 30), (100, -1)], [(30, -1), (1030, 1060)])
TOO_SOON = connection([(0, 30), (40, 70)], [(30, 60), (70, 100)])
SYN_UNDER_WAY = connection([(0, 30), (20, 50)], [(30, 60)])
IGNORED = connection([(0, 30), (100, 130), (300, 330), (700, 730)], [(30, -1), (130, -1), (730, 760)])


def test_how_long_until_a_resend_got_through() -> None:
    assert [c.wait_us for c in (LOST_SYN, LOST_ANSWER, BY_ITS_TIMER, TOO_SOON)] == [
        100_000,
        100_000,
        1_000_000,
        0,
    ]
    assert IGNORED.wait_us == 700_000
    assert [c.lost for c in (LOST_SYN, BY_ITS_TIMER, TOO_SOON, IGNORED)] == [1, 2, 0, 2]


def test_which_resends_were_needless() -> None:
    every = (LOST_SYN, LOST_ANSWER, BY_ITS_TIMER, TOO_SOON, SYN_UNDER_WAY, IGNORED)
    assert [c.spurious_syns for c in every] == [0, 0, 0, 1, 1, 0]
    assert [c.spurious_answers for c in every] == [0, 0, 0, 1, 0, 0]
    assert [c.unanswered_syns for c in every] == [0, 0, 0, 0, 1, 1]


def test_a_trial_has_the_program_where_it_says() -> None:
    of = page.network(small=True)
    both = next(trial for trial in page.trials() if trial.client and trial.server)
    text = first_rto.script(of, both)
    assert text.count("first_rto_load") == 2 and "loss 10%" in text
    assert "first_rto_load" not in first_rto.script(of, page.trials()[0])
    assert " 1 24 1 64 65 66 >" in first_rto.script(of, replace(both, fresh=True))


@pytest.mark.full
def test_a_download_under_each_ends_kernel(tmp_path: Path) -> None:
    """Test a download under the kernel of each end, beside SYNs of the downloader. tshark counts
    retransmissions at both ends."""
    chosen = scenario.load(GRID, "smoke")
    algorithms = chosen.algorithms.model_copy(update={"of": {"reno": ["stock", "linreg/reno"]}})
    chosen = chosen.model_copy(update={"algorithms": algorithms})
    finished = run.run(chosen, run.Options(out=tmp_path))
    assert not finished.failures
    value = {(row["algorithm"], row["metric"]): row["value"] for row in finished.rows}
    arms = [arm.name for arm in guest.arms(chosen, 0)]
    assert len(arms) == 3
    for arm in arms:
        for end in ("sender", "receiver"):
            assert value[arm, f"resent_at_{end}_packets"] is not None, (arm, end)


@pytest.mark.full
def test_a_known_place_is_sent_to_again_soon_by_a_stock_kernel(tmp_path: Path) -> None:
    """Test that stock Debian kernels with the sock_ops program at both ends accept the program and resend
    SYNs to a known place early."""
    (known,) = (trial for trial in page.trials() if trial.name == page.KNOWN_AT_BOTH)
    few = replace(page.network(small=True), count=6)
    found = first_rto.run(few, [known], Place(), tmp_path)[known.name]
    assert len(found) == 6 * len(few.places)
    _, series = page.kept(found)
    assert 0 < series["wait_us"].mean() < 600_000  # stock's is a second or more


@pytest.mark.full
@pytest.mark.pages
def test_smoke_of_the_papers_pages(tmp_path: Path) -> None:
    """Test a short run of the paper's pages: downloads under both ends' kernels beside SYNs, pings, and first
    RTOs, in the virtual machine."""
    words = ["experiments", "baddam2018", "--profile", "smoke", "-q", "--out", str(tmp_path / "cache")]
    words += ["--file", str(tmp_path / "runs.parquet"), "-o", str(tmp_path)]
    assert main([*words, "--run"]) == 0
    text = (tmp_path / "lab.md").read_text()
    assert "| reno | as written | downloader |" in text and "| reno | trademe.co.nz | " in text
    rows = [
        line.split("|") for line in (tmp_path / "first-rto.md").read_text().splitlines() if "72 |" in line
    ]
    waits = {row[1].strip(): float(row[4]) for row in rows}
    assert waits["model at both ends, known places"] < 0.6 * waits["stock, 1 s"]
    assert "| published, cubic |" in (tmp_path / "regression.md").read_text()


@pytest.mark.parametrize(
    ("status", "rows", "message"),
    [
        (0, "0\\t\\n1\\t\\n1\\t1\\n", ""),
        (0, "0\\t\\n0\\t1\\n", r"^sender\.pcap: 1 connections in place of 2, 2 packets$"),
        (2, "", r"^sender\.pcap: tshark: it broke$"),
    ],
)
def test_a_warning_of_tshark_is_no_failure(
    status: int, rows: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test that a warning of tshark, such as one about running as root, is not an error. Of two connections,
    one had a retransmitted segment."""
    said = "it broke" if status else "Running as user root. This could be dangerous."
    script = f"#!/bin/sh\necho '{said}' >&2\nprintf '{rows}'\nexit {status}\n"
    (tmp_path / "tshark").write_text(script)
    (tmp_path / "tshark").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for folder in ("pcap", "a", "b"):
        (tmp_path / folder).mkdir()
    if message:
        with pytest.raises(FailedError, match=message):
            downloads.count(tmp_path, ["a", "b"])
        return
    downloads.count(tmp_path, ["a", "b"])
    assert (tmp_path / "a" / downloads.COUNTED).read_text().split() == [
        "resent_at_sender_packets", "0", "resent_at_receiver_packets", "0",
    ]  # fmt: skip
    assert "resent_at_sender_packets 1" in (tmp_path / "b" / downloads.COUNTED).read_text()
