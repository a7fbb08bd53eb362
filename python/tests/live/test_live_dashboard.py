# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Test that the dashboard uses only metrics that `tcplearn live status --prometheus` prints."""

from __future__ import annotations

import json
import re

from kinds import ROOT
from tcplearn.live import arms, prometheus
from tcplearn.live.program import meanings

DASHBOARD = ROOT / "packaging" / "live" / "grafana.json"


def test_each_metric_is_one_that_is_printed() -> None:
    board = json.loads(DASHBOARD.read_text())
    arm = dict.fromkeys(arms.meanings(), 0)
    session = {
        "cgroup": "/",
        "counts": dict.fromkeys(meanings(), 0),
        "arms": [{"share": 0.5} | dict.fromkeys(arms.NAMES, arm)],
        "guard": {"killed": False, "stopped_until": None, "places": [], "share": 0.5},
    }
    printed = {line.split()[2] for line in prometheus.lines([session]) if line.startswith("# TYPE")}
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"tcplearn_live_\w+", target["expr"])
    }
    assert len(asked) >= 8 and asked <= printed
    assert "wait" in arms.meanings() and "100 us" in (ROOT / "linux" / "bpf" / "live_arms.h").read_text()
    assert all(panel["title"] and panel["description"] for panel in board["panels"])
