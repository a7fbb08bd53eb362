# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test `tcplearn first-rto`: the input that it refuses, and that it leaves nothing behind if it fails or is
unloaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sock_ops

from tcplearn.bpf.kernel import ticks_per_second
from tcplearn.cli import main
from tcplearn.errors import FailedError, UserError
from tcplearn.lab.sock_ops import Loaded
from tcplearn.learn.export import shipped_rtt
from tcplearn.learn.rtt.model import packed

needs_bpf = pytest.mark.skipif(bool(sock_ops.missing()), reason=sock_ops.missing())


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"name": 1}'])
def test_a_corrupt_model_is_one_line(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    assert main(["first-rto", "load", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "m.json: " in error


def test_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["first-rto", "load", "lost.json"]) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Loaded]:
    with sock_ops.bpffs(tmp_path) as bpffs:
        yield Loaded(bpffs / "first-rto", tmp_path / "note")


@needs_bpf
def test_all_or_nothing(loaded: Loaded, tmp_path: Path) -> None:
    settings = packed(shipped_rtt()[1], ticks_per_second())
    with pytest.raises(UserError, match="no cgroup of version 2"):
        loaded.load(settings, tmp_path)
    (tmp_path / "cgroup.procs").touch()  # bpftool refuses it, when all else is done
    with pytest.raises(FailedError, match="bpftool cgroup"):
        loaded.load(settings, tmp_path)
    with pytest.raises(FailedError, match="bpftool map"):
        loaded.load(settings[:-8], tmp_path)
    assert not loaded.pins.exists() and not loaded.note.exists()
    with pytest.raises(UserError, match="no model of the first RTO is loaded"):
        loaded.unload()
    assert loaded.status() == [
        "no model of the first RTO is loaded: connections begin with an RTO of one second"
    ]


@needs_bpf
def test_loaded_and_taken_out(tmp_path: Path) -> None:
    with sock_ops.Group(tmp_path, shipped_rtt()[1]) as group:
        of = Loaded(tmp_path / "bpf" / "first-rto", tmp_path / "note")
        assert of.status() == [
            f"loaded: new connections of {group.cgroup}",
            "places known: 0",
            "prefixes known: 0",
        ]
        with pytest.raises(UserError, match="loaded already"):
            of.load(b"", group.cgroup)
    assert not group.cgroup.exists() and not (tmp_path / "bpf").exists()
