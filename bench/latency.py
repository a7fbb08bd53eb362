# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables and picture of docs/latency.md, of the lab's runs that are kept: every thin-*.toml is a path.

for f in linux/lab/scenarios/thin-*.toml; do tcplearn lab run $f; done     and with --profile bulk
python bench/latency.py            prints them
python bench/latency.py --write    writes them into docs/latency.md, and docs/images/latency.svg
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from latency_cells import (
    DRAWS,
    FIGURES,
    OURS,
    PEERS,
    ROOT,
    SEED,
    STATIC,
    STOCK,
    Cell,
    Figure,
    Floats,
    cell,
    geometric,
    interval,
    p99,
    p999,
    paths,
    slowest,
)

from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, milliseconds, ratio
from tcplearn.replay.resends import NEEDLESS, Summary
from tcplearn.report import resend_chart

BEGIN, END = "<!-- begin: python bench/latency.py -->\n", "<!-- end -->\n"
PAGE = ROOT / "docs" / "latency.md"
TAIL, ELSEWHERE = "where losses reach the tail", "elsewhere"


def _spread(value: float, drawn: Floats) -> str:
    low, high = interval(drawn)
    return f"{ratio(value)} ({ratio(low)}-{ratio(high)})"


def by_path(cells: Sequence[Cell]) -> str:
    """Of stock milliseconds, of ours ratios to it."""
    head = ["path", "requests a timer", "stock: p99", "slowest 2 %", "needless"]
    head += [f"`{name}`: {figure}" for name in OURS for figure in ("p99", "slowest 2 %", "needless")]
    rows = []
    for c in cells:
        stock = c.timers[STOCK]
        row = [f"{c.path}{'' if c.reaches_the_tail else ' °'}", f"{c.requests:,} in {c.runs}"]
        row += [milliseconds(stock.of(p99)), milliseconds(stock.of(slowest))]
        row.append(f"{stock.needless_permille:.1f}")
        for name in OURS:
            row += [_spread(c.ratio(name, f), c.ratios_drawn(name, f)) for f in (p99, slowest)]
            row.append(f"{c.timers[name].needless_permille:.1f}")
        rows.append(row)
    return table_of(head, rows)


def _overall(cells: Sequence[Cell], timer: str, figure: Figure) -> tuple[float, Floats]:
    value = geometric([c.ratio(timer, figure) for c in cells])
    drawn = np.exp(np.mean([np.log(c.ratios_drawn(timer, figure)) for c in cells], axis=0))
    return value, drawn


def by_timer(cells: Sequence[Cell]) -> str:
    head = ["timer", *(f"{name}, × stock" for name in FIGURES), "worst path's p99", "needless in 1,000"]
    rows = []
    for timer in (*PEERS, *OURS):
        row = [f"`{timer}`" if timer in OURS else timer]
        row += [
            "1" if timer == STOCK else _spread(*_overall(cells, timer, figure)) for figure in FIGURES.values()
        ]
        worst = max(cells, key=lambda c: c.ratio(timer, p99))
        row.append("" if timer == STOCK else f"{ratio(worst.ratio(timer, p99))} ({worst.path})")
        row.append(f"{_needless(cells, timer):.1f}")
        rows.append(row)
    return table_of(head, rows)


def _needless(cells: Sequence[Cell], timer: str) -> float:
    return float(np.mean([c.timers[timer].needless_permille for c in cells]))


def _paths_drawn(values: Sequence[float] | Floats) -> Floats:
    """Means of paths drawn again."""
    each = np.asarray(values, float)
    drawn = np.random.default_rng(SEED).integers(0, len(each), (DRAWS, len(each)))
    return np.asarray(each[drawn].mean(axis=1))


def _verdict(value: float, limit: float, drawn: Floats | None = None) -> str:
    """Undecided: the interval has values of both sides of the limit."""
    if drawn is None:
        return f"{ratio(value)}: {'met' if value <= limit else 'missed'}, one path, no interval"
    return f"{_spread(value, drawn)}: {_how(limit, drawn)}"


def _how(limit: float, drawn: Floats) -> str:
    low, high = interval(drawn)
    return "met" if high <= limit else "missed" if low > limit else "undecided"


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
            yield [*row, *(_verdict(v, limit, d) for v, d in (_overall(of, o, figure) for o in OURS))]
    verdicts = []
    for timer in OURS:
        worst = max(cells, key=functools.partial(Cell.ratio, timer=timer, figure=p99))
        drawn = worst.ratios_drawn(timer, p99)
        verdicts.append(f"{_verdict(worst.ratio(timer, p99), 1.10, drawn)}, {worst.path}")
    yield ["p99 of the worst path", "≤ 1.10 × stock", *verdicts]


def bar(cells: Sequence[Cell], found_bulk: Sequence[Cell]) -> str:
    """Each line of what was asked of the timer beforehand, for both of ours."""
    rows = list(_against_stock(cells))
    rows.append(["needless, all paths", "≤ stock + 1 in 1,000", *(_more_needless(cells, o) for o in OURS)])
    first = [c for c in cells if c.path == "wired"]
    for name, of, figure, limit in (
        ("p99, all paths", cells, p99, 1.00),
        ("p99.9, all paths", cells, p999, 0.97),
        ("slowest 2 %, wired", first, slowest, 1.00),
    ):
        if of:
            row = [name, f"≤ {limit:.2f} × the best static floor in hindsight"]
            for timer in OURS:
                each = [c.over_floor(timer, figure) for c in of]
                drawn = np.exp(_paths_drawn(np.log(each))) if len(each) > 1 else None
                row.append(_verdict(geometric(each), limit, drawn))
            rows.append(row)
    rows += _bulk_bar(found_bulk)
    return table_of(["of", "bar", *(f"`{o}`" for o in OURS)], rows)


def _throughput(c: Cell, timer: str) -> float:
    """Over stock's."""
    return c.timers[STOCK].of(_mean) / c.timers[timer].of(_mean)


def _mean(times_ms: Floats) -> float:
    return float(times_ms.mean())


def _bulk_bar(cells: Sequence[Cell]) -> Iterator[list[str]]:
    least, resends = ["bulk: throughput, least of the paths", "≥ 0.98 × stock"], []
    for timer in OURS:
        if not cells:
            least.append("not run")
            resends.append("not run")
            continue
        worst = min(cells, key=functools.partial(_throughput, timer=timer))
        value = _throughput(worst, timer)
        least.append(f"{ratio(value)}: {'met' if value >= 0.98 else 'missed'}, {worst.path}")
        over = [c.path for c in cells if sum(c.timers[timer].resends) > _allowed(c)]
        resends.append(f"missed: {', '.join(over)}" if over else "met")
    yield least
    yield ["bulk: timeouts and probes, each path", "≤ 1.1 × stock + 1", *resends]


def _allowed(c: Cell) -> float:
    return 1.1 * sum(c.timers[STOCK].resends) + 1


def _more_needless(cells: Sequence[Cell], timer: str) -> str:
    """Than stock's, in 1,000; paths drawn again."""
    more = [c.timers[timer].needless_permille - c.timers[STOCK].needless_permille for c in cells]
    drawn = _paths_drawn(more)
    low, high = interval(drawn)
    return f"{np.mean(more):+.2f} ({low:+.2f} to {high:+.2f}): {_how(1, drawn)}"


def wired(c: Cell) -> str:
    rows = []
    for timer in (*PEERS, *OURS):
        t = c.timers[timer]
        values = [milliseconds(t.of(f)) for f in FIGURES.values()]
        rows.append([timer, *values, f"{t.needless_permille:.1f}", f"{sum(t.resends):.0f}"])
    return table_of(["timer", *(f"{n}, ms" for n in FIGURES), "needless in 1,000", "resends"], rows)


def bulk(cells: Sequence[Cell]) -> str:
    head = ["path", "transfers", *(f"`{o}`: throughput, × stock" for o in OURS)]
    head += ["timeouts and probes: stock", *(f"`{o}`" for o in OURS)]
    rows = []
    for c in cells:
        row = [c.path, str(c.requests), *(ratio(_throughput(c, o)) for o in OURS)]
        rows.append([*row, *(f"{sum(c.timers[name].resends):.0f}" for name in (STOCK, *OURS))])
    return table_of(head, rows)


def _summaries(cells: Sequence[Cell]) -> list[Summary]:
    out = []
    for timer in (*STATIC, "thin linear", *OURS):
        figures = {
            key: _overall(cells, timer, f)[0]
            for key, f in zip(resend_chart.MEASURED, (p99, slowest), strict=True)
        }
        out.append(Summary(timer, figures | {NEEDLESS: _needless(cells, timer)}))
    return out


def _parts(cells: Sequence[Cell], found_bulk: Sequence[Cell], others: Sequence[Cell]) -> Iterator[str]:
    over = f"over {counted(len(cells), 'path')}, one kept connection, 1 kB"
    yield f"**Bar**, {over}:\n\n{bar(cells, found_bulk)}"
    yield f"**By timer**, geometric means over the paths:\n\n{by_timer(cells)}"
    yield "![needless resends against p99 and the slowest 2 %](images/latency.svg)"
    yield (
        "**By path**, times in ms, ours over stock's with 95 % intervals (° stock's timer sends again for "
        f"less than one request in a hundred; kept-…: not looked at before):\n\n{by_path(cells)}"
    )
    if first := next((c for c in cells if c.path == "wired"), None):
        yield f"**Wired, 30 ms, 1 % loss**, {first.requests:,} requests a timer:\n\n{wired(first)}"
    if others:
        yield f"**Other ways to send**, over the wired path:\n\n{by_path(others)}"
    if found_bulk:
        yield f"**Bulk**, 2 MB at a time:\n\n{bulk(found_bulk)}"


def _workloads(found: Path) -> list[Cell]:
    of = ((profile, cell(found, profile)) for profile in ("stream", "fresh", "page"))
    return [Cell(f"wired, {profile}", c.runs, c.timers) for profile, c in of if c]


def main() -> None:
    files = paths()
    cells = [c for c in map(cell, files) if c]
    if not cells:
        sys.exit("no run is kept: tcplearn lab run linux/lab/scenarios/thin-wired.toml")
    found_bulk = [c for c in (cell(file, "bulk") for file in files) if c]
    text = "\n\n".join(_parts(cells, found_bulk, _workloads(files[0]))) + "\n"
    if "--write" not in sys.argv[1:]:
        print(text, end="")
        return
    head, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")
    resend_chart.write(_summaries(cells), PAGE.parent / "images", "latency", resend_chart.MEASURED)


if __name__ == "__main__":
    main()
