# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test how a scenario file or a profile overrides keys of another, in the simulator and in the lab alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from samples import ROOT
from tcplearn.errors import UserError
from tcplearn.lab import scenario as lab
from tcplearn.scenario import tree
from tcplearn.simulate import scenario as simulation

BASE = """
name = "base"
list = [1, 2, 3]
[load]
kind = "ftp"
flows = 3
start_s = 1.0
[grid]
vary = { "load.flows" = [1, 2] }
[variants]
a = { "x.y" = 1 }
[profiles.smoke]
load.flows = 1
[profiles.other]
load = { kind = "bursts", every_s = 2.0 }
"""


def test_the_rule(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "base.toml").write_text(BASE + '[[hop]]\nforward = { trace = "link" }\n[path.hop]\n')
    over = 'extends = "../base.toml"\nlist = [4]\nload.start_s = 2.0\n'
    over += "grid.vary = { z = [3] }\nvariants = { b = {} }\n"
    (tmp_path / "sub" / "over.toml").write_text(over + '[profiles.smoke]\ntrace = "mine"\n')
    found = tree.read(tmp_path / "sub" / "over.toml", "smoke")
    assert found["name"] == "base" and found["list"] == [4]
    assert found["load"] == {"kind": "ftp", "flows": 1, "start_s": 2.0}
    assert found["grid"]["vary"] == {"z": [3]} and found["variants"] == {"b": {}}
    # paths are taken from the file that names them
    assert found["hop"][0]["forward"]["trace"] == str(tmp_path / "link")
    assert found["trace"] == str(tmp_path / "sub" / "mine")
    assert Path(found["path"]["source"]).resolve() == tmp_path / "base.toml"
    other = tree.read(tmp_path / "sub" / "over.toml", "other")
    assert other["load"] == {"kind": "bursts", "every_s": 2.0}
    assert "profiles" not in tree.read(tmp_path / "sub" / "over.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "x.toml"\n', "extends: give another scenario file's path"),
        ("extends = 1\n", "extends: give another scenario file's path"),
        ("profiles = 1\n", r"profiles: a table of tables, as \[profiles.smoke\]"),
        ('extends = "y.toml"\n', "y.toml: no such file"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(UserError, match=message):
        tree.read(tmp_path / "x.toml")


def test_every_shipped_scenario_is_good() -> None:
    for file in sorted((ROOT / "experiments").glob("*/scenario-*.toml")):
        assert simulation.runs(file, "smoke"), file
    files = [
        *(ROOT / "experiments").glob("*/live-*.toml"),
        *(ROOT / "linux" / "lab" / "scenarios").glob("*.toml"),
    ]
    for path in files:
        assert lab.load(path).path.hops


def test_the_lab_extends_too(tmp_path: Path) -> None:
    live = ROOT / "experiments" / "nunes2014" / "live-1.toml"
    (tmp_path / "x.toml").write_text(f'extends = "{live}"\nname = "x"\ntransfer.bytes = "1MB"\n')
    found = lab.load(tmp_path / "x.toml", "smoke")
    assert found.name == "x" and found.transfer.bytes == 500_000 and found.runs.count == 1
    assert lab.load(tmp_path / "x.toml").transfer.bytes == 1_000_000
