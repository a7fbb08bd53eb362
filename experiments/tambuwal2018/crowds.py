# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Says whether `tsl-feedback` earns anything over TSL 3,16 where more connections begin than the bottleneck
carries."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.lib.runs import Run as KeptRun
from experiments.tambuwal2018.cells import STANDARD, Cell, cells, shared
from experiments.tambuwal2018.pairs import BAR_CONFIDENCE, BOLD, MEASURES, OWN
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import ratio_interval

SCENARIO = "crowds"
#: The measures of `pairs` that are compared, by number.
COMPARED = (0, 4, 5, 6)


def section(runs: Sequence[KeptRun]) -> str:
    """Returns a table by load, with each startup's change to the standard and that of `tsl-feedback` to TSL
    3,16, and a verdict; "" without runs."""
    by: dict[float, dict[str, Cell]] = {}
    for cell in cells(runs):
        by.setdefault(cell.level, {})[cell.startup] = cell
    rows = [
        [f"{100 * level:.0f} %", *row]
        for level, of in sorted(by.items())
        if {STANDARD, BOLD, OWN} <= set(of)
        for row in _rows(of)
    ]
    head = ("load", "of a run", "seeds", "standard", f"`{BOLD}`, %", f"`{OWN}`, %")
    return table_of((*head, f"`{OWN}` over `{BOLD}`, %", "earned"), rows) if rows else ""


def _rows(of: dict[str, Cell]) -> list[list[str]]:
    seeds = shared(*of.values())
    rows = []
    for name, digits, value in (MEASURES[k] for k in COMPARED):
        values = {startup: [value(cell.runs[seed]) for seed in seeds] for startup, cell in of.items()}
        pairs = ((BOLD, STANDARD), (OWN, STANDARD), (OWN, BOLD))
        found = [ratio_interval(values[a], values[b], BAR_CONFIDENCE) for a, b in pairs]
        if not seeds or None in found:
            continue
        changes = [tuple(100 * (ratio - 1) for ratio in one) for one in found if one]
        _, low, high = changes[-1]
        earned = "yes" if high < 0 else "no, it costs" if low > 0 else "cannot be told"
        base = sum(values[STANDARD]) / len(seeds)
        shown = [f"{change:+.1f} ({low:+.1f} to {high:+.1f})" for change, low, high in changes]
        rows.append([name, str(len(seeds)), f"{base:.{digits}f}", *shown, earned])
    return rows
