# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables of cells: by path, by timer, by workload, in bulk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from latency_bar import overall, throughput
from latency_cells import FIGURES, OURS, PEERS, STOCK, Cell, p99, slowest, spread, too_few

from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import milliseconds, ratio


def requests(c: Cell) -> str:
    """Of each timer."""
    ours = c.requests_of(OURS[0])
    return f"{c.requests:,}" + (f", {ours:,} of ours" if ours != c.requests else "")


def by_path(cells: Sequence[Cell]) -> str:
    """Of stock milliseconds, of ours ratios to it."""
    head = ["path", "requests of each timer", "stock: p99", "stock: slowest 2 %"]
    head.append("stock: needless in 1,000")
    head += [f"`{name}`: {figure}" for name in OURS for figure in ("p99", "slowest 2 %", "needless")]
    rows = []
    for c in cells:
        stock = c.timers[STOCK]
        row = [f"{c.path}{'' if c.reaches_the_tail else ' °'}", requests(c)]
        row += [milliseconds(stock.of(p99)), milliseconds(stock.of(slowest))]
        row.append(f"{stock.needless_permille:.1f}")
        for name in OURS:
            row += [spread(c.ratio(name, f), c.ratios_drawn(name, f)) for f in (p99, slowest)]
            row.append(f"{c.timers[name].needless_permille:.1f}")
        rows.append(row)
    return table_of(head, rows)


def against_floor(cells: Sequence[Cell]) -> str:
    """Ours over the best static floor of each path in hindsight."""
    figures = [(name, f) for name, f in FIGURES.items() if not any(too_few(c, name) for c in cells)]
    head = ["path", *(f"`{timer}`: {name}" for timer in OURS for name, _ in figures)]
    rows = []
    for c in cells:
        pairs = [(timer, f) for timer in OURS for _, f in figures]
        rows.append([c.path, *(spread(c.over_floor(*pair), c.over_floor_drawn(*pair)) for pair in pairs)])
    return table_of(head, rows)


def by_timer(cells: Sequence[Cell]) -> str:
    head = ["timer", *(f"{name}, × stock" for name in FIGURES), "worst path's p99", "needless in 1,000"]
    return table_of(head, [_of_timer(cells, timer) for timer in (*PEERS, *OURS)])


def by_workload(found: Mapping[str, Sequence[Cell]]) -> str:
    """The same, of each workload that has runs."""
    head = ["workload", "paths", "requests a path", "timer", *(f"{name}, × stock" for name in FIGURES)]
    head += ["worst path's p99", "needless in 1,000"]
    rows = []
    for workload, cells in found.items():
        least = min(c.requests for c in cells)
        timers = (t for t in (*PEERS, *OURS) if all(t in c.timers for c in cells))
        rows += [[workload, str(len(cells)), f"{least:,}", *_of_timer(cells, timer)] for timer in timers]
    return table_of(head, rows)


def _of_timer(cells: Sequence[Cell], timer: str) -> list[str]:
    row = [f"`{timer}`" if timer in OURS else timer]
    for name, figure in FIGURES.items():
        few = any(too_few(c, name) for c in cells)
        row.append("–" if few else "1" if timer == STOCK else spread(*overall(cells, timer, figure)))
    worst = max(cells, key=lambda c: c.ratio(timer, p99))
    row.append("" if timer == STOCK else f"{ratio(worst.ratio(timer, p99))} ({worst.path})")
    return [*row, f"{needless(cells, timer):.1f}"]


def needless(cells: Sequence[Cell], timer: str) -> float:
    return float(np.mean([c.timers[timer].needless_permille for c in cells]))


def wired(c: Cell) -> str:
    rows = []
    for timer in (*PEERS, *OURS):
        t = c.timers[timer]
        values = [milliseconds(t.of(f)) for f in FIGURES.values()]
        rows.append([timer, *values, f"{t.needless_permille:.1f}"])
        rows[-1].append(f"{1000 * sum(t.resends) / c.requests_of(timer):.1f}")
    return table_of(["timer", *(f"{n}, ms" for n in FIGURES), "needless in 1,000", "resends in 1,000"], rows)


def bulk(cells: Sequence[Cell]) -> str:
    head = ["path", "transfers", *(f"`{o}`: throughput, × stock" for o in OURS)]
    head += ["timeouts and probes: stock", *(f"`{o}`" for o in OURS)]
    rows = []
    for c in cells:
        row = [c.path, str(c.requests), *(spread(*throughput(c, o)) for o in OURS)]
        rows.append([*row, *(f"{sum(c.timers[name].resends):.0f}" for name in (STOCK, *OURS))])
    return table_of(head, rows)
