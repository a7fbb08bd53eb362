# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn live` as a setting of a lab scenario: its program sets the floors of that arm only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.bpf.floors import WHOLE, settings
from tcplearn.lab import guest, machine, run, scenario

WIRED = ROOT / "linux" / "lab" / "scenarios" / "thin-wired.toml"


def test_the_program_learns_in_the_guest(tmp_path: Path) -> None:
    chosen = scenario.load(WIRED, "live")
    few = chosen.algorithms.model_copy(update={"rto_min_ms": [0], "resends": []})
    assert chosen.transfer.requests
    requests = chosen.transfer.requests.model_copy(update={"count": 150, "think_ms": 20})
    transfer = chosen.transfer.model_copy(update={"requests": requests})
    runs = chosen.runs.model_copy(update={"count": 1})
    small = chosen.model_copy(update={"algorithms": few, "transfer": transfer, "runs": runs})
    finished = run.run(small, run.Options(out=tmp_path))
    assert not finished.failures
    rto_us = {row["algorithm"]: row["value"] for row in finished.rows if row["metric"] == "ss.rto_us"}
    assert rto_us["cubic+none+live"] < 100_000 < 200_000 < rto_us["cubic+stock"]
    (folder,) = finished.folders
    assert not (folder / "cubic+stock+tlp-on/live-counts").exists()
    (counted,) = json.loads((folder / "cubic+none+live+tlp-on/live-counts").read_text())
    assert any(int(byte, 16) for of in counted["values"] for byte in of["value"])


def test_each_arm_has_its_own_settings(tmp_path: Path) -> None:
    fades = scenario.load(WIRED.with_name("fades.toml"), "live-on-7-3")
    script = guest.script(fades, 0)
    for name in ("live", "live-bounded"):
        assert f"live_on {name}\ntransfer cubic+none+{name}+tlp-on cubic none" in script
    assert script.count("live_ready") == 1 and script.count("live_off") == 2
    bounded, program, plain = run.live_files(tmp_path)
    assert program.read_bytes()[:4] == b"\x7fELF"
    for file, bounds in ((plain, False), (bounded, True)):
        words = bytes(int(word, 16) for word in file.read_text().split())
        assert words == settings(machine.TICKS_PER_SECOND, bounds_backoff=bounds)
    assert settings(250, share=WHOLE // 2, epoch=3)[16:] == bytes([0, 128, 0, 0, 3, 0, 0, 0])


@pytest.mark.parametrize("text", ['settings = ["alive"]', 'settings = ["live", "live-now"]'])
def test_a_mistake_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(f'extends = "{WIRED}"\nname = "s"\n[algorithms]\n{text}\n')
    with pytest.raises(Exception, match="settings"):
        scenario.load(file, "full")
