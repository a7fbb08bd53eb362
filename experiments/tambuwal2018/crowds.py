# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the startup policy `tsl-feedback` with TSL 3,16 (IW 3 and ssthresh 16 after a lost SYN-ACK) at
loads at which more connections begin than the bottleneck can carry."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from experiments.lib.runs import Run as KeptRun
from experiments.lib.statistics import Estimate
from experiments.tambuwal2018.cells import STANDARD, Cell, cells, shared
from experiments.tambuwal2018.pairs import BOLD, MEASURES, OWN, percent_over, signed
from tcplearn.output.markdown import table_of

SCENARIO = "crowds"
#: The compared measures, as indices of `pairs.MEASURES`.
COMPARED = (0, 4, 5, 6)


def section(runs: Sequence[KeptRun]) -> str:
    """Returns a table by load with the changes of each metric in per cent: under the startup policies
    `tsl-feedback` and TSL 3,16 relative to the standard policy, and under `tsl-feedback` relative to TSL
    3,16. It has verdicts on both changes under `tsl-feedback`. Returns "" without runs."""
    by: dict[float, dict[str, Cell]] = {}
    for cell in cells(runs):
        by.setdefault(cell.level, {})[cell.startup] = cell
    rows = [
        [f"{100 * level:.0f} %", *row]
        for level, of in sorted(by.items())
        if {STANDARD, BOLD, OWN} <= set(of)
        for row in _rows(of)
    ]
    head = ("load", "metric", "seeds", "standard", f"`{BOLD}` over standard, %", f"`{OWN}` over standard, %")
    verdicts = ("earned", f"`{OWN}` against the standard")
    return table_of((*head, f"`{OWN}` over `{BOLD}`, %", *verdicts), rows) if rows else ""


def _rows(of: dict[str, Cell]) -> list[list[str]]:
    seeds = shared(*of.values())
    if not seeds:
        return []
    rows = []
    for name, digits, value in (MEASURES[k] for k in COMPARED):
        values = {startup: [value(cell.runs[seed]) for seed in seeds] for startup, cell in of.items()}
        compared = ((BOLD, STANDARD), (OWN, STANDARD), (OWN, BOLD))
        changes = [percent_over(values[a], values[b]) for a, b in compared]
        if None in changes:
            continue
        shown = [signed(change) for change in changes if change]
        rows.append(
            [
                name,
                str(len(seeds)),
                f"{statistics.fmean(values[STANDARD]):.{digits}f}",
                *shown,
                _verdict(changes[2], "yes", "no, it costs"),
                _verdict(changes[1], "less", "more"),
            ]
        )
    return rows


def _verdict(change: Estimate | None, below: str, above: str) -> str:
    if not change or change.low <= 0 <= change.high:
        return "cannot be told"
    return below if change.high < 0 else above
