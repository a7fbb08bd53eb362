# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import suite_traces

from tcplearn import estimators

#: A timer with a chosen miss rate, plain: the prediction is the last sample, the width a running quantile.
PLAIN_TIMER = """
class Plain:
    "a plain timer with a chosen miss rate"
    def __init__(self, miss=0.05):
        self.miss, self.last, self.width = miss, 0.0, 0.0
    def learn_one(self, x, y):
        if self.last:
            over = y - self.last > self.width
            self.width += (y / 50) * ((1 - self.miss) if over else -self.miss)
        self.last = y
    def predict_one(self, x):
        return self.last
    def rto_one(self, x):
        return self.last + self.width if self.last else 1e6
"""


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    return suite_traces.fill(folder)


@pytest.fixture
def plain_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An estimator of the user's own that has the parameter `miss`."""
    place = tmp_path / "site"
    info = place / "plain_timer-0.1.0.dist-info"
    info.mkdir(parents=True)
    (place / "plain_timer.py").write_text(PLAIN_TIMER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain-timer\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[tcplearn.estimators]\nplain-timer = plain_timer:Plain\n")
    monkeypatch.syspath_prepend(str(place))
    importlib.invalidate_caches()
    estimators._users.cache_clear()
    yield "plain-timer"
    estimators._users.cache_clear()
    sys.modules.pop("plain_timer", None)
