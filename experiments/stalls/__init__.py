# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the causes of stalls that `tcplearn explain` finds in captures with the true causes in the lab."""

from pathlib import Path

from experiments.lib.pages import Page
from experiments.stalls import causes

PAGES = {
    "causes": Page(
        "stalls/causes.md.j2", Path("experiments") / "stalls" / "causes.md", causes.batches, causes.fill
    ),
}
