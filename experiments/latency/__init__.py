# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures how the retransmission timer changes response times, in the lab (real Linux TCP) and in ns-3."""

from pathlib import Path

from experiments.latency import lab, simulated
from experiments.lib.pages import Page

FOLDER = Path("experiments") / "latency"
PAGES = {
    "lab": Page("latency/lab.md.j2", FOLDER / "lab.md", lab.batches, lab.fill),
    "simulated": Page("latency/simulated.md.j2", FOLDER / "simulated.md", simulated.batches, simulated.fill),
    "guard": Page("latency/guard.md.j2", FOLDER / "guard.md", simulated.guard_batches, simulated.fill_guard),
}
