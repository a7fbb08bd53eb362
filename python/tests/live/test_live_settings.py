# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the settings file of `tcplearn live start`, and the systemd unit."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from live_command import missing, room

from samples import ROOT
from tcplearn.errors import UserError
from tcplearn.live.settings_file import SettingsFile, read

PACKAGED = ROOT / "packaging" / "live"


def test_the_packaged_file_is_what_start_does_without_one() -> None:
    assert read(PACKAGED / "live.toml") == SettingsFile()


def test_each_line_that_is_commented_out_is_a_setting(tmp_path: Path) -> None:
    text = (PACKAGED / "live.toml").read_text()
    file = tmp_path / "live.toml"
    file.write_text(re.sub(r"^#(\w+ = )", r"\1", text, flags=re.MULTILINE))
    found = read(file)
    assert found.backoff == "kernel" and found.unit == "nginx.service" and found.first_rto == "emulated"
    assert found.model_fields_set == set(SettingsFile.model_fields) - {"kill_switch"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "x: extra inputs are not permitted; the settings are cgroup, unit"),
        ("ramp = 'fast'", "ramp: input should be 'steps' or 'none'"),
        ("control_percent = 100", "control_percent: input should be less than or equal to 99"),
        ("backoff = 'double'", "backoff: input should be 'bounded' or 'kernel'"),
        ("ramp", "not TOML"),
    ],
)
def test_a_wrong_file_is_refused_in_a_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "live.toml"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        read(file)
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_what_is_typed_goes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "live.toml"
    with room() as at:
        file.write_text(f'cgroup = "{at.cgroup}"\nramp = "none"\ncontrol_percent = 20\n')
        assert at.live("start", "--settings", file, "--control-percent", 40).returncode == 0
        assert "sets learned floors for 60 % of the new connections" in at.live("status").stdout
        assert at.live("stop", "--cgroup", at.cgroup).returncode == 0


def test_the_unit_starts_what_the_command_line_has() -> None:
    unit = (PACKAGED / "tcplearn-live.service").read_text()
    words = shlex.split(re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)[0])
    assert words[1:3] == ["live", "start"] and words[-2:] == ["--settings", "/etc/tcplearn/live.toml"]
    assert words[words.index("--state") + 1] == "${STATE_DIRECTORY}" and "StateDirectory=tcplearn\n" in unit
    assert "CapabilityBoundingSet=CAP_BPF CAP_NET_ADMIN CAP_PERFMON\n" in unit
