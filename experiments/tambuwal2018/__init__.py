# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Reproduces the paper tambuwal2018 (IW and ssthresh after a lost SYN-ACK) in ns-3 and on a real Linux
kernel."""

from pathlib import Path

from experiments.lib.pages import Page
from experiments.tambuwal2018 import lab_page, page

HERE = Path("experiments") / "tambuwal2018"
PAGES = {
    "simulated": Page("tambuwal2018/simulated.md.j2", HERE / "simulated.md", page.batches, page.fill),
    "lab": Page("tambuwal2018/lab.md.j2", HERE / "lab.md", lab_page.batches, lab_page.fill),
}
