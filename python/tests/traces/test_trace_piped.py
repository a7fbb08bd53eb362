# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test pipes that are copied to disk: up to the documented size, never until the disk is full, and without
leaving files behind."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tcplearn.traces import TraceError, open_trace, piped

#: As replay and study read standard input.
VERBS = (["replay", "-"], ["study", "experts", "-"])


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[Path]:
    """Yield a pipe with an endless series of numbers."""
    pipe = tmp_path / "numbers"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"exec yes 5 >'{pipe}' 2>/dev/null"]) as writer:
        yield pipe
        writer.kill()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_a_pipe_without_end_does_not_fill_the_disk(verb: list[str], small_disk: Path) -> None:
    with subprocess.Popen(["yes", "5"], stdout=subprocess.PIPE) as numbers:
        done = subprocess.run(
            [sys.executable, "-m", "tcplearn", *verb],
            stdin=numbers.stdout,
            capture_output=True,
            env={**os.environ, "TMPDIR": str(small_disk)},
            timeout=60,
        )
        numbers.kill()
    assert (done.returncode, done.stdout) == (2, b"")
    wanted = (
        "tcplearn: stdin: a copy of this pipe would take over half of the space that is free in "
        f"{small_disk}; set TMPDIR to a folder with more, or save it to a file, and name that\n"
    )
    assert done.stderr.decode() == wanted and list(small_disk.iterdir()) == []


def test_no_more_is_taken_than_docs_say(
    endless: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert piped.MOST_BYTES == 2**30
    temporaries = tmp_path / "tmp"
    temporaries.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporaries))
    monkeypatch.setattr(piped, "MOST_BYTES", 3 << 20)
    wanted = r"^numbers: no more than .* GiB is taken from a pipe; save it to a file, and name that$"
    with pytest.raises(TraceError, match=wanted):
        open_trace(endless)
    assert list(temporaries.iterdir()) == []


def test_half_of_what_is_free_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, out = 8 << 20, io.BytesIO()

    def usage(_: str) -> SimpleNamespace:
        return SimpleNamespace(free=whole - len(out.getbuffer()))

    monkeypatch.setattr(piped.shutil, "disk_usage", usage)
    with pytest.raises(TraceError, match="over half of the space that is free"):
        piped.copy(io.BytesIO(bytes(whole)), out, "numbers")
    assert whole // 3 < len(out.getbuffer()) <= whole // 2
    out = io.BytesIO()
    piped.copy(io.BytesIO(b"456"), out, "numbers", b"123")
    assert out.getvalue() == b"123456"
