# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the page experiments/live/lab.md, of response times on Debian's kernels in the lab. It compares
`tcplearn live` (learned minimum RTOs), stock Linux, fixed minimum RTOs and our kernel module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency.cells import P99, SEED, SLOW, STOCK, Cell, overall
from experiments.latency.lab import (
    by_path,
    by_timer,
    cells_by_path,
    lab_runs,
    more_spurious_drawn,
    overload_of,
)
from experiments.latency.loads import LOADS, Fades, Overload
from experiments.latency.tables import TOOLS
from experiments.lib.batches import Batch
from experiments.lib.pages import Figure, scenarios
from experiments.lib.runs import Floats, Run, select
from experiments.lib.statistics import Drawn, geometric_drawn, how, interval, spread, verdict
from tcplearn.output.numbers import counted

OURS, BOUNDED, MODULE = "live", "live-bounded", "priced"
#: The timers that are compared with stock, with their names and colours on the page.
NAMES = {
    "rto_min 5 ms": ("rto_min 5 ms", "#d55e00"),
    "rto_min 20 ms": ("rto_min 20 ms", "#999999"),
    MODULE: ("module, `priced`", "#56b4e9"),
    OURS: ("`tcplearn live`", "#0072b2"),
}
PROFILE = "live"
#: Profiles of other kernels, with the paths that are measured there.
LATER = {"live-on-6-12": "6.12", "live-on-7-3": "7.3"}
PATHS_LATER = ("thin-wired", "thin-slots", "thin-steps", "thin-no-timestamps")
FADES, OVERLOAD = "fades", "live-overload"
#: The titles of the loads that overload a queue: those of the page on the kernel module, and one of these
#: loads on kernel 7.3, where `tcplearn live` can bound the doubling of waits (`--backoff bounded`).
TITLES = LOADS | {"held-out-100-on-7-3": "100 flows, held out, kernel 7.3"}


def kept_last(scenario: str) -> tuple[bool, str]:
    """Returns the key by which scenarios are sorted: those reserved for the final figures are last."""
    return "kept" in scenario, scenario


def batches(folder: Path, profile: str) -> list[Batch]:
    folder = scenarios(folder, "linux", "lab", "scenarios")
    stems = sorted((file.stem for file in folder.glob("thin-*.toml")), key=kept_last)
    stems += sorted(file.stem for file in folder.glob("kept-live-*.toml"))
    published = [(stem, PROFILE) for stem in stems]
    published += [(stem, later) for later in LATER for stem in PATHS_LATER]
    published += [(FADES, name) for name in (PROFILE, "live-on-7-3")]
    return lab_runs(folder, profile, [*published, *((OVERLOAD, load) for load in TITLES)])


def cells_of(runs: Sequence[Run], **columns: Any) -> list[Cell]:
    """Returns the paths measured by those of the `runs` that have the given values, as for `select`."""
    return cells_by_path(by_path(select(runs, **columns), kept_last))


def fades_of(runs: Sequence[Run]) -> dict[str, Fades]:
    """Returns, by version of the kernel, the overruns: the times from a fade's end to the response to the
    request that was lost in it."""
    return {
        kernel: Fades(by_timer(of))
        for profile, kernel in ((PROFILE, "6.1"), ("live-on-7-3", "7.3"))
        if (of := select(runs, scenario=FADES, profile=profile))
    }


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    cells = cells_of(runs, profile=PROFILE)
    if not cells:
        return {}
    later = {kernel: cells_of(runs, profile=profile) for profile, kernel in LATER.items()}
    fades, overload = fades_of(runs), overload_of(runs, OVERLOAD, TITLES)
    lossy = [c for c in cells if c.reaches_the_tail]
    return {
        "criteria": _criteria(cells, fades, overload),
        "cells": cells,
        "by_timer": [_over_paths(timer, lossy, cells) for timer in (STOCK, *NAMES)],
        "later": {kernel: of for kernel, of in later.items() if of},
        "fades": fades,
        "overload": overload,
        "requests": f"{min(c.requests_of(OURS) for c in cells):,}",
        "names": {timer: name for timer, (name, _) in NAMES.items()},
        **TOOLS,
        "figures": [Figure("response-times.svg", "", _chart(cells))],
    }


def _criteria(cells: Sequence[Cell], fades: dict[str, Fades], overload: Overload) -> list[list[str]]:
    lost, rest = ([c for c in cells if c.reaches_the_tail is at_work] for at_work in (True, False))
    rows = []
    where = f"where stock's timer resends for 1 % of requests or more ({counted(len(lost), 'path')})"
    for figure, limit in ((P99, 0.65), (SLOW, 0.70)):
        found = verdict(overall(lost, OURS, figure), limit)
        rows.append([f"{figure}, {where}", f"≤ {limit:.2f} × stock", found])
        found = verdict(geometric_drawn([over(c, MODULE, figure) for c in lost]), 1.10)
        rows.append([f"{figure}, there", "≤ 1.10 × the module", found])
    worse = [
        f"{c.path} {figure} {spread(c.ratio(OURS, figure))}"
        for c in rest
        for figure in (P99, SLOW)
        if interval(c.ratio(OURS, figure)[1])[0] > 1.05
    ]
    what = f"p99 and slowest 2 % elsewhere ({counted(len(rest), 'path')})"
    told = f"missed: {'; '.join(worse)}" if worse else "met"
    rows += [[what, "no whole interval above 1.05 × stock", told], _spurious(cells)]
    variants = {OURS: "", BOUNDED: ", --backoff bounded"}
    for load, of in overload.loads.items():
        for timer, which in variants.items():
            rows += overload.criteria(load, [timer], which) if timer in of else []
    for kernel, by in fades.items():
        what = f"mean overrun past the end of a fade, kernel {kernel}"
        if OURS in by.timers:
            rows.append([what, "stated", spread(by.over_stock(OURS))])
        if BOUNDED in by.timers:
            found = verdict(by.over_stock(BOUNDED), 0.6)
            rows.append([what + variants[BOUNDED], "≤ 0.6 × stock", found])
    return rows


def over(c: Cell, timer: str, figure: str) -> Drawn:
    """Returns `figure` (such as the p99 response time) under `tcplearn live`, divided by that under `timer`,
    on the path `c`, with bootstrap samples."""
    (ours, ours_drawn), (other, other_drawn) = (c.ratio(name, figure) for name in (OURS, timer))
    return ours / other, ours_drawn / np.asarray(other_drawn)


def more_spurious(cells: Sequence[Cell]) -> dict[str, Floats]:
    """Returns, by path, bootstrap samples of how many more spurious retransmissions in 1,000 segments there
    are with `tcplearn live` than with Linux's own timer."""
    rng = np.random.default_rng(SEED)
    return {c.path: more_spurious_drawn(c, OURS, rng) for c in cells}


def _spurious(cells: Sequence[Cell]) -> list[str]:
    drawn = more_spurious(cells)
    verdicts = {path: how(1.0, of) for path, of in drawn.items()}
    words = ("met", "undecided", "missed")
    counts = ", ".join(f"{word} on {list(verdicts.values()).count(word)}" for word in words)
    apart = [
        f"{path} {np.mean(of):+.1f} ({interval(of)[0]:+.1f} to {interval(of)[1]:+.1f})"
        for path, of in drawn.items()
        if verdicts[path] != "met"
    ]
    what = "spurious retransmissions in 1,000 segments, each path: more than stock's"
    return [what, "≤ +1", f"{counts}{': ' if apart else ''}{'; '.join(apart)}"]


def _over_paths(timer: str, lossy: Sequence[Cell], cells: Sequence[Cell]) -> list[str]:
    """Returns a table row that compares `timer` with stock over the paths that lose packets and over all."""
    groups = [(of, figure) for of in (lossy, cells) for figure in (P99, SLOW)]
    ratios = ("1" if timer == STOCK else spread(overall(of, timer, figure)) for of, figure in groups)
    spurious = {c.path: c.timers[timer].spurious_permille for c in cells}
    worst = max(spurious, key=lambda path: spurious[path])
    name = STOCK if timer == STOCK else NAMES[timer][0]
    return [name, *ratios, f"{np.mean([*spurious.values()]):.1f}", f"{spurious[worst]:.1f} ({worst})"]


def _chart(cells: Sequence[Cell]) -> Any:
    """Returns a Vega-Lite chart that shows, for each path and timer, the mean of the slowest 2 % of response
    times divided by that under stock Linux."""
    import altair as alt

    colours = {name.replace("`", ""): colour for name, colour in NAMES.values()}
    rows = []
    for c in cells:
        for timer, name in zip(NAMES, colours, strict=True):
            value, drawn = c.ratio(timer, SLOW)
            low, high = interval(drawn)
            rows.append({"path": c.path, "timer": name, "ratio": value, "low": low, "high": high})
    colour = alt.Color("timer:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=list(colours), range=list(colours.values())
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("path:N", title=None, sort=[c.path for c in cells]), yOffset="timer:N", color=colour
    )
    across = alt.Scale(type="log", nice=False)
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        x=alt.X("ratio:Q", title="mean of the slowest 2 % of response times, × stock", scale=across)
    )
    lines = base.mark_rule().encode(x=alt.X("low:Q", title="", scale=across), x2="high:Q")
    one = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_rule(strokeDash=[3, 3]).encode(x="x:Q")
    return (one + lines + points).properties(width=560, height={"step": 12}).to_dict()
