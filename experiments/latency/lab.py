# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the page lab.md, of response times under each timer in the lab (real Linux TCP)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency import loads, tables
from experiments.latency.cells import DRAWS, DSACK, OURS, PROBES, SEED, STATIC, STOCK, TIMEOUTS, Cell, Timer
from experiments.lib.batches import Batch, Figures, LabRuns
from experiments.lib.pages import Figure, scenarios
from experiments.lib.runs import Run, grouped, select
from experiments.lib.statistics import how, interval, means_drawn
from tcplearn.output.numbers import ratio

TIMERS = (*STATIC, "thin linear", "RACK and probes off", *OURS)
WIRED = "thin-wired"
#: Groups of scenarios: `WAYS` have the further workloads of `WORKLOADS`, `BESIDE` have transfers that compete
#: with a transfer under Linux's own timer, and `WITHOUT_BULK` has no bulk transfers.
WAYS = (WIRED, "thin-no-timestamps", "thin-delayed-acks", "thin-slots")
BESIDE = (WIRED, "thin-bloat", "thin-cellular")
WITHOUT_BULK = "thin-delayed-acks-200"
WORKLOADS = {
    "stream": "a message of 200 bytes each 30 ms",
    "fresh": "a connection for each request",
    "inherit": "a connection for each request, begun with what the one before learned",
    "page": "30 objects of 10 kB at once",
}
#: Profiles of programs-requests.toml, which measures real programs, with their titles on the page.
VISITS = {"full": "nginx, connection kept", "fresh": "nginx, a connection each", "echo": "lines echoed"}
TAIL, ELSEWHERE = "where stock's timer resends for 1 % of requests or more", "elsewhere (°)"


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of one timer's part of a run: numbers (such as kernel counters) and series, both
    by name. There is a series of response times or, at an overloaded queue, of durations of blocks of
    responses. If the path has outages drawn at random, there are also their lengths and overruns (the times
    from an outage's end to the response to the request lost in it)."""
    from tcplearn.lab import fades, results

    metrics = {name: measured.get(name, 0.0) for name in (DSACK, PROBES, TIMEOUTS)}
    names = ("goodput_mbps", "jain_index", "queue_dropped_packets")
    metrics |= {name: measured[name] for name in names if name in measured}
    metrics["data_segments"] = results.data_segments(folder)
    series = {}
    if (folder / "requests").exists():
        took_us, started_us = np.loadtxt(folder / "requests", dtype=np.float64, ndmin=2).T
        if "queue_dropped_packets" in metrics:
            metrics["answers"] = float(len(took_us))
            series["block_us"] = loads.blocks_us(took_us, started_us)
        else:
            series["response_us"] = took_us
    if chosen.path.drawn_fades:
        series |= dict(zip(("fade", "fade_length_ms", "overrun_ms"), fades.overruns(folder).T, strict=True))
    return metrics, series


def wired_first(scenario: str) -> tuple[bool, bool, str]:
    """Returns the key by which scenarios are sorted: those that were reserved for the final figures ("kept")
    are last."""
    return "kept" in scenario, scenario != WIRED, scenario


def lab_runs(folder: Path, profile: str, published: Sequence[tuple[str, str]]) -> list[Batch]:
    """Returns the batches of runs for a page: one for each scenario and profile in `published` or, if
    `profile` is not "", only one, for the path `wired` under `profile`. A profile is a named set of changes
    to the scenario file."""
    chosen = [(WIRED, profile)] if profile else published
    return [LabRuns(folder / f"{stem}.toml", name, keep) for stem, name in chosen]


def batches(folder: Path, profile: str) -> list[Batch]:
    folder = scenarios(folder, "linux", "lab", "scenarios")
    stems = sorted((file.stem for file in folder.glob("thin-*.toml")), key=wired_first)
    published = [(stem, "full") for stem in (*stems, "fades")]
    published += [("overload", load) for load in loads.LOADS]
    published += [(stem, "bulk") for stem in stems if stem != WITHOUT_BULK]
    published += [(stem, "beside") for stem in stems if stem in BESIDE]
    published += [(stem, way) for way in WORKLOADS for stem in stems if stem in WAYS]
    return lab_runs(folder, profile, [*published, *(("programs-requests", visit) for visit in VISITS)])


def timer_of(algorithm: str) -> str:
    """Returns the title on the page lab.md of the timer in `algorithm`, the lab's name of an algorithm."""
    _, first, *more = algorithm.split("+")
    if "linear" in more:
        return "thin linear"
    if live := [word for word in more if word.startswith("live")]:
        return live[0]
    if "no-rack" in more:
        return "RACK and probes off"
    floor = next((word for word in more if word.startswith("rto_min-")), "")
    return f"rto_min {floor.removeprefix('rto_min-').removesuffix('ms')} ms" if floor else first


def by_timer(runs: Sequence[Run]) -> dict[str, list[Run]]:
    return grouped(sorted(runs, key=lambda run: run.run), lambda run: timer_of(run.algorithm))


def by_path(runs: Sequence[Run], key: Callable[[str], Any] = wired_first) -> dict[str, dict[str, list[Run]]]:
    """Returns the runs with few segments in flight by path and timer. `key` sorts the scenarios."""
    paths = grouped(runs, lambda run: run.scenario)
    thin = sorted((path for path in paths if path.startswith(("thin-", "kept-"))), key=key)
    return {path.removeprefix("thin-"): by_timer(paths[path]) for path in thin}


def cells_by_path(paths: Mapping[str, Mapping[str, Sequence[Run]]]) -> list[Cell]:
    made = ((path, {t: Timer.of_lab(runs) for t, runs in timers.items()}) for path, timers in paths.items())
    return [Cell(path, timers) for path, timers in made if STOCK in timers]


def overload_of(runs: Sequence[Run], scenario: str, titles: Mapping[str, str]) -> loads.Overload:
    by_load = {load: by_timer(select(runs, scenario=scenario, profile=load)) for load in titles}
    return loads.Overload({load: of for load, of in by_load.items() if of}, titles)


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    def thin(profile: str) -> dict[str, dict[str, list[Run]]]:
        return by_path(select(runs, profile=profile))

    cells = cells_by_path(thin("full"))
    if not cells:
        return {}
    bulk = [loads.Bulk(path, timers) for path, timers in thin("bulk").items()]
    beside = thin("beside")
    fades = loads.Fades(by_timer(select(runs, scenario="fades")))
    overload = overload_of(runs, "overload", loads.LOADS)
    ways = {profile: cells_by_path(thin(profile)) for profile in WORKLOADS}
    programs = select(runs, scenario="programs-requests")
    visits = {title: by_timer(select(programs, profile=profile)) for profile, title in VISITS.items()}
    more = "spurious retransmissions in 1,000 segments, all paths: more than stock's"
    rows = [
        *tables.against_stock(cells, TAIL, ELSEWHERE),
        [more, "≤ +1", *(_more_spurious(cells, timer) for timer in OURS)],
        *tables.against_floor(cells, partial(_of_other_paths, cells)),
    ]

    def drops(*profiles: str) -> str:
        values = [overload.drops(profile, timer)[0] for profile in profiles for timer in OURS]
        return f"{ratio(min(values))} to {ratio(max(values))}"

    return {
        "criteria": tables.criteria(rows),
        "by_timer": [tables.of_timer(cells, timer) for timer in TIMERS],
        "by_workload": [row for way, of in ways.items() if of for row in _workload(WORKLOADS[way], of)],
        "fades": fades,
        "overload": overload,
        "blocks": loads.BLOCKS,
        "beside": beside,
        "bulk": bulk,
        "least_throughput": loads.least_throughput,
        "throughput": loads.throughput,
        "resends": loads.resends,
        "resends_by_path": loads.resends_by_path,
        "timers": TIMERS,
        "cells": cells,
        "lossy": [c for c in cells if c.reaches_the_tail],
        "on": {c.path: c for c in cells},
        "ways": {profile: {c.path: c for c in of} for profile, of in ways.items()},
        "visited": {c.path: c for c in cells_by_path(visits)},
        "drops": drops,
        **tables.TOOLS,
        "figures": [
            Figure("images/lab.svg", "", tables.chart(cells, with_intervals=True)),
            Figure("images/lab-fades.svg", "", fades.chart()),
        ],
    }


def _workload(title: str, cells: Sequence[Cell]) -> list[tables.Row]:
    head = [title, str(len(cells)), f"{min(c.requests_of(STOCK) for c in cells):,}"]
    timers = (timer for timer in TIMERS if all(timer in c.timers for c in cells))
    return [[*head, *tables.of_timer(cells, timer)] for timer in timers]


def _other_paths(
    values: Sequence[float], text: Callable[[float], str], scale: Callable[[Any], Any] = np.asarray
) -> str:
    """Returns, as text, a bootstrap interval of the mean over other paths like the measured ones. `values`
    has a value for each measured path, `scale` is applied to the means, and `text` formats each end."""
    low, high = interval(scale(means_drawn(values, SEED, DRAWS)))
    return f"; other paths like these: {text(low)} to {text(high)}"


def _of_other_paths(cells: Sequence[Cell], timer: str, figure: str) -> str:
    return _other_paths([float(np.log(c.over_floor(timer, figure)[0])) for c in cells], ratio, np.exp)


def _more_spurious(cells: Sequence[Cell], timer: str) -> str:
    more = [c.timers[timer].spurious_permille - c.timers[STOCK].spurious_permille for c in cells]
    rng = np.random.default_rng(SEED)
    drawn = np.mean([more_spurious_drawn(c, timer, rng) for c in cells], axis=0)
    low, high = interval(drawn)
    others = _other_paths(more, "{:+.2f}".format)
    return f"{np.mean(more):+.2f} ({low:+.2f} to {high:+.2f}): {how(1, drawn)}{others}"


def more_spurious_drawn(c: Cell, timer: str, rng: np.random.Generator) -> Any:
    """Returns bootstrap samples of the spurious retransmissions per 1,000 segments under `timer` minus those
    under Linux's own timer, on the path `c`; nan if there is only one run. A sample draws run numbers, which
    the timers share. The variance of the samples is corrected, because that of the mean of n drawn runs is
    too small by the factor (n - 1)/n."""
    ours, stock = c.timers[timer], c.timers[STOCK]
    n = min(len(ours.segments), len(stock.segments))
    if n < 2:
        return np.full(DRAWS, np.nan)
    at = rng.integers(0, n, (DRAWS, n))
    permille = [
        1000 * t.spurious[at].sum(axis=1) / np.maximum(t.segments[at].sum(axis=1), 1) for t in (ours, stock)
    ]
    drawn = permille[0] - permille[1]
    value = ours.spurious_permille - stock.spurious_permille
    return value + (drawn - drawn.mean()) * np.sqrt(n / (n - 1))
