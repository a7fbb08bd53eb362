# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the page simulated.md, of response times under each timer in ns-3, and guard.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency import tables
from experiments.latency.cells import KEPT, OURS, P99, P999, STATIC, STOCK, SeedsCell, Timer, metric, overall
from experiments.latency.tables import Row
from experiments.lib.batches import Batch, Figures, SimulatedRuns
from experiments.lib.pages import Figure, scenarios
from experiments.lib.runs import Run
from experiments.lib.statistics import Drawn, Ratio, how, interval, spread, verdict
from tcplearn.output.numbers import counted
from tcplearn.simulate.interval import ratio_interval

TIMERS = (*STATIC, "thin linear", "no probes", *OURS)
#: The number of requests of a connection after which its learned timer has settled.
LEARNED = 300
METRICS = ("needless_resends_permille", "sent_packets", "probes", "timeouts", "overruns", "mean_overrun_ms")
TAIL, ELSEWHERE, FADES = "where losses reach the tail", "elsewhere", "fades"
NO_GUARD = ":most_loss=1,most_loss_queued=1"
_NAMES = {"linear": "thin linear", "stock/no-probe": "no probes"}
GOODPUT, DROPS = "goodput_mbps", "queue_dropped_packets"
#: Runs of a path or an overloaded queue, by timer.
ByTimer = Mapping[str, Sequence[Run]]


def batches(folder: Path, profile: str) -> list[Batch]:
    folder = scenarios(folder, "ns3", "scenarios")
    return [
        SimulatedRuns(folder / "thin.toml", profile or "full", keep_requests),
        SimulatedRuns(folder / "overload.toml", profile or "full", keep_load),
    ]


def guard_batches(folder: Path, profile: str) -> list[Batch]:
    file = scenarios(folder, "ns3", "scenarios") / "thin.toml"
    return [SimulatedRuns(file, profile or "no-guard", keep_requests)]


def keep_requests(run: Any, result: Mapping[str, Any]) -> Figures:
    """Returns metrics of a run, and its slowest response times in us: those of all requests, and those of the
    requests after the first `LEARNED`."""
    metrics = {name: m for name in METRICS if (m := result["run"]["metrics"].get(name)) is not None}
    series = {}
    for suffix, after in (("", 0), ("_late", LEARNED)):
        times_us = np.sort(np.array(result["run"]["responses_us"][after:], float))
        metrics[f"requests{suffix}"] = float(len(times_us))
        series[f"slow{suffix}_us"] = times_us[int(len(times_us) * (1 - KEPT)) :]
    return metrics, series


def keep_load(run: Any, result: Mapping[str, Any]) -> Figures:
    m = result["run"]["metrics"]
    return {GOODPUT: m[GOODPUT] * m["flows"], DROPS: m[DROPS]}, {}


def timer_of(run: Run) -> str:
    """Returns the title of the run's timer, the same as in lab.md."""
    spec = str(run.labels["tcp.resend"])
    name, _, floor = spec.partition(":rto_min_us=")
    return f"rto_min {int(floor) // 1000} ms" if floor else _NAMES.get(name, spec)


def _by_path(runs: Sequence[Run]) -> dict[str, ByTimer]:
    """Returns the runs by path and timer. A seed that one timer lacks on a path is left out for all
    timers."""
    found: dict[str, dict[str, dict[int, Run]]] = {}
    for run in runs:
        found.setdefault(str(run.labels["variant"]), {}).setdefault(timer_of(run), {})[run.seed] = run
    out: dict[str, ByTimer] = {}
    for path, timers in found.items():
        shared = sorted(set.intersection(*map(set, timers.values())))
        if len(shared) > 1:
            out[path] = {timer: [of[seed] for seed in shared] for timer, of in timers.items()}
    return out


def _cells(paths: Mapping[str, ByTimer], late: str = "") -> list[SeedsCell]:
    return [
        SeedsCell(path, {timer: Timer.of_ns3(runs, late) for timer, runs in timers.items()})
        for path, timers in paths.items()
    ]


def overloaded(runs: Sequence[Run]) -> dict[str, ByTimer]:
    return _by_path([run for run in runs if "requests" not in run.metrics])


def compared(queue: ByTimer, timer: str, name: str) -> Ratio | None:
    """Returns the geometric mean over runs of the ratio of the metric `name` under `timer` to that under
    Linux's own timer at one overloaded queue, with its interval; None if a run has a zero."""
    ours, stock = ([run.metrics[name] for run in queue[of]] for of in (timer, STOCK))
    found = ratio_interval(ours, stock, 0.95)
    return Ratio(*found) if found else None


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    paths = _by_path([run for run in runs if "requests" in run.metrics])
    if not paths:
        return {}
    cells, late = _cells(paths), _cells(paths, "_late")
    queues = overloaded(runs)
    rows = [*tables.against_stock(cells, TAIL, ELSEWHERE), _spurious_criterion(cells)]
    rows += tables.against_floor(cells)
    fades = next((c for c in cells if c.path == FADES), None)
    if fades:
        values = (verdict(_overrun_ratio(fades, timer), 0.40) for timer in OURS)
        rows.append(["mean overrun past a fade of 0.2 to 8 s", "≤ 0.40 × stock", *values])
    rows += _queue_criteria(queues)
    for figure in (P99, P999):
        what = f"{figure}, all paths, from a connection's {LEARNED + 1}st request on"
        over = (spread(overall(late, timer, figure, floor=True)) for timer in OURS)
        rows.append([what, f"no criterion (× {tables.FLOOR})", *over])
    return {
        "learned": LEARNED,
        "criteria": tables.criteria(rows),
        "by_timer": [tables.of_timer(cells, timer) for timer in TIMERS],
        "cells": cells,
        "late": {c.path: c for c in late},
        "fades": fades,
        "overrun_ratio": _overrun_ratio,
        "queues": queues,
        "over_stock": _over_stock,
        "timers": TIMERS,
        **tables.TOOLS,
        "figures": [Figure("images/simulated.svg", "", tables.chart(cells, with_intervals=False))],
    }


def _spurious_criterion(cells: Sequence[SeedsCell]) -> Row:
    row = ["spurious, mean of the paths", "≤ stock + 1 in 1,000"]
    for timer in OURS:
        found = [c.over_stock(timer, "spurious", "segments") for c in cells]
        more = [(1000 * (ours[0] - stock[0]), 1000 * (ours[1] - stock[1])) for ours, stock in found]
        drawn = np.mean([d for _, d in more], axis=0)
        low, high = interval(drawn)
        over = [c.path for c, (_, d) in zip(cells, more, strict=True) if interval(d)[0] > 1]
        where = f"; above it on {', '.join(over)}" if over else ""
        value = np.mean([v for v, _ in more])
        row.append(f"{value:+.2f} ({low:+.2f} to {high:+.2f}): {how(1, drawn)}{where}")
    return row


def _overrun_ratio(c: SeedsCell, timer: str) -> Drawn:
    ours, stock = c.over_stock(timer, "overruns_ms", "overruns")
    return ours[0] / stock[0], ours[1] / stock[1]


def _queue_criteria(queues: Mapping[str, ByTimer]) -> Iterator[Row]:
    """Yields table rows with the criteria for goodput and dropped packets, each judged at the one of the
    overloaded `queues` where our timer does worst."""
    for part, name, limit, at_least in (("goodput", GOODPUT, 0.98, True), ("drops", DROPS, 1.10, False)):
        some = {path: queue for path, queue in queues.items() if compared(queue, OURS[0], name)}
        if not some:
            continue
        row = [f"{part}, worst of {counted(len(some), 'overloaded queue')}"]
        row.append(f"{'≥' if at_least else '≤'} {limit:.2f} × stock")
        for timer in OURS:
            found = {path: of for path, queue in some.items() if (of := compared(queue, timer, name))}
            worst = (min if at_least else max)(found, key=lambda path: found[path][0])
            _, low, high = found[worst]
            kept, broken = (low >= limit, high < limit) if at_least else (high <= limit, low > limit)
            said = "met" if kept else "missed" if broken else "undecided"
            row.append(f"{found[worst]}: {said}, {worst}")
        yield row


def _over_stock(queue: ByTimer, timer: str, name: str) -> str:
    if found := compared(queue, timer, name):
        return str(found)
    return f"{metric(queue[timer], name).mean():,.0f} a run"


def fill_guard(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    """Returns the variables of guard.md, which shows what the guard of the resend policy `priced` against
    overload costs on paths without an overloaded queue."""
    cells = [c for c in _cells(_by_path(runs)) if c.reaches_the_tail]
    timers = [name + guard for name in OURS for guard in ("", NO_GUARD)]
    return {"cells": cells, "timers": timers, **tables.TOOLS} if cells else {}
