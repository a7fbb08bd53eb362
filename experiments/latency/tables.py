# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes tables and criteria of both lab.md (real Linux TCP) and simulated.md (ns-3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.latency.cells import (
    FIGURES,
    LEAST_P999,
    OURS,
    P99,
    P999,
    SLOW,
    STATIC,
    STOCK,
    Cell,
    overall,
    too_few,
)
from experiments.lib.statistics import Drawn, interval, spread, verdict
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, milliseconds, ratio
from tcplearn.replay.resends import NEEDLESS, Summary
from tcplearn.report import resend_chart

FLOOR = "the best fixed `rto_min` in hindsight"
Row = list[str]


def criteria(rows: Sequence[Row], timers: Sequence[str] = OURS) -> str:
    return table_of(["figure", "criterion", *(f"`{timer}`" for timer in timers)], rows)


def against_stock(cells: Sequence[Cell], tail: str, elsewhere: str) -> Iterator[Row]:
    """Yields table rows of criteria for response times relative to those under Linux's own timer. `tail`
    describes paths on which that timer retransmits for at least 1 % of requests, `elsewhere` the others."""
    lost = [c for c in cells if c.reaches_the_tail]
    rest = [c for c in cells if not c.reaches_the_tail]
    first = [c for c in cells if c.path == "wired"]
    for figure, of, where, limit in (
        (P99, lost, tail, 0.70),
        (P999, lost, tail, 0.75),
        (SLOW, lost, tail, 0.75),
        (P99, first, "wired, 1 % loss", 0.30),
        (P99, rest, elsewhere, 1.02),
        (SLOW, rest, elsewhere, 1.02),
    ):
        if of:
            found = (verdict(overall(of, timer, figure), limit) for timer in OURS)
            what = f"{figure}, {where} ({counted(len(of), 'path')})"
            yield [what, f"≤ {limit:.2f} × stock", *(f"{text}{_if_few(of, figure)}" for text in found)]
    worst = [(timer, _worst(cells, timer)) for timer in OURS]
    texts = (f"{verdict(c.ratio(timer, P99), 1.10)}, {c.path}" for timer, c in worst)
    yield ["p99 of the worst path", "≤ 1.10 × stock", *texts]


def against_floor(
    cells: Sequence[Cell], more: Callable[[str, str], str] = lambda timer, figure: ""
) -> Iterator[Row]:
    """Yields table rows of criteria relative to the fixed rto_min that is best in hindsight. `more` returns a
    text for a timer and a figure (p99, ...), which is appended to the verdict over several paths."""
    first = [c for c in cells if c.path == "wired"]
    for what, of, figure, limit in (
        ("p99, all paths", cells, P99, 1.00),
        ("p99.9, all paths", cells, P999, 0.97),
        ("slowest 2 %, wired", first, SLOW, 1.00),
    ):
        if of:
            found = [verdict(overall(of, timer, figure, floor=True), limit) for timer in OURS]
            if len(of) > 1:
                found = [text + more(timer, figure) for timer, text in zip(OURS, found, strict=True)]
            yield [what, f"≤ {limit:.2f} × {FLOOR}", *(f"{text}{_if_few(of, figure)}" for text in found)]


def _if_few(cells: Sequence[Cell], figure: str) -> str:
    few = sum(too_few(c, figure) for c in cells)
    return f" (of less than {LEAST_P999:,} requests on {counted(few, 'path')})" if few else ""


def _worst(cells: Sequence[Cell], timer: str) -> Cell:
    return max(cells, key=lambda c: c.ratio(timer, P99)[0])


def spurious(cells: Sequence[Cell], timer: str) -> float:
    return float(np.mean([c.timers[timer].spurious_permille for c in cells]))


def by_timer(cells: Sequence[Cell], peers: Sequence[str]) -> str:
    head = ["timer", *(f"{name}, × stock" for name in FIGURES), "worst path's p99", "spurious in 1,000"]
    return table_of(head, [_of_timer(cells, timer) for timer in (*peers, *OURS)])


def by_workload(found: Mapping[str, Sequence[Cell]], peers: Sequence[str]) -> str:
    """Returns a table with the rows of `by_timer` (response times relative to stock's) for each workload."""
    head = ["workload", "paths", "requests a path", "timer", *(f"{name}, × stock" for name in FIGURES)]
    head += ["worst path's p99", "spurious in 1,000"]
    rows = []
    for workload, cells in found.items():
        least = min(c.requests_of(STOCK) for c in cells)
        timers = (t for t in (*peers, *OURS) if all(t in c.timers for c in cells))
        rows += [[workload, str(len(cells)), f"{least:,}", *_of_timer(cells, timer)] for timer in timers]
    return table_of(head, rows)


def _of_timer(cells: Sequence[Cell], timer: str) -> Row:
    row = [f"`{timer}`" if timer in OURS else timer]
    for figure in FIGURES:
        few = any(too_few(c, figure) for c in cells)
        row.append("–" if few else "1" if timer == STOCK else spread(overall(cells, timer, figure)))
    worst = _worst(cells, timer)
    row.append("" if timer == STOCK else f"{ratio(worst.ratio(timer, P99)[0])} ({worst.path})")
    return [*row, f"{spurious(cells, timer):.1f}"]


def by_path(
    cells: Sequence[Cell],
    requests: Callable[[Cell], str],
    figures: Mapping[str, Callable[[int, str], Drawn]],
    head: Row,
) -> str:
    """Returns a table with a row for each path. A row has the text that `requests` returns, response
    times of Linux's own timer in ms (`head` has their titles), and for each of our timers the ratios that
    `figures` return. Each function in `figures` returns a ratio, given the index of a path in `cells` and a
    timer."""
    stock_figures = [figure for figure in FIGURES if f"stock: {figure}" in head]
    whole = ["path", *head, *(f"`{t}`: {name}" for t in OURS for name in (*figures, "spurious"))]
    rows = []
    for k, c in enumerate(cells):
        stock = c.timers[STOCK]
        row = [f"{c.path}{'' if c.reaches_the_tail else ' °'}", requests(c)]
        row += [*(milliseconds(stock.of(f)) for f in stock_figures), f"{stock.spurious_permille:.1f}"]
        for timer in OURS:
            row += [spread(of(k, timer)) for of in figures.values()]
            row.append(f"{c.timers[timer].spurious_permille:.1f}")
        rows.append(row)
    return table_of(whole, rows)


def chart(cells: Sequence[Cell], *, with_intervals: bool) -> Any:
    """Returns a Vega-Lite chart with a point for each timer, over all paths `cells` together: spurious
    retransmissions against the p99 and against the mean of the slowest 2 % of response times."""
    summaries, intervals = [], {}
    for timer in (*STATIC, "thin linear", *OURS):
        pairs = zip(resend_chart.MEASURED, (P99, SLOW), strict=True)
        found = {key: overall(cells, timer, figure) for key, figure in pairs}
        summaries.append(
            Summary(
                timer, {**{k: value for k, (value, _) in found.items()}, NEEDLESS: spurious(cells, timer)}
            )
        )
        if timer != STOCK and with_intervals:
            intervals[timer] = {key: interval(drawn) for key, (_, drawn) in found.items()}
    return resend_chart.chart(summaries, resend_chart.MEASURED, intervals or None)
