# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reproduces the paper hwang2018 in ns-3 and on real Linux: a TCP sender whose neural network tells random
losses from losses due to congestion."""

from pathlib import Path

from experiments.hwang2018 import cut, lab, online, simulated
from experiments.lib.pages import Page

HERE = Path("experiments") / "hwang2018"
PAGES = {
    "simulated": Page("hwang2018/simulated.md.j2", HERE / "simulated.md", simulated.batches, simulated.fill),
    "online": Page("hwang2018/online.md.j2", HERE / "online.md", online.batches, online.fill),
    "cut": Page("hwang2018/cut.md.j2", HERE / "cut.md", cut.batches, cut.fill),
    "lab": Page("hwang2018/lab.md.j2", HERE / "lab.md", lab.batches, lab.fill),
}
