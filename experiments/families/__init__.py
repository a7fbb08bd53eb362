# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures response times in ns-3 under several retransmission timers over paths that are drawn from a seed,
by families of conditions (such as fades or jitter)."""

from pathlib import Path

from experiments.families import page
from experiments.lib.pages import Page

PAGES = {
    "drawn": Page("families/drawn.md.j2", Path("experiments/families/drawn.md"), page.batches, page.fill)
}
