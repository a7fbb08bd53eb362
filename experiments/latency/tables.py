# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes criteria, table rows and a chart of both lab.md (real Linux TCP) and simulated.md (ns-3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from experiments.latency.cells import FIGURES, OURS, P99, P999, SLOW, STATIC, STOCK, Cell, metric, overall
from experiments.lib.statistics import interval, spread, verdict
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, listed, milliseconds, ratio
from tcplearn.replay.resends import NEEDLESS, Summary
from tcplearn.report import resend_chart

FLOOR = "the best fixed `rto_min` in hindsight"
#: The smallest number of requests for which the 99.9th percentile is shown.
LEAST_P999 = 12_000
Row = list[str]


def short_paths(cells: Sequence[Cell], figure: str) -> int:
    """Returns, if `figure` is p99.9, the number of paths `cells` on which a timer has too few requests for
    it; otherwise 0."""
    least = (min(map(c.requests_of, c.timers)) for c in cells)
    return sum(figure == P999 and requests < LEAST_P999 for requests in least)


def criteria(rows: Sequence[Row]) -> str:
    return table_of(["figure", "criterion", *(f"`{timer}`" for timer in OURS)], rows)


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
        yield from _judged(f"{figure}, {where} ({counted(len(of), 'path')})", of, figure, limit)
    worst = [(timer, _worst(cells, timer)) for timer in OURS]
    texts = (f"{verdict(c.ratio(timer, P99), 1.10)}, {c.path}" for timer, c in worst)
    yield ["p99 of the worst path", "≤ 1.10 × stock", *texts]


def against_floor(cells: Sequence[Cell], more: Callable[[str, str], str] | None = None) -> Iterator[Row]:
    """Yields table rows of criteria relative to the fixed rto_min that is best in hindsight. `more` returns a
    text for a timer and a figure (p99, ...), which is appended to the verdict over several paths."""
    first = [c for c in cells if c.path == "wired"]
    yield from _judged("p99, all paths", cells, P99, 1.00, FLOOR, more)
    yield from _judged("p99.9, all paths", cells, P999, 0.97, FLOOR, more)
    yield from _judged("slowest 2 %, wired", first, SLOW, 1.00, FLOOR)


def _judged(
    what: str,
    cells: Sequence[Cell],
    figure: str,
    limit: float,
    base: str = "stock",
    more: Callable[[str, str], str] | None = None,
) -> Iterator[Row]:
    if not cells:
        return
    few = short_paths(cells, figure)
    note = f" (of less than {LEAST_P999:,} requests on {counted(few, 'path')})" if few else ""
    row = [what, f"≤ {limit:.2f} × {base}"]
    for timer in OURS:
        others = more(timer, figure) if more and len(cells) > 1 else ""
        row.append(f"{verdict(overall(cells, timer, figure, floor=base == FLOOR), limit)}{others}{note}")
    yield row


def by_floor(cells: Sequence[Cell]) -> str:
    """Returns a table of response times relative to those under each path's best fixed rto_min."""
    figures = [figure for figure in FIGURES if not short_paths(cells, figure)]
    pairs = [(timer, figure) for timer in OURS for figure in figures]
    rows = [[c.path, *(spread(c.over_floor(*pair)) for pair in pairs)] for c in cells]
    return table_of(["path", *(f"`{timer}`: {figure}" for timer, figure in pairs)], rows)


def above_floor(cells: Sequence[Cell], timer: str) -> str:
    """Returns the names of the paths on which p99.9 is shown to be above that with the best fixed rto_min."""
    found = [c.path for c in cells if interval(c.over_floor(timer, P999)[1])[0] > 1]
    return listed(found or ["none"])


def _worst(cells: Sequence[Cell], timer: str) -> Cell:
    return max(cells, key=lambda c: c.ratio(timer, P99)[0])


def spurious(cells: Sequence[Cell], timer: str) -> float:
    return float(np.mean([c.timers[timer].spurious_permille for c in cells]))


def of_timer(cells: Sequence[Cell], timer: str) -> Row:
    """Returns a table row with the response times under `timer`, relative to stock's, over all `cells`."""
    over = {f: "1" if timer == STOCK else spread(overall(cells, timer, f)) for f in FIGURES}
    row = [f"`{timer}`" if timer in OURS else timer]
    row += ["–" if short_paths(cells, figure) else text for figure, text in over.items()]
    worst = _worst(cells, timer)
    row.append("" if timer == STOCK else f"{ratio(worst.ratio(timer, P99)[0])} ({worst.path})")
    return [*row, f"{spurious(cells, timer):.1f}"]


def chart(cells: Sequence[Cell], *, with_intervals: bool) -> Any:
    """Returns a Vega-Lite chart with a point for each timer, over all paths `cells` together: spurious
    retransmissions against the p99 and against the mean of the slowest 2 % of response times."""
    summaries, intervals = [], {}
    figures = dict(zip(resend_chart.MEASURED, (P99, SLOW), strict=True))
    for timer in (*STATIC, "thin linear", *OURS):
        found = {key: overall(cells, timer, figure) for key, figure in figures.items()}
        values = {key: value for key, (value, _) in found.items()}
        summaries.append(Summary(timer, values | {NEEDLESS: spurious(cells, timer)}))
        if timer != STOCK and with_intervals:
            intervals[timer] = {key: interval(drawn) for key, (_, drawn) in found.items()}
    return resend_chart.chart(summaries, resend_chart.MEASURED, intervals or None)


#: What the templates of pages use in their tables and sentences.
TOOLS = {
    "FIGURES": FIGURES,
    "ours": OURS,
    "overall": overall,
    "spurious": spurious,
    "short_paths": short_paths,
    "by_floor": by_floor,
    "above_floor": above_floor,
    "metric": metric,
    "spread": spread,
    "verdict": verdict,
    "ms": milliseconds,
    "ratio": ratio,
    "counted": counted,
}
