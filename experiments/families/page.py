# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes drawn.md, the page on response times under several timers over paths that were drawn by families."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.families import chart, lab
from experiments.families.draw import FAMILIES, JUDGED, LAB, LAB_ONLY, SETS, lab_only, paths
from experiments.families.logs import (
    FIGURES,
    FLOORS,
    LIMIT,
    LIMIT_DOUBLING,
    LIMITS,
    P99,
    P999,
    SLOW,
    SPURIOUS,
    STATISTICAL,
    STOCK,
    Drawing,
    Paths,
    family_of,
    kept_metrics,
    of_lab,
)
from experiments.lib.batches import Batch, Figures, SimulatedRuns
from experiments.lib.pages import Figure
from experiments.lib.runs import Run
from experiments.lib.statistics import spread, verdict
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import ratio

OURS = ("priced", "priced/backoff-1.5", "priced/spaced")
PEERS = ("stock:rto_min_us=5000", "stock:rto_min_us=20000", "s-rto")
TITLES = {
    **{floor: f"rto_min {int(floor.partition('=')[2]) // 1000} ms" for floor in FLOORS if floor != STOCK},
    STATISTICAL: "statistical oracle",
    LIMIT_DOUBLING: "clairvoyant, then doubling",
    LIMIT: "clairvoyant",
}
#: A timer's share of the gain of a limit is computed over the paths on which a figure under the limit is at
#: most this many times that under stock Linux's timer.
LEAST_GAIN = 0.9
COMPARED = [
    "timer",
    *(f"{figure}, × stock" for figure in FIGURES),
    "spurious in 1,000: more than stock",
    "paths where it gains / no difference / harms",
]
FADED = {"fades": "fades of 0.2 to 8 s", "handovers": "interruptions of 0.05 to 0.5 s"}
Row = list[str]
LAB_TIMERS = ("stock:rto_min_us=5000", *OURS)
SHOWN = (*PEERS, *OURS, *LIMITS)
#: Pairs of a figure and a limit (a timer that knows what no sender knows). For each pair the page shows which
#: share of the limit's gain over stock Linux's timer each timer reaches.
SHARES = (
    (P99, STATISTICAL),
    (SLOW, STATISTICAL),
    (P99, LIMIT_DOUBLING),
    (SLOW, LIMIT_DOUBLING),
    (SLOW, LIMIT),
    (P999, LIMIT),
)


def batches(folder: Path, profile: str) -> list[Batch]:
    simulated = [SimulatedRuns(folder / f"{name}.toml", profile or "full", _keep) for name in SETS]
    return [*simulated, *lab.batches(folder, profile)]


def _keep(run: Any, result: Mapping[str, Any]) -> Figures:
    return kept_metrics(result["run"]["metrics"]), {}


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    sets = {name: Paths([run for run in runs if run.scenario == f"families-{name}"]) for name in SETS}
    kept = sets[JUDGED]
    if not kept.names:
        return {}
    drawing = Drawing(kept)
    in_lab = [run for run in runs if run.host == "lab"]
    return {
        "paths": len(kept.names),
        "families": len(FAMILIES),
        "seeds": kept.seeds,
        "requests": f"{kept.requests:,.0f}",
        "criteria": table_of(["figure", "criterion", *(f"`{t}`" for t in OURS)], _criteria(kept, drawing)),
        "by_family": table_of(
            ["family", *COMPARED],
            _by_family(drawing),
        ),
        "shares": table_of(
            ["timer", *(f"{figure}, to the {TITLES[limit]}" for figure, limit in SHARES)],
            _shares(kept, drawing),
        ),
        "worst": table_of(
            ["path", "its draw", "timer", *(f"{f}, × stock" for f in (P99, SLOW))], _worst(kept)
        ),
        "tuning": _beside(sets["tuning"], kept),
        "lab": _in_the_lab(sets[LAB], Paths([run for run in in_lab if _family(run) in FAMILIES])),
        "sender_queue": _of_sender_queue(Paths([run for run in in_lab if _family(run) in LAB_ONLY])),
        "figures": [Figure("families.svg", "", chart.by_family(kept, drawing, SHOWN, TITLES))],
    }


def _signed(more: float, low: float, high: float) -> str:
    return "{:+.1f} ({:+.1f} to {:+.1f})".format(*(round(of, 1) + 0.0 for of in (more, low, high)))


def _title(timer: str) -> str:
    return TITLES.get(timer, f"`{timer}`")


def _criteria(kept: Paths, drawing: Drawing) -> Iterator[Row]:
    for figure, limit, who, least in (
        (P99, LIMIT_DOUBLING, OURS[:1], 0.72),
        (SLOW, LIMIT_DOUBLING, OURS[:1], 0.72),
        (SLOW, LIMIT, OURS[2:], 0.72),
    ):
        found = {t: drawing.share(t, figure, limit, LEAST_GAIN) for t in OURS}
        texts = (verdict(of, least, least=True) if t in who else spread(of) for t, of in found.items())
        judged = f"{drawing.judged(figure, limit, LEAST_GAIN)} paths"
        yield [f"share of the way to “{TITLES[limit]}”, {figure} ({judged})", f"≥ {least:.2f}", *texts]
    for figure, limits in ((P99, (1.0, None, None)), (SLOW, (1.0, None, None)), (P999, (None, 0.97, 0.97))):
        over = [drawing.over_floor(t, figure) for t in OURS]
        texts = (verdict(of, limit) if limit else spread(of) for of, limit in zip(over, limits, strict=True))
        allowed = next(limit for limit in limits if limit)
        yield [f"{figure}, × the best `rto_min` in hindsight", f"≤ {allowed:.2f}", *texts]
    for figure in (P99, SLOW):
        harmed = (drawing.harmed_families(t, figure, 1.02) for t in OURS)
        yield [f"families wholly above 1.02 × stock, {figure}", "none", *map(_listed, harmed)]
        paths_harmed = (kept.wholly_above(t, figure, 1.10) for t in OURS)
        yield [f"paths wholly above 1.10 × stock, {figure}", "none", *map(_listed, paths_harmed)]
    more = (drawing.families_with_more_spurious(t, 1.0) for t in OURS)
    what = "families whose spurious retransmissions are wholly above stock's + 1 in 1,000"
    yield [what, "none", *map(_listed, more)]
    for family in [family for family in kept.families() if family in FADED]:
        overruns = (
            verdict(drawing.overrun(t, family), limit) for t, limit in zip(OURS, (1.0, 0.7, 0.3), strict=True)
        )
        yield [f"mean overrun past {FADED[family]}, × stock", "≤ 1.0, 0.7 and 0.3", *overruns]


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)}): missed" if names else "none: met"


def _compared(drawing: Drawing, timer: str, family: str = "") -> Row:
    """Returns the cells of the columns `COMPARED`, which compare `timer` with stock over the paths of
    `family`, or over all paths if it is ""."""
    texts = (spread(drawing.over_stock(timer, figure, family)) for figure in FIGURES)
    counts = drawing.paths.gains_and_harms(timer, SLOW, family)
    more = _signed(*drawing.more_spurious(timer, family))
    return [_title(timer), *texts, more, " / ".join(map(str, counts))]


def _by_family(drawing: Drawing) -> Iterator[Row]:
    for family in (*drawing.paths.families(), ""):
        for timer in SHOWN:
            yield [FAMILIES[family][0] if family else "**all**", *_compared(drawing, timer, family)]


def _shares(kept: Paths, drawing: Drawing) -> Iterator[Row]:
    for timer in (*FLOORS, "s-rto", *OURS, STATISTICAL):
        if timer == STOCK:
            continue
        found = (drawing.share(timer, figure, limit, LEAST_GAIN) for figure, limit in SHARES)
        yield [_title(timer), *map(spread, found)]


@functools.cache
def _drawn(name: str) -> dict[str, str]:
    return {path: _described(table, more) for _, path, table, more in paths(name)}


def _described(table: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    hop = table["hop"]["line"]
    rtt_ms = hop["forward"]["delay_ms"] + hop["reverse"]["delay_ms"]
    rate = hop["forward"].get("rate_mbps", hop["rate_mbps"])
    stamps = "" if more["tcp.timestamps"] else ", no timestamps"
    return f"{rate:g} Mbit/s, {rtt_ms:.3g} ms, requests of {more['load.request_bytes']:,} bytes{stamps}"


def _worst(kept: Paths) -> Iterator[Row]:
    """Yields table rows: for each of our timers, the three paths on which the mean of the slowest 2 % of
    response times is largest relative to that under stock Linux's timer."""
    for timer in OURS:
        for path in sorted(kept.names, key=lambda path: -kept.mean(path, timer, SLOW))[:3]:
            texts = ("{} ({}-{})".format(*map(ratio, kept.bounds(path, timer, of))) for of in (P99, SLOW))
            yield [path, _drawn(JUDGED)[path], f"`{timer}`", *texts]


def _beside(tuning: Paths, kept: Paths) -> str:
    """Returns a table of response times under each timer relative to stock Linux's, on the paths `tuning` and
    on the paths `kept`, by which policies are judged; "" if `tuning` has no paths."""
    if not tuning.names:
        return ""
    each = {"tuning": Drawing(tuning), "kept": Drawing(kept)}
    rows = []
    for timer in SHOWN:
        texts = [spread(each[name].over_stock(timer, figure, "")) for figure in FIGURES for name in each]
        rows.append([_title(timer), *texts])
    return table_of(["timer", *(f"{f}: {name}" for f in FIGURES for name in each)], rows)


def _family(run: Run) -> str:
    return family_of(of_lab(run)[0])


def _in_the_lab(simulated: Paths, measured: Paths) -> dict[str, str]:
    """Returns the template's variables for drawn.md's section on the lab; {} without runs in the lab."""
    if not measured.names:
        return {}
    drawing = Drawing(measured)
    agreement, apart = lab.agreement(simulated, measured, LAB_TIMERS)
    by_path = ["path", "family", "timer"]
    by_path += [head for f in (P99, SLOW) for head in (f"{f}: ns-3", f"{f}: lab", "overlap")]
    return {
        "paths": str(len(measured.names)),
        "runs": str(measured.seeds),
        "requests": f"{measured.requests:,.0f}",
        "by_timer": table_of(COMPARED, [_compared(drawing, timer) for timer in LAB_TIMERS]),
        "agreement": agreement,
        "apart": ", ".join(f"`{path}`" for path in apart) or "none",
        "by_path": table_of(by_path, lab.rows(simulated, measured, LAB_TIMERS)),
    }


def _of_sender_queue(measured: Paths) -> dict[str, str]:
    """Returns the template's variables for drawn.md's section on queues of the sending host; {} without such
    runs."""
    if not measured.names:
        return {}
    drawn = {path: (table, more) for _, path, table, more in lab_only()}
    rows = []
    for path in measured.names:
        table, more = drawn[path]
        own = (
            f"{more['load.at_once']} connections, {table['sender_queue']['rate_mbps']:g} Mbit/s at the sender"
        )
        for timer in LAB_TIMERS:
            bounds = (measured.bounds(path, timer, figure) for figure in (P99, SLOW))
            ratios = ["{} ({}-{})".format(*map(ratio, of)) for of in bounds]
            spurious = measured.values(timer, SPURIOUS)[measured.names.index(path)].mean()
            rows.append(
                [path, f"{own}; {_described(table, more)}", _title(timer), *ratios, f"{spurious:.1f}"]
            )
    heads = ["path", "its draw", "timer", *(f"{f}, × stock" for f in (P99, SLOW)), "spurious in 1,000"]
    return {
        "runs": str(measured.seeds),
        "requests": f"{measured.requests:,.0f}",
        "stock": ", ".join(f"{of:.1f}" for of in measured.values(STOCK, SPURIOUS).mean(axis=1)),
        "table": table_of(heads, rows),
    }
