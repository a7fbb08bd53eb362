# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures in the lab how `tcplearn live` (learned minimum RTOs, set by BPF) changes response times on stock
kernels."""

from pathlib import Path

from experiments.lib.pages import Page
from experiments.live import lab, timers

PAGES = {
    "lab": Page("live/lab.md.j2", Path("experiments") / "live" / "lab.md", lab.batches, lab.fill),
    "timers": Page("live/timers.md.j2", Path("docs") / "latency.md", lab.batches, timers.fill),
}
