# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares causes of stalls (waits of a connection) that `tcplearn explain` finds with the true causes."""

from pathlib import Path

from experiments.lib.pages import Page
from experiments.stalls import causes

PAGES = {
    "causes": Page("stalls/causes.md.j2", Path("experiments/stalls/causes.md"), causes.batches, causes.fill)
}
