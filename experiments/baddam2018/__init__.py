# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reproduces the paper baddam2018 (linear regression of RTTs), and measures a first RTO learned from earlier
RTTs."""

from pathlib import Path

from experiments.baddam2018 import first_rto, grid, paper, regression, simulated
from experiments.lib.pages import Page

HERE = Path("experiments") / "baddam2018"
PAGES = {
    "paper": Page("baddam2018/paper.md.j2", HERE / "paper.md", paper.batches, paper.fill),
    "regression": Page("baddam2018/regression.md.j2", HERE / "regression.md", lambda *_: [], regression.fill),
    "lab": Page("baddam2018/lab.md.j2", HERE / "lab.md", grid.batches, grid.fill),
    "first-rto": Page("baddam2018/first-rto.md.j2", HERE / "first-rto.md", first_rto.batches, first_rto.fill),
    "simulated": Page("baddam2018/simulated.md.j2", HERE / "simulated.md", simulated.batches, simulated.fill),
}
