# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import suite_traces

import own_estimators


@pytest.fixture(autouse=True)
def _nothing_kept(own_cache: Path) -> None:
    pass


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    return suite_traces.fill(folder)


@pytest.fixture
def plain_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Install a user's own estimator with the parameter `miss` and yield its name."""
    with own_estimators.installed(tmp_path / "site", monkeypatch):
        yield "plain-timer"
