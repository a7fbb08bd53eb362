# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measures response times in ns-3 under each timer over paths that are drawn by families from a seed."""

from pathlib import Path

from experiments.families import page
from experiments.lib.pages import Page

PAGES = {
    "drawn": Page(
        "families/drawn.md.j2", Path("experiments") / "families" / "drawn.md", page.batches, page.fill
    )
}
