# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reproduces the paper nunes2014 in ns-3 and on real Linux. Its RTT predictor is the weighted mean of fixed
RTTs, called "experts"."""

from pathlib import Path

from experiments.lib.pages import Page
from experiments.nunes2014 import clock, live, paper, rounded

HERE = Path("experiments") / "nunes2014"
PAGES = {
    "paper": Page("nunes2014/paper.md.j2", HERE / "paper.md", paper.batches, paper.fill),
    "simulated": Page("nunes2014/simulated.md.j2", HERE / "simulated.md", clock.batches, clock.fill),
    "rounded": Page(
        "nunes2014/simulated-rounded.md.j2", HERE / "simulated-rounded.md", rounded.batches, rounded.fill
    ),
    "live": Page("nunes2014/live.md.j2", HERE / "live.md", live.batches, live.fill),
}
