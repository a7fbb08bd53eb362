# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the page lab.md, of response times under each timer in the lab (real Linux TCP)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency import loads, tables
from experiments.latency.cells import (
    DRAWS,
    DSACK,
    FIGURES,
    LOADED,
    OURS,
    P99,
    P999,
    PROBES,
    SEED,
    SLOW,
    STATIC,
    STOCK,
    TIMEOUTS,
    Cell,
    Timer,
    overall,
    too_few,
)
from experiments.lib.batches import Batch, Figures, LabRuns
from experiments.lib.pages import Figure, scenarios
from experiments.lib.runs import Run, grouped, select
from experiments.lib.statistics import how, interval, means_drawn, spread
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import listed, milliseconds, ratio

PEERS = (*STATIC, "thin linear", "RACK and probes off")
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


def keep(chosen: Any, folder: Path, measured: Mapping[str, float]) -> Figures:
    """Returns what is stored of one timer's part of a run: numbers (such as kernel counters) and series, both
    by name. There is a series of response times or, at an overloaded queue, of durations of blocks of
    responses. If the path has outages drawn at random, there are also their lengths and overruns (the times
    from an outage's end to the response to the request lost in it)."""
    from tcplearn.lab import fades, results

    names = (DSACK, PROBES, TIMEOUTS, "goodput_mbps", "jain_index", "queue_dropped_packets")
    metrics = {name: measured[name] for name in names if name in measured}
    metrics |= {name: 0.0 for name in (DSACK, PROBES, TIMEOUTS) if name not in metrics}
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


def batches(folder: Path, profile: str) -> list[Batch]:
    """Returns the batches of runs of the page lab.md or, if `profile` is not "", only the runs of the path
    `wired` under this profile (a named set of changes to the scenario file)."""
    folder = scenarios(folder, "linux", "lab", "scenarios")

    def of(stem: str, profile: str) -> LabRuns:
        return LabRuns(folder / f"{stem}.toml", profile, keep)

    if profile:
        return [of(WIRED, profile)]
    stems = [file.stem for file in folder.glob("thin-*.toml")]
    stems.sort(
        key=lambda stem: ("kept" in stem, stem != WIRED, stem)
    )  # scenarios that were reserved for the final figures ("kept") are last
    found = [of(stem, "full") for stem in stems] + [of("fades", "full")]
    found += [of("overload", profile) for profile in loads.LOADS]
    found += [of(stem, "bulk") for stem in stems if stem != WITHOUT_BULK]
    found += [of(stem, "beside") for stem in stems if stem in BESIDE]
    found += [of(stem, profile) for profile in WORKLOADS for stem in stems if stem in WAYS]
    return [*found, *(of("programs-requests", profile) for profile in VISITS)]


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


def _by_timer(runs: Sequence[Run]) -> dict[str, list[Run]]:
    return grouped(sorted(runs, key=lambda run: run.run), lambda run: timer_of(run.algorithm))


def _by_path(runs: Sequence[Run]) -> dict[str, dict[str, list[Run]]]:
    paths = grouped(runs, lambda run: run.scenario.removeprefix("thin-"))
    order = sorted(paths, key=lambda path: ("kept" in path, path != "wired", path))
    return {path: _by_timer(paths[path]) for path in order}


def _cells(paths: Mapping[str, Mapping[str, Sequence[Run]]]) -> list[Cell]:
    made = ((path, {t: Timer.of_lab(runs) for t, runs in timers.items()}) for path, timers in paths.items())
    return [Cell(path, timers) for path, timers in made if STOCK in timers]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    def thin(profile: str) -> dict[str, dict[str, list[Run]]]:
        return _by_path([run for run in select(runs, profile=profile) if run.scenario.startswith("thin-")])

    cells = _cells(thin("full"))
    if not cells:
        return {}
    bulk = [loads.Bulk(path, timers) for path, timers in thin("bulk").items()]
    fades = loads.Fades(_by_timer(select(runs, scenario="fades")))
    by_load = {p: _by_timer(select(runs, scenario="overload", profile=p)) for p in loads.LOADS}
    overload = loads.Overload({profile: of for profile, of in by_load.items() if of})
    beside = thin("beside")
    visits = {
        what: _by_timer(select(runs, scenario="programs-requests", profile=p)) for p, what in VISITS.items()
    }
    visited = _cells(visits)
    others = {what: _cells(thin(profile)) for profile, what in WORKLOADS.items()}
    rows = [*tables.against_stock(cells, TAIL, ELSEWHERE), _spurious_criterion(cells)]
    rows += tables.against_floor(cells, lambda timer, figure: _of_other_paths(cells, timer, figure))
    loaded = [*loads.bulk_criteria(bulk)] if bulk else []
    if fades.timers:
        loaded.append(fades.criterion())
    loaded += [*overload.criteria(), *loads.beside_criteria(beside)]
    figures = [Figure("images/lab.svg", "", tables.chart(cells, with_intervals=True))]
    if fades.timers:
        figures.append(Figure("images/lab-fades.svg", "", fades.chart()))
    wired = next((c for c in cells if c.path == "wired"), None)
    return {
        "paths": len(cells),
        "criteria": tables.criteria(rows),
        "load_criteria": tables.criteria(loaded, LOADED),
        "by_timer": tables.by_timer(cells, PEERS),
        "by_path": _table_by_path(cells),
        "against_floor": _against_floor(cells),
        "wired_requests": f"{wired.requests_of(STOCK):,}" if wired else "",
        "wired": _wired(wired) if wired else "",
        "bulk": loads.bulk(bulk),
        "by_workload": tables.by_workload({what: of for what, of in others.items() if of}, PEERS),
        "fades": fades.table(),
        "blocks": loads.BLOCKS,
        "dispersion": f"{overload.dispersion:.1f}",
        "overload": overload.table(),
        "beside": loads.beside_stock(beside),
        "programs": loads.by_program(visited),
        # for figures within sentences and in the tables at the page's end
        "ours": OURS,
        "cells": cells,
        "lossy": [c for c in cells if c.reaches_the_tail],
        "on": {c.path: c for c in cells},
        "ways": {profile: {c.path: c for c in others[what]} for profile, what in WORKLOADS.items()},
        "visited": {c.path: c for c in visited},
        "fade": fades,
        "all_bulk": loads.all_bulk(bulk),
        "higher": {
            t: _listed([c.path for c in cells if interval(c.over_floor(t, P999)[1])[0] > 1]) for t in OURS
        },
        "drops": lambda *profiles: _between([overload.drops(p, t)[0] for p in profiles for t in OURS]),
        "overall": overall,
        "spurious": tables.spurious,
        "spread": spread,
        "ms": milliseconds,
        "ratio": ratio,
        "figures": figures,
    }


def _listed(names: Sequence[str]) -> str:
    return listed(names) if names else "none"


def _between(values: Sequence[float]) -> str:
    return f"{ratio(min(values))} to {ratio(max(values))}"


TAIL, ELSEWHERE = "where stock's timer resends for 1 % of requests or more", "elsewhere (°)"


def _table_by_path(cells: Sequence[Cell]) -> str:
    head = ["requests of each timer", "stock: p99", "stock: slowest 2 %", "stock: spurious in 1,000"]
    figures = {f: (lambda k, timer, f=f: cells[k].ratio(timer, f)) for f in (P99, SLOW)}
    return tables.by_path(cells, lambda c: f"{c.requests_of(STOCK):,}", figures, head)


def _against_floor(cells: Sequence[Cell]) -> str:
    """Returns a table of response times under `priced` and `priced/spaced` relative to those under each
    path's best fixed rto_min."""
    figures = [figure for figure in FIGURES if not any(too_few(c, figure) for c in cells)]
    pairs = [(timer, figure) for timer in OURS for figure in figures]
    rows = [[c.path, *(spread(c.over_floor(*pair)) for pair in pairs)] for c in cells]
    return table_of(["path", *(f"`{timer}`: {figure}" for timer, figure in pairs)], rows)


def _wired(c: Cell) -> str:
    rows = []
    for timer in (*PEERS, *OURS):
        t = c.timers[timer]
        row = [timer, *(milliseconds(t.of(figure)) for figure in FIGURES), f"{t.spurious_permille:.1f}"]
        rows.append([*row, f"{1000 * t.resends.sum() / c.requests_of(timer):.1f}"])
    return table_of(["timer", *(f"{n}, ms" for n in FIGURES), "spurious in 1,000", "resends in 1,000"], rows)


def _other_paths(
    values: Sequence[float], text: Callable[[float], str], scale: Callable[[Any], Any] = np.asarray
) -> str:
    """Returns, as text, a bootstrap interval of the mean over other paths like the measured ones. `values`
    has a value for each measured path, `scale` is applied to the means, and `text` formats each end."""
    low, high = interval(scale(means_drawn(values, SEED, DRAWS)))
    return f"; other paths like these: {text(low)} to {text(high)}"


def _of_other_paths(cells: Sequence[Cell], timer: str, figure: str) -> str:
    return _other_paths([float(np.log(c.over_floor(timer, figure)[0])) for c in cells], ratio, np.exp)


def _spurious_criterion(cells: Sequence[Cell]) -> list[str]:
    what = "spurious retransmissions in 1,000 segments, all paths: more than stock's"
    return [what, "≤ +1", *(_more_spurious(cells, timer) for timer in OURS)]


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
