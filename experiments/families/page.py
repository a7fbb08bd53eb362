# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes drawn.md, the page on response times under several timers over paths that were drawn by families."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

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
    keep,
    of_lab,
)
from experiments.lib.batches import Batch, LabRuns, SimulatedRuns
from experiments.lib.pages import Figure
from experiments.lib.runs import Run
from experiments.lib.statistics import interval, spread, verdict
from tcplearn.output.markdown import table_of

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
#: The figures that are shown for single paths.
OF_PATH = (P99, SLOW)
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
#: Colours of our timers, of the limits that no timer can reach, and of others.
COLORS = {"ours": "#0072b2", "limit": "#d55e00", "": "#6b6b6b"}


def batches(folder: Path, profile: str) -> list[Batch]:
    profile = profile or "full"
    files = [folder / f"{name}.toml" for name in SETS]
    in_lab = sorted((folder / "lab").glob("*-*.toml"))
    return [
        *(SimulatedRuns(file, profile, lambda _, made: keep(made["run"]["metrics"])) for file in files),
        *(LabRuns(file, profile, lambda _, folder, measured: keep(measured)) for file in in_lab),
    ]


def fill(runs: Sequence[Run], folder: Path) -> dict[str, Any]:
    sets = {name: Paths([run for run in runs if run.scenario == f"families-{name}"]) for name in SETS}
    kept = sets[JUDGED]
    if not kept.names:
        return {}
    drawing = Drawing(kept)
    in_lab = [run for run in runs if run.host == "lab"]
    beside_ns3, lab_alone = (
        Paths([run for run in in_lab if family_of(of_lab(run)[0]) in families])
        for families in (FAMILIES, LAB_ONLY)
    )
    return {
        "paths": len(kept.names),
        "families": len(FAMILIES),
        "seeds": kept.seeds,
        "requests": f"{kept.requests:,.0f}",
        "criteria": table_of(["figure", "criterion", *(f"`{t}`" for t in OURS)], _criteria(kept, drawing)),
        "by_family": table_of(["family", *COMPARED], _by_family(drawing)),
        "shares": table_of(
            ["timer", *(f"{figure}, to the {TITLES[limit]}" for figure, limit in SHARES)], _shares(drawing)
        ),
        "worst": table_of(["path", "its draw", "timer", *(f"{f}, × stock" for f in OF_PATH)], _worst(kept)),
        "tuning": _beside({"tuning": sets["tuning"], "kept": kept}),
        "lab": _in_the_lab(sets[LAB], beside_ns3),
        "sender_queue": _of_sender_queue(lab_alone),
        "figures": [Figure("families.svg", "", _chart(drawing))],
    }


def _title(timer: str) -> str:
    return TITLES.get(timer, f"`{timer}`")


def _criteria(kept: Paths, drawing: Drawing) -> Iterator[Row]:
    first, *others = OURS
    for figure, limit, who in (
        (P99, LIMIT_DOUBLING, first),
        (SLOW, LIMIT_DOUBLING, first),
        (SLOW, LIMIT, others[-1]),
    ):
        found = {t: drawing.share(t, figure, limit, LEAST_GAIN) for t in OURS}
        texts = (verdict(of, 0.72, least=True) if t == who else spread(of) for t, of in found.items())
        judged = f"{drawing.judged(figure, limit, LEAST_GAIN)} paths"
        yield [f"share of the way to “{TITLES[limit]}”, {figure} ({judged})", "≥ 0.72", *texts]
    for figure, most, judged_timers in ((P99, 1.0, [first]), (SLOW, 1.0, [first]), (P999, 0.97, others)):
        over = {t: drawing.over_floor(t, figure) for t in OURS}
        texts = (verdict(of, most) if t in judged_timers else spread(of) for t, of in over.items())
        yield [f"{figure}, × the best `rto_min` in hindsight", f"≤ {most:.2f}", *texts]
    families = kept.families()
    for figure in OF_PATH:
        harmed = (drawing.harmed_families(t, figure, 1.02) for t in OURS)
        yield [f"families wholly above 1.02 × stock, {figure}", "none", *map(_listed, harmed)]
        paths_harmed = (kept.wholly_above(t, figure, 1.10) for t in OURS)
        yield [f"paths wholly above 1.10 × stock, {figure}", "none", *map(_listed, paths_harmed)]
    more = ([f for f in families if drawing.more_spurious(t, f)[1] > 1.0] for t in OURS)
    what = "families whose spurious retransmissions are wholly above stock's + 1 in 1,000"
    yield [what, "none", *map(_listed, more)]
    for family in (family for family in families if family in FADED):
        limits = zip(OURS, (1.0, 0.7, 0.3), strict=True)
        overruns = (verdict(drawing.overrun(t, family), limit) for t, limit in limits)
        yield [f"mean overrun past {FADED[family]}, × stock", "≤ 1.0, 0.7 and 0.3", *overruns]


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)}): missed" if names else "none: met"


def _compared(drawing: Drawing, timer: str, family: str = "") -> Row:
    """Returns the cells of the columns `COMPARED`, which compare `timer` with stock over the paths of
    `family`, or over all paths if it is ""."""
    texts = (spread(drawing.over_stock(timer, figure, family)) for figure in FIGURES)
    counts = drawing.paths.gains_and_harms(timer, SLOW, family)
    more = (round(of, 1) + 0.0 for of in drawing.more_spurious(timer, family))
    return [_title(timer), *texts, "{:+.1f} ({:+.1f} to {:+.1f})".format(*more), " / ".join(map(str, counts))]


def _by_family(drawing: Drawing) -> Iterator[Row]:
    for family in (*drawing.paths.families(), ""):
        for timer in SHOWN:
            yield [FAMILIES[family][0] if family else "**all**", *_compared(drawing, timer, family)]


def _shares(drawing: Drawing) -> Iterator[Row]:
    for timer in (*(floor for floor in FLOORS if floor != STOCK), "s-rto", *OURS, STATISTICAL):
        found = (drawing.share(timer, figure, limit, LEAST_GAIN) for figure, limit in SHARES)
        yield [_title(timer), *map(spread, found)]


def _described(table: Mapping[str, Any], more: Mapping[str, Any]) -> str:
    hop = table["hop"]["line"]
    rtt_ms = hop["forward"]["delay_ms"] + hop["reverse"]["delay_ms"]
    rate = hop["forward"].get("rate_mbps", hop["rate_mbps"])
    stamps = "" if more["tcp.timestamps"] else ", no timestamps"
    return f"{rate:g} Mbit/s, {rtt_ms:.3g} ms, requests of {more['load.request_bytes']:,} bytes{stamps}"


def _worst(kept: Paths) -> Iterator[Row]:
    """Yields table rows: for each of our timers, the three paths on which the mean of the slowest 2 % of
    response times is largest relative to that under stock Linux's timer."""
    drawn = {path: _described(table, more) for _, path, table, more in paths(JUDGED)}
    for timer in OURS:
        for path in sorted(kept.names, key=lambda path: -kept.bounds(path, timer, SLOW).value)[:3]:
            texts = (str(kept.bounds(path, timer, of)) for of in OF_PATH)
            yield [path, drawn[path], f"`{timer}`", *texts]


def _beside(sets: Mapping[str, Paths]) -> str:
    """Returns a table of response times under each timer relative to stock Linux's, on the paths of each of
    the `sets`; "" if one of them has no paths."""
    if not all(of.names for of in sets.values()):
        return ""
    each = {name: Drawing(of) for name, of in sets.items()}
    rows = []
    for timer in SHOWN:
        texts = [spread(drawing.over_stock(timer, f, "")) for f in FIGURES for drawing in each.values()]
        rows.append([_title(timer), *texts])
    return table_of(["timer", *(f"{f}: {name}" for f in FIGURES for name in each)], rows)


def _in_the_lab(simulated: Paths, measured: Paths) -> dict[str, str]:
    """Returns the template's variables for drawn.md's section on the lab, which compares response times there
    with those in ns-3 (`simulated`); {} without runs in the lab."""
    if not measured.names:
        return {}
    rows, overlaps, apart = [], [], {}
    for path in measured.names:
        for timer in LAB_TIMERS:
            row = [path, FAMILIES[family_of(path)][0], f"`{timer}`"]
            for figure in OF_PATH:
                a, b = (of.bounds(path, timer, figure) for of in (simulated, measured))
                overlaps.append(a.low <= b.high and b.low <= a.high)
                row += [str(a), str(b), "yes" if overlaps[-1] else "no"]
            rows.append(row)
            if "no" in row:
                apart[path] = f"`{path}`"
    drawing = Drawing(measured)
    heads = (head for f in OF_PATH for head in (f"{f}: ns-3", f"{f}: lab", "overlap"))
    return {
        "paths": str(len(measured.names)),
        "runs": str(measured.seeds),
        "requests": f"{measured.requests:,.0f}",
        "by_timer": table_of(COMPARED, [_compared(drawing, timer) for timer in LAB_TIMERS]),
        "agreement": f"{sum(overlaps)} of {len(overlaps)}",
        "apart": ", ".join(apart.values()) or "none",
        "by_path": table_of(["path", "family", "timer", *heads], rows),
    }


def _of_sender_queue(measured: Paths) -> dict[str, str]:
    """Returns the template's variables for drawn.md's section on queues of the sending host; {} without such
    runs."""
    if not measured.names:
        return {}
    drawn = {path: (table, more) for _, path, table, more in lab_only()}
    rows = []
    for number, path in enumerate(measured.names):
        table, more = drawn[path]
        mbps = table["sender_queue"]["rate_mbps"]
        own = f"{more['load.at_once']} connections, {mbps:g} Mbit/s at the sender; {_described(table, more)}"
        for timer in LAB_TIMERS:
            ratios = (str(measured.bounds(path, timer, figure)) for figure in OF_PATH)
            spurious = measured.values(timer, SPURIOUS)[number].mean()
            rows.append([path, own, _title(timer), *ratios, f"{spurious:.1f}"])
    heads = ["path", "its draw", "timer", *(f"{f}, × stock" for f in OF_PATH), "spurious in 1,000"]
    return {
        "runs": str(measured.seeds),
        "requests": f"{measured.requests:,.0f}",
        "stock": ", ".join(f"{of:.1f}" for of in measured.values(STOCK, SPURIOUS).mean(axis=1)),
        "table": table_of(heads, rows),
    }


def _chart(drawing: Drawing) -> dict[str, Any]:
    """Returns a chart of the mean of the slowest 2 % of the response times relative to that under stock
    Linux's timer, for each family of paths and each timer, as a Vega-Lite specification."""
    families = drawing.paths.families()
    order = {family: "\n".join(textwrap.wrap(FAMILIES[family][0], 36)) for family in families}
    rows = []
    for family in families:
        for timer in SHOWN:
            value, drawn = drawing.over_stock(timer, SLOW, family)
            low, high = interval(drawn)
            name = TITLES.get(timer, timer)
            rows.append({"family": order[family], "timer": name, "x": value, "a": low, "b": high})
    names = [TITLES.get(timer, timer) for timer in SHOWN]
    x = alt.X("x:Q", title="slowest 2 %, × stock").scale(type="log", nice=False)
    x = x.axis(values=[0.03, 0.1, 0.3, 1, 3, 10], format="~g")
    y = alt.Y("timer:N", title=None, sort=names).axis(labelLimit=250)
    kinds = ["ours" if timer in OURS else "limit" if timer in LIMITS else "" for timer in SHOWN]
    color = alt.Color("timer:N", legend=None).scale(domain=names, range=[COLORS[kind] for kind in kinds])
    marks = alt.Chart()
    layers = alt.layer(
        marks.mark_rule().encode(x=alt.X("a:Q"), x2="b:Q", y=y, color=color),
        marks.mark_point(filled=True, size=40).encode(x=x, y=y, color=color),
        marks.mark_rule(strokeDash=[3, 3], color="gray").encode(x=alt.XDatum(1)),
        data=alt.InlineData(values=rows),
    ).properties(width=230, height=120)
    header = alt.Header(labelExpr="split(datum.label, '\\n')", labelLineHeight=13)
    facet = alt.Facet("family:N", title=None, sort=[*order.values()], header=header)
    return dict(layers.facet(facet, columns=3).properties(padding={"left": 40}).to_dict())
