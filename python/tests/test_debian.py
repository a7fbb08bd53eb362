# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test the Debian packages that a verb needs: one line names all missing ones, and all lists of them
agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcplearn import debian
from tcplearn.bpf import build
from tcplearn.errors import UserError
from tcplearn.lab import machine, sock_ops
from tcplearn.simulate import engine

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "simulate": [*engine.PACKAGES],
    "lab": [*machine.PACKAGES],
    "first-rto": [*build.PACKAGES, *sock_ops.BPFTOOL],
    "live": [*build.PACKAGES],
}


def test_one_line_names_all_that_are_missing(tmp_path: Path) -> None:
    there = tmp_path / "x86_64-linux-gnu"
    there.mkdir()
    (there / "libthere.so.1").touch()
    known_by = {
        "one": "no-program-of-this-name",
        "sh": "sh",
        "two": f"{tmp_path}/*/libother.so.1",
        "libthere": f"{tmp_path}/*/libthere.so.1",
    }
    with pytest.raises(UserError, match=r"^it needs .*: apt-get install --no-install-recommends one two$"):
        debian.need("it", known_by)
    debian.need("it", {name: known_by[name] for name in ("sh", "libthere")})


def test_a_program_of_root_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bpftool").touch(mode=0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(debian, "_MORE_PATH", str(tmp_path))
    assert debian.program("bpftool") == f"{tmp_path}/bpftool"


@pytest.mark.parametrize("verb", PACKAGES)
def test_the_documentation_names_the_same(verb: str) -> None:
    page = (ROOT / "docs/install.md").read_text()
    row = re.findall(rf"^\| `tcplearn {verb}` \| ([^|]*) \|$", page, re.MULTILINE)
    assert [sorted(names.split()) for names in row] == [sorted(PACKAGES[verb])]


def test_the_package_suggests_them() -> None:
    control = (ROOT / "packaging/debian/control").read_text()
    suggested = re.findall(r"^Suggests: ((?:.*,\n)*.*)", control, re.MULTILINE)[0]
    assert {name for names in PACKAGES.values() for name in names} <= set(re.findall(r"[\w+-]+", suggested))


def test_a_checkout_installs_them() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert {name for names in PACKAGES.values() for name in names} <= set(re.findall(r"[\w+-]+", makefile))
