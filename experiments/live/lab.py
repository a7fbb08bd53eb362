# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the page experiments/live/lab.md, of response times on Debian's kernels in the lab. It compares
`tcplearn live` (learned minimum RTOs), stock Linux, fixed minimum RTOs and our kernel module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.latency.cells import P99, SEED, SLOW, STOCK, Cell, Timer
from experiments.latency.lab import keep, more_spurious_drawn, timer_of
from experiments.latency.loads import LOADS, Fades, Overload
from experiments.lib.batches import LabRuns
from experiments.lib.pages import Figure, scenarios
from experiments.lib.runs import Floats, Run, grouped, select
from experiments.lib.statistics import Drawn, geometric_drawn, how, interval, spread, verdict
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, milliseconds

OURS, BOUNDED, MODULE = "live", "live-bounded", "priced"
PROFILE = "live"
#: Profiles of other kernels, with the paths that are measured there.
LATER = {"live-on-6-12": "6.12", "live-on-7-3": "7.3"}
FADES, OVERLOAD = "fades", "live-overload"
#: The titles of the loads that overload a queue: those of the page on the kernel module, and one of these
#: loads on kernel 7.3, where `tcplearn live` can bound the doubling of waits (`--backoff bounded`).
TITLES = LOADS | {"held-out-100-on-7-3": "100 flows, held out, kernel 7.3"}
PATHS_LATER = ("thin-wired", "thin-slots", "thin-steps", "thin-no-timestamps")
#: Largest ratios on paths where stock's timer retransmits for at least one request in a hundred: of p99 and
#: of the slowest 2 % to stock's, and of both to the module's. On other paths, of both to stock's.
P99_LIMIT, SLOW_LIMIT, MODULE_LIMIT, ELSEWHERE_LIMIT = 0.65, 0.70, 1.10, 1.05
#: The most additional spurious retransmissions in 1,000 segments, compared with stock; and, with `--backoff
#: bounded`, the largest ratio of the mean overrun (time from a fade's end to the response to the request lost
#: in it) to stock's.
MORE_LIMIT, FADES_LIMIT = 1.0, 0.6
#: Where many connections at once overload a queue: the smallest ratio to stock of the answers per second, and
#: the largest of the drops per answer.
ANSWERS_LIMIT, DROPS_LIMIT = 0.98, 1.1


def batches(folder: Path, profile: str) -> list[LabRuns]:
    """Returns the batches of runs of experiments/live/lab.md or, if `profile` is not "", only the runs of the
    path `wired` under this profile (a named set of changes to the scenario file)."""
    folder = scenarios(folder, "linux", "lab", "scenarios")

    def of(stem: str, profile: str) -> LabRuns:
        return LabRuns(folder / f"{stem}.toml", profile, keep)

    if profile:
        return [of("thin-wired", profile)]
    stems = sorted(
        (file.stem for file in folder.glob("thin-*.toml")), key=lambda stem: ("kept" in stem, stem)
    )
    stems += sorted(file.stem for file in folder.glob("kept-live-*.toml"))
    found = [of(stem, PROFILE) for stem in stems]
    found += [of(stem, later) for later in LATER for stem in PATHS_LATER]
    found += [of(FADES, PROFILE), of(FADES, "live-on-7-3")]
    return [*found, *(of(OVERLOAD, load) for load in TITLES)]


def timers_of(runs: Sequence[Run]) -> dict[str, list[Run]]:
    return grouped(sorted(runs, key=lambda run: run.run), lambda run: timer_of(run.algorithm))


def cells_of(runs: Sequence[Run]) -> list[Cell]:
    paths = grouped([run for run in runs if run.scenario != FADES], lambda run: run.scenario)
    made = (
        (path.removeprefix("thin-"), {timer: Timer.of_lab(of) for timer, of in timers_of(runs).items()})
        for path, runs in sorted(paths.items(), key=lambda item: ("kept" in item[0], item[0]))
    )
    return [Cell(path, timers) for path, timers in made if STOCK in timers]


def fades_of(runs: Sequence[Run]) -> dict[str, Fades]:
    """Returns, by version of the kernel, the overruns: the times from a fade's end to the response to the
    request that was lost in it."""
    return {
        kernel: Fades(timers_of(of))
        for profile, kernel in ((PROFILE, "6.1"), ("live-on-7-3", "7.3"))
        if (of := select(runs, scenario=FADES, profile=profile))
    }


def overload_of(runs: Sequence[Run]) -> Overload:
    by_load = {load: timers_of(select(runs, scenario=OVERLOAD, profile=load)) for load in TITLES}
    return Overload({load: of for load, of in by_load.items() if of}, TITLES)


def fill(runs: Sequence[Run], _folder: Path) -> dict[str, Any]:
    cells = cells_of(select(runs, profile=PROFILE))
    if not cells:
        return {}
    later = {kernel: cells_of(select(runs, profile=profile)) for profile, kernel in LATER.items()}
    fades, overload = fades_of(runs), overload_of(runs)
    return {
        "overload": overload.table(),
        "criteria": table_of(["figure", "criterion", "measured"], _criteria(cells, fades, overload)),
        "paths": counted(len(cells), "path"),
        "requests": f"{min(c.requests_of(OURS) for c in cells):,}",
        "by_timer": _by_timer(cells),
        "by_path": _by_path(cells),
        "later": {kernel: _by_path(of) for kernel, of in later.items() if of},
        "fades": {kernel: of.table() for kernel, of in fades.items()},
        "figures": [Figure("response-times.svg", "", _chart(cells))],
    }


def _criteria(cells: Sequence[Cell], fades: dict[str, Fades], overload: Overload) -> list[list[str]]:
    lost, rest = ([c for c in cells if c.reaches_the_tail is at_work] for at_work in (True, False))
    rows = []
    where = f"where stock's timer resends for 1 % of requests or more ({counted(len(lost), 'path')})"
    for figure, limit in ((P99, P99_LIMIT), (SLOW, SLOW_LIMIT)):
        found = geometric_drawn([c.ratio(OURS, figure) for c in lost])
        rows.append([f"{figure}, {where}", f"≤ {limit:.2f} × stock", verdict(found, limit)])
        found = geometric_drawn([over(c, MODULE, figure) for c in lost])
        rows.append([f"{figure}, there", f"≤ {MODULE_LIMIT:.2f} × the module", verdict(found, MODULE_LIMIT)])
    worse = [
        f"{c.path} {figure} {spread(c.ratio(OURS, figure))}"
        for c in rest
        for figure in (P99, SLOW)
        if interval(c.ratio(OURS, figure)[1])[0] > ELSEWHERE_LIMIT
    ]
    what = f"p99 and slowest 2 % elsewhere ({counted(len(rest), 'path')})"
    told = f"missed: {'; '.join(worse)}" if worse else "met"
    rows.append([what, f"no whole interval above {ELSEWHERE_LIMIT:.2f} × stock", told])
    rows.append(_spurious(cells))
    for load, of in overload.loads.items():
        for timer in (OURS, BOUNDED):
            if timer in of:
                rows += _overloaded(overload, load, timer)
    return rows + [
        _overrun(kernel, timer, of.over_stock(timer))
        for kernel, of in fades.items()
        for timer in (OURS, BOUNDED)
        if timer in of.timers
    ]


def _overloaded(overload: Overload, load: str, timer: str) -> list[list[str]]:
    what = overload.titles[load] + (", --backoff bounded" if timer == BOUNDED else "")
    answers, drops = overload.goodput(load, timer), overload.drops(load, timer)
    least = verdict(answers, ANSWERS_LIMIT, least=True)
    return [
        [f"{what}: answers a second", f"≥ {ANSWERS_LIMIT:.2f} × stock", least],
        [f"{what}: drops an answer", f"≤ {DROPS_LIMIT:.1f} × stock", verdict(drops, DROPS_LIMIT)],
    ]


def _overrun(kernel: str, timer: str, found: Drawn) -> list[str]:
    what = f"mean overrun past the end of a fade, kernel {kernel}"
    if timer == BOUNDED:
        return [f"{what}, --backoff bounded", f"≤ {FADES_LIMIT:.1f} × stock", verdict(found, FADES_LIMIT)]
    return [what, "stated", spread(found)]


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
    verdicts = {path: how(MORE_LIMIT, of) for path, of in drawn.items()}
    counts = ", ".join(
        f"{word} on {sum(of == word for of in verdicts.values())}" for word in ("met", "undecided", "missed")
    )
    apart = [
        f"{path} {np.mean(of):+.1f} ({interval(of)[0]:+.1f} to {interval(of)[1]:+.1f})"
        for path, of in drawn.items()
        if verdicts[path] != "met"
    ]
    what = "spurious retransmissions in 1,000 segments, each path: more than stock's"
    return [what, f"≤ +{MORE_LIMIT:.0f}", f"{counts}{': ' if apart else ''}{'; '.join(apart)}"]


def _named(timer: str) -> str:
    return {OURS: "`tcplearn live`", MODULE: "module, `priced`"}.get(timer, timer)


def _by_timer(cells: Sequence[Cell]) -> str:
    lost = [c for c in cells if c.reaches_the_tail]
    rows = []
    for timer in (t for t in (STOCK, "rto_min 5 ms", "rto_min 20 ms", MODULE, OURS)):
        row = [_named(timer)]
        for of in (lost, cells):
            for figure in (P99, SLOW):
                found = geometric_drawn([c.ratio(timer, figure) for c in of])
                row.append("1" if timer == STOCK else spread(found))
        worst = max(cells, key=lambda c: c.timers[timer].spurious_permille)
        row.append(f"{np.mean([c.timers[timer].spurious_permille for c in cells]):.1f}")
        rows.append([*row, f"{worst.timers[timer].spurious_permille:.1f} ({worst.path})"])
    head = ["timer", *(f"{f}, × stock, {w}" for w in ("timer at work", "all paths") for f in (P99, SLOW))]
    return table_of([*head, "spurious in 1,000", "worst path's"], rows)


def _by_path(cells: Sequence[Cell]) -> str:
    timers = [t for t in ("rto_min 5 ms", "rto_min 20 ms", MODULE, OURS) if t in cells[0].timers]
    head = ["path", "requests of each timer", *(f"stock: {f}, ms" for f in (P99, SLOW)), "stock: spurious"]
    head += [f"{_named(t)}: {what}" for t in timers for what in (P99, SLOW, "spurious")]
    rows = []
    for c in cells:
        stock = c.timers[STOCK]
        row = [f"{c.path}{'' if c.reaches_the_tail else ' °'}", f"{c.requests_of(OURS):,}"]
        row += [*(milliseconds(stock.of(f)) for f in (P99, SLOW)), f"{stock.spurious_permille:.1f}"]
        for timer in timers:
            row += [spread(c.ratio(timer, f)) for f in (P99, SLOW)]
            row.append(f"{c.timers[timer].spurious_permille:.1f}")
        rows.append(row)
    return table_of(head, rows)


def _chart(cells: Sequence[Cell]) -> Any:
    """Returns a Vega-Lite chart that shows, for each path and timer, the mean of the slowest 2 % of response
    times divided by that under stock Linux."""
    import altair as alt

    colours = {"rto_min 5 ms": "#d55e00", "rto_min 20 ms": "#999999", MODULE: "#56b4e9", OURS: "#0072b2"}
    rows = []
    for c in cells:
        for timer in colours:
            found = c.ratio(timer, SLOW)
            low, high = interval(found[1])
            rows.append({"path": c.path, "timer": _plain(timer), "ratio": found[0], "low": low, "high": high})
    colour = alt.Color("timer:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=[_plain(timer) for timer in colours], range=list(colours.values())
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


def _plain(timer: str) -> str:
    return _named(timer).replace("`", "")
