# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the page simulated.md, of response times under each timer in ns-3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency import tables
from experiments.latency.cells import (
    FIGURES,
    KEPT,
    OURS,
    P99,
    P999,
    STATIC,
    STOCK,
    Cell,
    SeedsCell,
    Timer,
    overall,
)
from experiments.latency.tables import Row
from experiments.lib.batches import Batch, Figures, SimulatedRuns
from experiments.lib.pages import Figure, scenarios
from experiments.lib.runs import Run
from experiments.lib.statistics import Drawn, how, interval, spread, verdict
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, milliseconds, ratio
from tcplearn.simulate.interval import ratio_interval

PEERS = (*STATIC, "thin linear", "no probes")
#: The number of requests of a connection after which its learned timer has settled.
LEARNED = 300
METRICS = ("needless_resends_permille", "sent_packets", "probes", "timeouts", "overruns", "mean_overrun_ms")
TAIL, ELSEWHERE, FADES = "where losses reach the tail", "elsewhere", "fades"
NO_GUARD = ":most_loss=1,most_loss_queued=1"
_NAMES = {"linear": "thin linear", "stock/no-probe": "no probes"}


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
    return {
        "goodput_mbps": m["goodput_mbps"] * m["flows"],
        "queue_dropped_packets": m["queue_dropped_packets"],
    }, {}


def timer_of(run: Run) -> str:
    """Returns the title of the run's timer, the same as in lab.md."""
    spec = str(run.labels["tcp.resend"])
    name, _, floor = spec.partition(":rto_min_us=")
    return f"rto_min {int(floor) // 1000} ms" if floor else _NAMES.get(name, spec)


def _by_path(runs: Sequence[Run]) -> dict[str, dict[str, list[Run]]]:
    """Returns the runs by path and timer. A seed that one timer lacks on a path is left out for all
    timers."""
    out: dict[str, dict[str, dict[int, Run]]] = {}
    for run in runs:
        out.setdefault(str(run.labels["variant"]), {}).setdefault(timer_of(run), {})[run.seed] = run
    shared = {
        path: sorted(set.intersection(*(set(of) for of in timers.values()))) for path, timers in out.items()
    }
    return {
        path: {timer: [of[seed] for seed in shared[path]] for timer, of in timers.items()}
        for path, timers in out.items()
        if len(shared[path]) > 1
    }


def _cells(paths: Mapping[str, Mapping[str, Sequence[Run]]], late: str = "") -> list[SeedsCell]:
    return [
        SeedsCell(path, {timer: Timer.of_ns3(runs, late) for timer, runs in timers.items()})
        for path, timers in paths.items()
    ]


class Overload:
    """One overloaded queue: the goodput and the dropped packets of each run, by timer."""

    def __init__(self, path: str, timers: Mapping[str, Sequence[Run]]) -> None:
        self.path = path
        self.values = {
            part: {timer: [run.metrics[metric] for run in runs] for timer, runs in timers.items()}
            for part, metric in (("goodput", "goodput_mbps"), ("drops", "queue_dropped_packets"))
        }

    def compared(self, timer: str, part: str) -> tuple[float, float, float] | None:
        """Returns the geometric mean over runs of the ratio of `part` ("goodput" or "drops") under `timer`
        to that under Linux's own timer, with its interval; None if a run has a zero."""
        return ratio_interval(self.values[part][timer], self.values[part][STOCK], 0.95)


def overloaded(runs: Sequence[Run]) -> list[Overload]:
    return [
        Overload(*item) for item in _by_path([run for run in runs if "requests" not in run.metrics]).items()
    ]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    requests = [run for run in runs if "requests" in run.metrics]
    paths = _by_path(requests)
    if not paths:
        return {}
    cells, late = _cells(paths), _cells(paths, "_late")
    queues = overloaded(runs)
    rows = [
        *tables.against_stock(cells, TAIL, ELSEWHERE),
        _spurious_criterion(cells),
        *tables.against_floor(cells),
    ]
    rows += [_overrun_criterion(c) for c in cells if c.path == FADES]
    rows += [*_queue_criteria(queues), *_late_rows(late)]
    return {
        "paths": len(cells),
        "learned": LEARNED,
        "criteria": tables.criteria(rows),
        "by_timer": tables.by_timer(cells, PEERS),
        "by_path": _table_by_path(cells, late),
        "fades": next((_overruns(c) for c in cells if c.path == FADES), ""),
        "queues": _queues(queues) if queues else "",
        "runs_each": counted(len(queues[0].values["drops"][STOCK]), "run") if queues else "",
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
        row.append(
            f"{np.mean([v for v, _ in more]):+.2f} ({low:+.2f} to {high:+.2f}): {how(1, drawn)}{where}"
        )
    return row


def _overrun_ratio(c: SeedsCell, timer: str) -> Drawn:
    ours, stock = c.over_stock(timer, "overruns_ms", "overruns")
    return ours[0] / stock[0], ours[1] / stock[1]


def _overrun_criterion(c: SeedsCell) -> Row:
    values = (verdict(_overrun_ratio(c, timer), 0.40) for timer in OURS)
    return ["mean overrun past a fade of 0.2 to 8 s", "≤ 0.40 × stock", *values]


def _late_rows(cells: Sequence[Cell]) -> Iterator[Row]:
    """Yields table rows with p99 and p99.9 of the response times of later requests of a connection, when its
    timer has learned, relative to those with the best fixed rto_min."""
    for figure in (P99, P999):
        what = f"{figure}, all paths, from a connection's {LEARNED + 1}st request on"
        values = (spread(overall(cells, timer, figure, floor=True)) for timer in OURS)
        yield [what, f"no criterion (× {tables.FLOOR})", *values]


def _queue_criteria(queues: Sequence[Overload]) -> Iterator[Row]:
    """Yields table rows with the criteria for goodput and dropped packets, each judged at the one of the
    overloaded `queues` where our timer does worst."""
    for part, limit, at_least in (("goodput", 0.98, True), ("drops", 1.10, False)):
        some = [queue for queue in queues if queue.compared(OURS[0], part)]
        if not some:
            continue
        row = [f"{part}, worst of {counted(len(some), 'overloaded queue')}"]
        row.append(f"{'≥' if at_least else '≤'} {limit:.2f} × stock")
        for timer in OURS:
            compared = {queue.path: of for queue in some if (of := queue.compared(timer, part))}
            worst = (min if at_least else max)(compared, key=lambda path: compared[path][0])
            value, low, high = compared[worst]
            kept = (low >= limit, high < limit) if at_least else (high <= limit, low > limit)
            said = "met" if kept[0] else "missed" if kept[1] else "undecided"
            row.append(f"{ratio(value)} ({ratio(low)}-{ratio(high)}): {said}, {worst}")
        yield row


def _table_by_path(cells: Sequence[Cell], late: Sequence[Cell]) -> str:
    head = ["requests a timer", *(f"stock: {f}" for f in FIGURES), "stock: spurious"]
    figures: dict[str, Any] = {f: (lambda k, timer, f=f: cells[k].ratio(timer, f)) for f in FIGURES}
    figures["× floor"] = lambda k, timer: cells[k].over_floor(timer, P999)
    figures["× floor, later"] = lambda k, timer: late[k].over_floor(timer, P999)
    return tables.by_path(
        cells, lambda c: f"{c.requests_of(STOCK):,} in {len(c.timers[STOCK].requests)}", figures, head
    )


def _overruns(c: SeedsCell) -> str:
    rows = []
    for timer in (*PEERS, *OURS):
        t = c.timers[timer]
        beside = "1" if timer == STOCK else spread(_overrun_ratio(c, timer))
        mean = milliseconds(float(t.overruns_ms.sum() / max(t.overruns.sum(), 1)))
        resends = f"{1000 * t.resends.sum() / c.requests_of(timer):.0f}"
        rows.append([timer, f"{t.overruns.sum():,.0f}", mean, beside, resends])
    return table_of(["timer", "fades", "mean overrun, ms", "× stock", "resends in 1,000 requests"], rows)


def _queues(queues: Sequence[Overload]) -> str:
    others = [t for t in queues[0].values["drops"] if t != STOCK]
    parts = [(timer, part) for timer in others for part in ("goodput", "drops")]
    head = ["queue", "stock: goodput, kbit/s", "drops", *(f"{t}: {part}" for t, part in parts)]
    rows = []
    for queue in queues:
        goodput, drops = (np.mean(queue.values[part][STOCK]) for part in ("goodput", "drops"))
        row = [queue.path, f"{1000 * goodput:.0f}", f"{drops:,.0f}"]
        for timer, part in parts:
            compared = queue.compared(timer, part)
            mean = f"{np.mean(queue.values[part][timer]):,.0f} a run"
            row.append("{} ({}-{})".format(*map(ratio, compared)) if compared else mean)
        rows.append(row)
    return table_of(head, rows)


def fill_guard(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    """Returns the table of guard.md, which shows what the guard of the resend policy `priced` against
    overload costs on paths without an overloaded queue: response times with and without it, relative to
    Linux's own timer."""
    cells = [c for c in _cells(_by_path(runs)) if c.reaches_the_tail]
    timers = [name + guard for name in OURS for guard in ("", NO_GUARD)]
    rows = (
        [[f"`{t}`", *(spread(overall(cells, t, figure)) for figure in FIGURES)] for t in timers]
        if cells
        else []
    )
    return {"price": table_of(["timer", *(f"{f}, × stock" for f in FIGURES)], rows)} if rows else {}
