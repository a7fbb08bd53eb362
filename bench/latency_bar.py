# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What was required of the timer beforehand, line by line, and what its kept runs say to it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from latency_cells import (
    DRAWS,
    LEAST_P999,
    OURS,
    SEED,
    STOCK,
    Cell,
    Figure,
    Floats,
    geometric,
    how,
    interval,
    p99,
    p999,
    slowest,
    spread,
    too_few,
    verdict,
)

from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, ratio

TAIL, ELSEWHERE = "where stock's timer resends for 1 % of requests or more", "elsewhere (°)"
FLOOR = "the best fixed `rto_min` in hindsight"


def overall(cells: Sequence[Cell], timer: str, figure: Figure) -> tuple[float, Floats]:
    value = geometric([c.ratio(timer, figure) for c in cells])
    drawn = np.exp(np.mean([np.log(c.ratios_drawn(timer, figure)) for c in cells], axis=0))
    return value, drawn


def _if_few(cells: Sequence[Cell], figure: str) -> str:
    few = sum(too_few(c, figure) for c in cells)
    return f" (of less than {LEAST_P999:,} requests on {counted(few, 'path')})" if few else ""


def _paths_drawn(values: Sequence[float] | Floats) -> Floats:
    """Means of paths drawn again."""
    each = np.asarray(values, float)
    drawn = np.random.default_rng(SEED).integers(0, len(each), (DRAWS, len(each)))
    return np.asarray(each[drawn].mean(axis=1))


def _against_stock(cells: Sequence[Cell]) -> Iterator[list[str]]:
    lost = [c for c in cells if c.reaches_the_tail]
    rest = [c for c in cells if not c.reaches_the_tail]
    first = [c for c in cells if c.path == "wired"]
    for name, of, where, figure, limit in (
        ("p99", lost, TAIL, p99, 0.70),
        ("p99.9", lost, TAIL, p999, 0.75),
        ("slowest 2 %", lost, TAIL, slowest, 0.75),
        ("p99", first, "wired, 1 % loss", p99, 0.30),
        ("p99", rest, ELSEWHERE, p99, 1.02),
        ("slowest 2 %", rest, ELSEWHERE, slowest, 1.02),
    ):
        if of:
            row = [f"{name}, {where} ({counted(len(of), 'path')})", f"≤ {limit:.2f} × stock"]
            values = (verdict(v, limit, d) for v, d in (overall(of, o, figure) for o in OURS))
            yield [*row, *(f"{value}{_if_few(of, name)}" for value in values)]
    verdicts = []
    for timer in OURS:
        worst = max(cells, key=functools.partial(Cell.ratio, timer=timer, figure=p99))
        drawn = worst.ratios_drawn(timer, p99)
        verdicts.append(f"{verdict(worst.ratio(timer, p99), 1.10, drawn)}, {worst.path}")
    yield ["p99 of the worst path", "≤ 1.10 × stock", *verdicts]


def bar(cells: Sequence[Cell], found_bulk: Sequence[Cell], others: Iterable[list[str]]) -> str:
    """Each line of what was required of the timer beforehand, for both of ours."""
    rows = list(_against_stock(cells))
    rows.append(
        [
            "needless resends in 1,000 segments, all paths: more than stock's",
            "≤ +1",
            *(_more_needless(cells, o) for o in OURS),
        ]
    )
    first = [c for c in cells if c.path == "wired"]
    for name, of, figure, limit in (
        ("p99, all paths", cells, p99, 1.00),
        ("p99.9, all paths", cells, p999, 0.97),
        ("slowest 2 %, wired", first, slowest, 1.00),
    ):
        if of:
            row = [name, f"≤ {limit:.2f} × {FLOOR}"]
            values = (_over_floor(of, timer, figure, limit) for timer in OURS)
            rows.append([*row, *(f"{value}{_if_few(of, name.split(',')[0])}" for value in values)])
    rows += [*_bulk_bar(found_bulk), *others]
    return table_of(["of", "bar", *(f"`{o}`" for o in OURS)], rows)


def throughput(c: Cell, timer: str) -> tuple[float, Floats]:
    """Over stock's; and that of transfers drawn again."""
    ours, stock = (np.concatenate(c.timers[name].times_ms) for name in (timer, STOCK))
    rng = np.random.default_rng(SEED)
    drawn = [of[rng.integers(0, len(of), (DRAWS, len(of)))].mean(axis=1) for of in (stock, ours)]
    return float(stock.mean() / ours.mean()), drawn[0] / drawn[1]


def _bulk_bar(cells: Sequence[Cell]) -> Iterator[list[str]]:
    if not cells:
        return
    least, mean, resends = [], [], []
    for timer in OURS:
        found = {c.path: throughput(c, timer) for c in cells}
        worst = min(found, key=lambda path: found[path][0])
        below = [path for path, (_, drawn) in found.items() if interval(drawn)[1] < 0.98]
        said = f"{verdict(found[worst][0], 0.98, found[worst][1], least=True)}, {worst}"
        missed = ", ".join(f"{path} {spread(*found[path])}" for path in below)
        least.append(f"missed: {missed}; least: {spread(*found[worst])}, {worst}" if below else said)
        drawn = np.exp(np.mean([np.log(drawn) for _, drawn in found.values()], axis=0))
        mean.append(verdict(geometric([value for value, _ in found.values()]), 0.98, drawn, least=True))
        resends.append(_resends_by_path(cells, timer))
    yield [f"bulk: throughput, least of {counted(len(cells), 'path')}", "≥ 0.98 × stock", *least]
    yield ["bulk: throughput, all paths", "≥ 0.98 × stock", *mean]
    yield ["bulk: timeouts and probes, each path", "≤ 1.1 × stock + 1", *resends]
    yield ["bulk: timeouts and probes, all paths", "no bar (× stock)", *(_resends(cells, o) for o in OURS)]


def _resends(cells: Sequence[Cell], timer: str) -> str:
    """Timeouts and probes over stock's; paths drawn again."""
    ours, stock = (np.array([sum(c.timers[name].resends) for c in cells]) for name in (timer, STOCK))
    at = np.random.default_rng(SEED).integers(0, len(cells), (DRAWS, len(cells)))
    least = 1  # of what stock has
    drawn = ours[at].sum(axis=1) / np.maximum(stock[at].sum(axis=1), least)
    return spread(float(ours.sum() / max(stock.sum(), least)), drawn)


def _resends_by_path(cells: Sequence[Cell], timer: str) -> str:
    """By the counts alone; and where that is more than chance, of counts drawn again (Poisson)."""
    rng = np.random.default_rng(SEED)
    above, shown = [], []
    for c in cells:
        ours, stock = (sum(c.timers[name].resends) for name in (timer, STOCK))
        if ours > 1.1 * stock + 1:
            above.append(f"{c.path} {ours:.0f} for {stock:.0f}")
            drawn = rng.poisson(ours, DRAWS) - 1.1 * rng.poisson(stock, DRAWS)
            shown += [c.path] if how(1, drawn) == "missed" else []
    return f"missed: {', '.join(above)}; more than chance: {', '.join(shown) or 'none'}" if above else "met"


def _over_floor(cells: Sequence[Cell], timer: str, figure: Figure, limit: float) -> str:
    """Requests drawn again, and what other paths like these might give."""
    each = np.log([c.over_floor(timer, figure) for c in cells])
    drawn = np.exp(np.mean([np.log(c.over_floor_drawn(timer, figure)) for c in cells], axis=0))
    said = verdict(float(np.exp(each.mean())), limit, drawn)
    return f"{said}{_of_other_paths(np.exp(_paths_drawn(each)), ratio)}" if len(cells) > 1 else said


def _of_other_paths(drawn: Floats, text: Callable[[float], str]) -> str:
    low, high = interval(drawn)
    return f"; other paths like these: {text(low)} to {text(high)}"


def _more_needless(cells: Sequence[Cell], timer: str) -> str:
    """Than stock's, in 1,000: runs drawn again, and what other paths like these might give."""
    more = [c.timers[timer].needless_permille - c.timers[STOCK].needless_permille for c in cells]
    rng = np.random.default_rng(SEED)
    drawn = np.mean([_more_needless_drawn(c, timer, rng) for c in cells], axis=0)
    low, high = interval(drawn)
    others = _of_other_paths(_paths_drawn(more), "{:+.2f}".format)
    return f"{np.mean(more):+.2f} ({low:+.2f} to {high:+.2f}): {how(1, drawn)}{others}"


def _more_needless_drawn(c: Cell, timer: str, rng: np.random.Generator) -> Floats:
    """Of runs drawn again: those of one number, which share pauses and fades, together. The mean of n runs
    drawn again has (n - 1)/n of the variance that it should have. Of a single run: not a number."""
    ours, stock = c.timers[timer], c.timers[STOCK]
    n = min(len(ours.segments), len(stock.segments))
    if n < 2:
        return np.full(DRAWS, np.nan)
    at = rng.integers(0, n, (DRAWS, n))
    drawn = ours.needless_of(at) - stock.needless_of(at)
    value = ours.needless_permille - stock.needless_permille
    return np.asarray(value + (drawn - drawn.mean()) * np.sqrt(n / (n - 1)))
