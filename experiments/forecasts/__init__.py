# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the response times that `tcplearn explain` forecasts for timer settings with measured response
times."""

from pathlib import Path

from experiments.forecasts import paths
from experiments.lib.pages import Page

PAGES = {
    "forecasts": Page("forecasts/forecasts.md.j2", Path("docs") / "forecasts.md", paths.batches, paths.fill)
}
