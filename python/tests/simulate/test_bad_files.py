# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that a wrong scenario file gets one line with the file, the key, and the values that are allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import PAPER
from tcplearn.__main__ import main

GOOD = 'extends = "{base}"\nname = "T"\n[profiles.t]\n[[profiles.t.grids]]\nseeds = 1\n'

BAD = [
    (
        "scenario-5",
        "[scenario.topology]\nrate_mpbs = 1.0\n",
        "scenario.topology.rate_mpbs: no such key; did you mean rate_mbps",
    ),
    (
        "scenario-5",
        "[scenario.topology]\ndelay_s = 1.0\n",
        "scenario.topology.delay_s: no such key; did you mean delay_ms",
    ),
    (
        "scenario-5",
        '[scenario.topology]\ndelay_ms = "20ms"\n',
        "scenario.topology.delay_ms: should be a valid number, not '20ms'",
    ),
    (
        "scenario-5",
        "[scenario.topology]\nrate_mbps = -1.0\n",
        "scenario.topology.rate_mbps: should be greater than 0, not -1.0",
    ),
    (
        "scenario-5",
        '[scenario.topology]\nqueue = "red"\n',
        "scenario.topology.queue: should be 'droptail' or 'codel', not 'red'",
    ),
    ("scenario-5", "[scenario.load]\npackets = [100, 10]\n", "scenario.load.packets: give [lowest, highest]"),
    ("scenario-5", "[scenario.tcp]\nsack = 1\n", "scenario.tcp.sack: should be a valid boolean"),
    (
        "scenario-1",
        "[scenario.topology]\nspeed_mps = [0.0, 1.0]\n",
        "scenario.topology: speed_mps: the lowest must be above 0",
    ),
    (
        "scenario-1",
        '[scenario.topology]\nkind = "manets"\n',
        "scenario.topology.kind: no 'manets'; did you mean manet",
    ),
    (
        "scenario-6",
        '[scenario.topology]\ntrace = "nowhere.trace"\n',
        "nowhere.trace: no such file or directory; give a Mahimahi link trace",
    ),
    (
        "scenario-6",
        '[scenario.topology]\ntrace = "bad.toml"\n',
        "bad.toml: not a Mahimahi link trace: one time in ms on each line",
    ),
    (
        "scenario-5",
        '[grid]\nalgorithms = ["jacobsen"]\n',
        "grid.algorithms: no estimator 'jacobsen'; did you mean jacobson",
    ),
    (
        "scenario-5",
        '[grid]\nalgorithms = ["jacobson:alpha=2"]\n',
        "grid.algorithms: jacobson: alpha=2: it takes a number from 0 to 1",
    ),
    (
        "scenario-5",
        '[grid]\ntimings = ["each-ack"]\n',
        "grid.timings.0: 'each-ack': give every-ack or one-per-rtt",
    ),
    (
        "scenario-5",
        "[scenario.load]\npackets = [0, 10]\n",
        "load.packets.0: should be greater than or equal to 1",
    ),
    (
        "scenario-5",
        "[scenario.tcp]\nsegment_bytes = 2000\nbuffer_bytes = 1500\n",
        "buffer_bytes has to be at least a segment",
    ),
    (
        "scenario-6",
        '[scenario.topology]\ntrace = "falling.trace"\n',
        "falling.trace: not a Mahimahi link trace: its times fall",
    ),
    ("scenario-5", '[grid]\nvariants = ["1mbps"]\n', "no variant '1mbps'; did you mean 1Mbps"),
    (
        "scenario-5",
        '[grid]\nvary = {"load.flow" = [1]}\n',
        "load.flow: no such key to set; did you mean load.flows",
    ),
    (
        "scenario-5",
        '[grid]\nset = {"load.flow" = 1}\n',
        "load.flow: no such key to set; did you mean load.flows",
    ),
    (
        "scenario-5",
        '[grid]\nvary = {"load.flows" = [0]}\n',
        "scenario.load.flows: should be greater than or equal to 1, not 0",
    ),
    ("scenario-5", "[scenario]\nduration_s = 1.0\n", "flows have to start within duration_s, 1"),
    ("scenario-5", "[scenario\n", "not TOML"),
    ("scenario-9", "", "scenario-9.toml: no such file; check the path"),
]


@pytest.mark.parametrize(
    ("base", "more", "expected"), BAD, ids=lambda x: x[:40] if isinstance(x, str) else None
)
def test_one_line(
    base: str, more: str, expected: str, fake_engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    (tmp_path / "falling.trace").write_text("5\n3\n")
    file.write_text(GOOD.format(base=PAPER / f"{base}.toml") + more)
    assert main(["simulate", str(file), "--profile", "t", "--out", str(tmp_path / "o")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert expected in lines[0]
    assert (base if base == "scenario-9" else "bad.toml") in lines[0]


def test_an_unknown_profile(fake_engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", str(PAPER / "scenario-5.toml"), "--profile", "quik"]) == 2
    assert "no profile 'quik'; did you mean quick?" in capsys.readouterr().err
