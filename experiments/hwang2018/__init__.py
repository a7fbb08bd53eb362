# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: ML-TCP, which learns the causes of losses; its tables and figures beside ours, in ns-3 and on a
real kernel."""

from pathlib import Path

from experiments.hwang2018 import lab, simulated
from experiments.lib.pages import Page

HERE = Path("experiments") / "hwang2018"
PAGES = {
    "simulated": Page("hwang2018/simulated.md.j2", HERE / "simulated.md", simulated.batches, simulated.fill),
    "lab": Page("hwang2018/lab.md.j2", HERE / "lab.md", lab.batches, lab.fill),
}
