# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Provides fixtures for the tests of trace readers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Modules that stand beside the tests.
sys.path.insert(0, str(Path(__file__).parent))

import qlog_logs
from reading import Rows, read_all


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Rows]:
    """Return a function that writes bytes to a file and reads it as a trace."""

    def read_bytes(data: bytes, name: str = "trace", max_rows: int = 65536, **options: Any) -> Rows:
        path = tmp_path / name
        path.write_bytes(data)
        return read_all(path, max_rows, **options)

    return read_bytes


@pytest.fixture
def shared() -> Path:
    """Return the folder of real data, which is not part of the project; skip the test if there is none."""
    given = os.environ.get("TCPLEARN_SHARED")
    path = Path(given) if given else Path(__file__).parents[4] / "shared"
    if not (path / "data").is_dir():
        pytest.skip("no real data: set TCPLEARN_SHARED to the directory that holds data/")
    return path / "data"


@pytest.fixture
def read_qlog(tmp_path: Path) -> Callable[..., qlog_logs.Read]:
    """Return a function that writes bytes to a file and reads it as a qlog."""

    def read(data: bytes, max_rows: int = 65536, **options: Any) -> qlog_logs.Read:
        path = tmp_path / "log.qlog"
        path.write_bytes(data)
        return qlog_logs.read_trace(path, max_rows, **options)

    return read
