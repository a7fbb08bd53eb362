# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reproduces the paper hwang2018 in ns-3 and on real Linux: a TCP sender whose neural network tells random
losses from losses due to congestion."""

from pathlib import Path

from experiments.hwang2018 import cut, lab, online, simulated
from experiments.lib.pages import Page

HERE = Path("experiments") / "hwang2018"
PAGES = {
    name: Page(f"hwang2018/{name}.md.j2", HERE / f"{name}.md", page.batches, page.fill)
    for name, page in (("simulated", simulated), ("online", online), ("cut", cut), ("lab", lab))
}
