# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Installs a user's own estimators for a test."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tcplearn import estimators

#: Plain: a timer with a chosen miss rate; its prediction is the last sample, its width a running quantile.
#: LessDelay: the last sample, less what the peer says that it held the ACK back.
MODULE = """
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


class LessDelay:
    "the last sample without the peer's delay"
    def __init__(self):
        self.last = 0.0
    def learn_one(self, x, y):
        self.last = float(y - x.get("ack_delay_us", 0))
    def predict_one(self, x):
        return self.last
"""


@contextmanager
def installed(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the estimators on sys.path as pip would install them: a module and its entry points."""
    info = place / "plain_timer-0.1.0.dist-info"
    info.mkdir(parents=True)
    (place / "plain_timer.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain-timer\nVersion: 0.1.0\n")
    points = "plain-timer = plain_timer:Plain\nless-delay = plain_timer:LessDelay\n"
    (info / "entry_points.txt").write_text(f"[tcplearn.estimators]\n{points}")
    monkeypatch.syspath_prepend(str(place))
    importlib.invalidate_caches()
    estimators._users.cache_clear()
    yield
    estimators._users.cache_clear()
    sys.modules.pop("plain_timer", None)
