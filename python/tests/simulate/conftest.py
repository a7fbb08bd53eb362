# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tcplearn.__main__ import main
from tcplearn.simulate import engine, results

ROOT = Path(__file__).resolve().parents[3]
PAPER = ROOT / "experiments" / "nunes2014"

#: A sweep of real runs, a third of a second each.
REAL_RUNS = 40
REAL_SWEEP = (
    f'extends = "{PAPER / "scenario-5.toml"}"\nname = "T"\n[profiles.t]\n'
    "scenario = { duration_s = 10.0, load.start_s = [0.0, 2.0], topology.rate_mbps = 5.0 }\n"
    '[[profiles.t.grids]]\nseeds = 10\nalgorithms = ["jacobson", "experts"]\ntimings = ["every-ack"]\n'
    'variants = []\nvary = { "load.flows" = [3, 30] }\n'
)

Simulate = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def ns3() -> None:
    if not list(Path("/usr/lib").glob("*/cmake/ns3/ns3Config.cmake")):
        pytest.skip("ns-3 is not installed: run `make ns3`")
    engine.build()


@pytest.fixture
def fake_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the ns-3 program by one that answers at once in the same form. Its folder logs the runs."""
    folder = tmp_path / "fake"
    folder.mkdir()
    script = folder / "engine"
    worker = Path(__file__).with_name("fake_engine.py")
    # -I -S: it needs no package, and looking for them takes longer than its answer
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{worker}" "{folder}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("TCPLEARN_NS3", str(script))
    _forget()
    yield folder
    _forget()


def _forget() -> None:
    """Clear the cached version and identity of the ns-3 program."""
    for function in (engine.ns3_version, engine.identity):
        function.cache_clear()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Return a function that makes version 3.N of ns-3 appear to be installed."""

    def install(minor: int) -> None:
        header = tmp_path / "version-defines.h"
        header.write_text(f"#define NS3_VERSION_MAJOR 3\n#define NS3_VERSION_MINOR {minor}\n")
        monkeypatch.setattr(engine, "NS3_HEADER", header)
        _forget()

    yield install
    _forget()


def until_on_disk(count: int, out: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while len(list(out.glob("runs/*/[!.]*.json"))) < count:
        assert process.poll() is None, "the sweep ended early"
        assert time.monotonic() < deadline, "the sweep stands still"
        time.sleep(0.02)


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Simulate:
    def run(*arguments: str | Path, out: Path | None = None, code: int = 0) -> list[dict[str, Any]]:
        folder = out or tmp_path / "out"
        words = ["simulate", *map(str, arguments), "--format", "json", "--out", str(folder), "-q"]
        capsys.readouterr()
        assert main(words) == code
        rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
        for file in folder.glob("runs/*/*.json"):  # what the program writes is found again
            results.check(json.loads(file.read_bytes()))
        return rows

    return run
