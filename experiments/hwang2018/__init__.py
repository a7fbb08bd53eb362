# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reproduces hwang2018 in ns-3 and on a real Linux kernel. The paper's ML-TCP uses a small neural network
to tell random losses from congestion losses. The pages compare the paper's tables and figures with
ours."""

from pathlib import Path

from experiments.hwang2018 import lab, simulated
from experiments.lib.pages import Page

HERE = Path("experiments") / "hwang2018"
PAGES = {
    "simulated": Page("hwang2018/simulated.md.j2", HERE / "simulated.md", simulated.batches, simulated.fill),
    "lab": Page("hwang2018/lab.md.j2", HERE / "lab.md", lab.batches, lab.fill),
}
