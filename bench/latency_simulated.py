# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables and picture of docs/latency-simulated.md, of the ns-3 runs that are kept.

for f in thin overload; do tcplearn simulate ns3/scenarios/$f.toml --profile full; done
python bench/latency_simulated.py [--out DIR]            prints them; DIR is where these runs were kept
python bench/latency_simulated.py [--out DIR] --write    writes them, and docs/images/latency-simulated.svg
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from latency_cells import OURS, STATIC, STOCK, Floats, geometric, how, interval, spread, verdict
from simulated_cells import (
    FADES,
    FIGURES,
    NEEDLESS,
    P99,
    P999,
    SLOWEST,
    WIRED,
    Cell,
    Overload,
    cells_of,
    overloads,
)

from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, milliseconds, ratio
from tcplearn.replay.resends import Summary
from tcplearn.report import resend_chart
from tcplearn.simulate.results import RunStore

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "latency-simulated.md"
BEGIN, END = "<!-- begin: python bench/latency_simulated.py -->\n", "<!-- end -->\n"
PEERS = (*STATIC, "thin linear", "no probes")
#: A connection's first requests, after which its timer has settled.
LEARNED = 300
TAIL, ELSEWHERE = "where losses reach the tail", "elsewhere"

#: A value, and the same of seeds drawn again.
Drawn = tuple[float, Floats]


def _judged(of: Drawn, most: float) -> str:
    return verdict(of[0], most, of[1])


def _mean_of(found: Sequence[Drawn]) -> Drawn:
    """Geometric, over paths that are what they are: seeds are drawn again, paths not."""
    return geometric([value for value, _ in found]), np.exp(np.mean([np.log(d) for _, d in found], axis=0))


def over_stock(cells: Sequence[Cell], timer: str, figure: str) -> Drawn:
    return _mean_of([c.ratio(timer, figure) for c in cells])


def _p99(c: Cell, timer: str) -> float:
    return c.ratio(timer, P99)[0]


def _over_floor(cells: Sequence[Cell], timer: str, figure: str) -> Drawn:
    return _mean_of([c.over_floor(timer, figure) for c in cells])


def _bar_rows(cells: Sequence[Cell]) -> Iterator[list[str]]:
    lost = [c for c in cells if c.reaches_the_tail]
    rest = [c for c in cells if not c.reaches_the_tail]
    for figure, of, where, most in (
        (P99, lost, TAIL, 0.70),
        (P999, lost, TAIL, 0.75),
        (SLOWEST, lost, TAIL, 0.75),
        (P99, [c for c in cells if c.path == WIRED], "wired, 1 % loss", 0.30),
        (P99, rest, ELSEWHERE, 1.02),
        (SLOWEST, rest, ELSEWHERE, 1.02),
    ):
        row = [f"{figure}, {where} ({counted(len(of), 'path')})", f"≤ {most:.2f} × stock"]
        yield [*row, *(_judged(over_stock(of, o, figure), most) for o in OURS)]
    row = [f"{P99} of the worst path", "≤ 1.10 × stock"]
    for timer in OURS:
        worst = max(cells, key=functools.partial(_p99, timer=timer))
        row.append(f"{_judged(worst.ratio(timer, P99), 1.10)}, {worst.path}")
    yield row
    yield ["needless, mean of the paths", "≤ stock + 1 in 1,000", *(_more_needless(cells, o) for o in OURS)]
    for figure, of, where, most in (
        (P99, [*cells], "all paths", 1.00),
        (P999, [*cells], "all paths", 0.97),
        (SLOWEST, [c for c in cells if c.path == WIRED], WIRED, 1.00),
    ):
        row = [f"{figure}, {where}", f"≤ {most:.2f} × the best static floor in hindsight"]
        yield [*row, *(_judged(_over_floor(of, o, figure), most) for o in OURS)]
    for faded in (c for c in cells if c.path == FADES):
        row = ["mean overrun past a fade of 0.2 to 8 s", "≤ 0.40 × stock"]
        yield [*row, *(_judged(faded.overrun_ratio(o), 0.40) for o in OURS)]


def _more_needless(cells: Sequence[Cell], timer: str) -> str:
    found = [c.more_needless(timer) for c in cells]
    drawn = np.mean([d for _, d in found], axis=0)
    low, high = interval(drawn)
    over = [c.path for c, (_, d) in zip(cells, found, strict=True) if interval(d)[0] > 1]
    where = f"; above it on {', '.join(over)}" if over else ""
    return f"{np.mean([v for v, _ in found]):+.2f} ({low:+.2f} to {high:+.2f}): {how(1, drawn)}{where}"


def _late_rows(cells: Sequence[Cell]) -> Iterator[list[str]]:
    """Of cells without what a connection learned from."""
    for figure in (P99, P999):
        row = [f"{figure}, all paths, from a connection's {LEARNED + 1}st request on"]
        row.append("no bar (× the best static floor in hindsight)")
        yield [*row, *(spread(*_over_floor(cells, o, figure)) for o in OURS)]


def _overload_rows(found: Sequence[Overload]) -> Iterator[list[str]]:
    """Of the worst queue."""
    for part, limit, at_least in (("goodput", 0.98, True), ("drops", 1.10, False)):
        some = [o for o in found if o.compared(OURS[0], part)]
        row = [f"{part}, worst of {counted(len(some), 'overloaded queue')}"]
        row.append(f"{'≥' if at_least else '≤'} {limit:.2f} × stock")
        for timer in OURS:
            compared = {o.path: c for o in some if (c := o.compared(timer, part))}
            worst = (min if at_least else max)(compared, key=lambda path: compared[path][0])
            value, low, high = compared[worst]
            kept = (low >= limit, high < limit) if at_least else (high <= limit, low > limit)
            said = "met" if kept[0] else "missed" if kept[1] else "undecided"
            row.append(f"{ratio(value)} ({ratio(low)}-{ratio(high)}): {said}, {worst}")
        yield row


def bar(cells: Sequence[Cell], late: Sequence[Cell], found: Sequence[Overload]) -> str:
    rows = [*_bar_rows(cells), *(_overload_rows(found) if found else ()), *_late_rows(late)]
    return table_of(["of", "bar", *(f"`{o}`" for o in OURS)], rows)


def by_timer(cells: Sequence[Cell]) -> str:
    head = ["timer", *(f"{name}, × stock" for name in FIGURES), "worst path's p99", "needless in 1,000"]
    rows = []
    for timer in (*PEERS, *OURS):
        row = [f"`{timer}`" if timer in OURS else timer]
        row += ["1" if timer == STOCK else spread(*over_stock(cells, timer, figure)) for figure in FIGURES]
        worst = max(cells, key=functools.partial(_p99, timer=timer))
        row.append("" if timer == STOCK else f"{ratio(worst.ratio(timer, P99)[0])} ({worst.path})")
        rows.append([*row, f"{_needless(cells, timer):.1f}"])
    return table_of(head, rows)


def _needless(cells: Sequence[Cell], timer: str) -> float:
    return float(np.mean([c.timers[timer].needless_permille for c in cells]))


def by_path(cells: Sequence[Cell], late: Sequence[Cell]) -> str:
    head = ["path", "requests a timer", *(f"stock: {f}" for f in (*FIGURES, "needless"))]
    head += [f"`{o}`: {f}" for o in OURS for f in (*FIGURES, "× floor", "× floor, later", "needless")]
    rows = []
    for c, after in zip(cells, late, strict=True):
        stock = c.timers[STOCK]
        row = [f"{c.path}{'' if c.reaches_the_tail else ' °'}", f"{stock.requests:,} in {len(stock.runs)}"]
        row += [milliseconds(stock.of(f)) for f in FIGURES]
        row.append(f"{stock.needless_permille:.1f}")
        for timer in OURS:
            row += [spread(*c.ratio(timer, f)) for f in FIGURES]
            row += [spread(*part.over_floor(timer, P999)) for part in (c, after)]
            row += [f"{c.timers[timer].needless_permille:.1f}"]
        rows.append(row)
    return table_of(head, rows)


def fades(c: Cell) -> str:
    rows = []
    for timer in (*PEERS, *OURS):
        t = c.timers[timer]
        beside = "1" if timer == STOCK else spread(*c.overrun_ratio(timer))
        resends = f"{1000 * sum(run.resends for run in t.runs) / t.requests:.0f}"
        rows.append([timer, f"{t.overruns:,.0f}", milliseconds(t.overrun_ms), beside, resends])
    return table_of(["timer", "fades", "mean overrun, ms", "× stock", "resends in 1,000 requests"], rows)


def overloaded(found: Sequence[Overload]) -> str:
    others = [t for t in found[0].timers if t != STOCK]
    head = [
        "queue",
        "stock: goodput, kbit/s",
        "drops",
        *(f"{t}: {p}" for t in others for p in ("goodput", "drops")),
    ]
    rows = []
    for o in found:
        stock = o.timers[STOCK]
        row = [o.path, f"{1000 * np.mean(stock.goodput):.0f}", f"{np.mean(stock.drops):,.0f}"]
        for timer in others:
            for part in ("goodput", "drops"):
                compared = o.compared(timer, part)
                mean = f"{np.mean(getattr(o.timers[timer], part)):,.0f}"
                row.append("{} ({}-{})".format(*map(ratio, compared)) if compared else f"{mean} a run")
        rows.append(row)
    return table_of(head, rows)


def _summaries(cells: Sequence[Cell]) -> list[Summary]:
    out = []
    for timer in (*STATIC, "thin linear", *OURS):
        figures = {
            key: geometric([c.ratio(timer, figure)[0] for c in cells])
            for key, figure in zip(resend_chart.MEASURED, (P99, SLOWEST), strict=True)
        }
        out.append(Summary(timer, figures | {NEEDLESS: _needless(cells, timer)}))
    return out


def _parts(cells: Sequence[Cell], late: Sequence[Cell], found: Sequence[Overload]) -> Iterator[str]:
    yield f"**Bar**, over {counted(len(cells), 'path')}:\n\n{bar(cells, late, found)}"
    yield f"**By timer**, geometric means over the paths:\n\n{by_timer(cells)}"
    yield "![needless resends against p99 and the slowest 2 %](images/latency-simulated.svg)"
    yield (
        "**By path**, times in ms, ours over stock's (° stock's timer sends again for less than one request "
        "in a hundred; × floor: p99.9 over the best static floor's; × floor, later: that from a connection's "
        f"{LEARNED + 1}st request on):\n\n"
        f"{by_path(cells, late)}"
    )
    for c in cells:
        if c.path == FADES:
            yield f"**Past the end of fades** of 0.2 to 8 s, 30 ms, nothing else lost:\n\n{fades(c)}"
    if found:
        runs = len(found[0].timers[STOCK].drops)
        yield (
            f"**One overloaded queue**, {counted(runs, 'run')} of 120 s each, over stock's; drops: packets "
            f"in a run, by the queue:\n\n{overloaded(found)}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kept = RunStore(options.out)
    thin = ROOT / "ns3" / "scenarios" / "thin.toml"
    cells, late = cells_of(thin, kept), cells_of(thin, kept, LEARNED)
    found = overloads(ROOT / "ns3" / "scenarios" / "overload.toml", kept)
    if not cells:
        parser.error("no run is kept: tcplearn simulate ns3/scenarios/thin.toml --profile full")
    text = "\n\n".join(_parts(cells, late, found)) + "\n"
    if not options.write:
        print(text, end="")
        return
    head, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")
    resend_chart.write(_summaries(cells), PAGE.parent / "images", PAGE.stem, resend_chart.MEASURED)


if __name__ == "__main__":
    main()
