# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014 with samples rounded up to ticks: its printed numbers beside ours, as a Markdown page."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from tcplearn.output.markdown import table_of
from tcplearn.papers.nunes2014.simulated_material import Material
from tcplearn.papers.nunes2014.simulated_runs import (
    BASE,
    LEARNED,
    SCENARIOS,
    TICK_MS,
    Point,
    Ratio,
    Where,
    by_place,
    carried,
    name,
    ratios,
)

FIGURES = "figures-rounded"
TICKS = ("every-ack/500ms", "one-per-rtt/500ms")
UNBOUNDED = "every-ack"  # the timing that the other estimators have

#: The paper's average speeds, and the ranges they are the middle of.
SPEEDS = {"25 m/s": "20-30", "5 m/s": "1-10"}


def page(of: Material) -> str:
    found = of.found
    main = [p for p in found if p.is_main and p.where[0] in SCENARIOS[:5]]
    compared = ratios(main)
    parts = [
        "# Simulations with samples rounded up to ticks",
        "The clock of the paper's time counted, its TCP kept scaled integers: [the main page](simulated.md). "
        "Here a sample is rounded up to whole ticks and averaged in floating point, and other estimators are "
        "beside the paper's two.",
        f"Made by `{of.command}`; do not edit.",
        f"{len(found)} of {of.planned} runs of profile `{of.profile}` (`tcplearn simulate "
        f"papers/nunes2014/scenario-*.toml`), made at {of.commits}, with the same core and ns-3 host. "
        f"Intervals are of {found[0].confidence:.0%}, over the seeds; a seed gives all algorithms the same "
        "network. An error is \\|prediction − sample\\|, averaged over a flow, then over flows, in ticks of "
        "500 ms. Sampling: every ACK or one a round trip, rounded up to whole ticks.",
        f"## Error of `{BASE}` over that of `{LEARNED}`, scenarios III and V",
        "Above 1 the experts are nearer. The paper prints 2.4 for III (1.54 against 0.63 ticks) and almost 4 "
        "for V; it doesn't say how it sampled, and gives no interval.",
        _both_samplings(main, compared),
        "## All five",
        "Over the conditions of scenarios I to V at 500 ms ticks in which each of the five had an error.",
        _standing(main),
        of.notes.strip(),
        "## What the paper's text prints",
        _printed(of.folder, found, compared),
        "## What the networks carry",
        "A flow that finds no route, or is starved by its neighbours, has no sample and no part in an error. "
        f"All seeds together, under `{BASE}`, one sample a round trip.",
        _carried(main),
        "## Every condition",
        "Errors in ticks, mean over the seeds; the ratio is the geometric mean of pairs.",
        _every(main, compared),
        "## Figures",
        "The five that a scenario compares everywhere, all with the paper's bounds of the RTO, 1 s and 32 s. "
        "A row for each variant, a column for each timing; bars are intervals, cut at 0 and 100 %. Scales "
        "differ from panel to panel. A point is missing where no flow had a sample.",
        *of.pictures(FIGURES),
        "## The other estimators",
        f"One seed, every ACK timed exactly, each with its own bounds of the RTO; `{BASE}` and `{LEARNED}` "
        "for comparison.",
        *_others(found),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _ratio(r: Ratio | None) -> str:
    if r is None:
        return "no samples"
    if r.interval is None:
        return f"no ratio: {_number(r.base)} / {_number(r.learned)}"
    middle, low, high = map(_number, r.interval)
    return f"{middle} ({low} to {high})" if r.seeds > 1 else f"{middle} (one seed)"


def _both_samplings(main: Sequence[Point], compared: Sequence[Ratio]) -> str:
    by = {r.where: r for r in compared}
    here = [p.where for p in main if p.where[0] in ("III", "V") and p.where[2] in TICKS]
    rows = []
    for scenario, variant, condition in dict.fromkeys((s, v, c) for s, v, _, c in here):
        pair = [by.get((scenario, variant, timing, condition)) for timing in TICKS]
        rtts = [r.rtt_ms / TICK_MS for r in pair if r]
        paper = "2.4" if scenario == "III" else "4"
        rtt = _number(statistics.fmean(rtts) if rtts else None)
        rows.append([scenario, variant, condition, rtt, *map(_ratio, pair), paper])
    return table_of(("scenario", "variant", "flows", "RTT, ticks", *(f"`{t}`" for t in TICKS), "paper"), rows)


def _standing(main: Sequence[Point]) -> str:
    """Of each algorithm: its error over that of BASE, and in how many conditions none was nearer."""
    errors: dict[Where, dict[str, float]] = {}
    names = list(dict.fromkeys(p.algorithm for p in main))
    for where, by in by_place(main).items():
        mean = {
            a: statistics.fmean(p.metrics["mean_abs_error_ticks"] for p in seeds.values())
            for a, seeds in by.items()
            if all("mean_abs_error_ticks" in p.metrics for p in seeds.values())
        }
        if where[2] in TICKS and mean.keys() == set(names) and min(mean.values()) > 0:
            errors[where] = mean
    rows = []
    for algorithm in names if errors else ():
        over = statistics.geometric_mean(e[algorithm] / e[BASE] for e in errors.values())
        most = max(e[algorithm] / e[BASE] for e in errors.values())
        nearest = sum(e[algorithm] <= min(e.values()) for e in errors.values())
        rows.append([name(algorithm), _number(over), _number(most), f"{nearest} of {len(errors)}"])
    return table_of(("", f"error over `{BASE}`'s, geometric mean", "worst", "nearest in conditions"), rows)


def _carried(main: Sequence[Point]) -> str:
    rows = []
    for c in carried([p for p in main if p.where[2] == TICKS[1]]):
        scenario, variant, _, condition = c.where
        share = f"{c.with_samples} of {c.flows}"
        rows.append([scenario, variant, condition, share, _number(c.median_samples), _number(c.rtt_ticks)])
    head = ("scenario", "variant", "load", "flows with samples", "samples of the median one", "RTT, ticks")
    return table_of(head, rows)


def _every(main: Sequence[Point], compared: Sequence[Ratio]) -> str:
    by = by_place(main)
    others = [a for a in dict.fromkeys(p.algorithm for p in main) if a not in (BASE, LEARNED)]
    rows = []
    for r in compared:
        errors = [_number(r.base), _number(r.learned), _ratio(r), f"{r.bias_ticks:+.2f}"]
        for algorithm in others:
            metrics = [p.metrics for p in by[r.where].get(algorithm, {}).values()]
            seeds = [m["mean_abs_error_ticks"] for m in metrics if "mean_abs_error_ticks" in m]
            errors.append(_number(statistics.fmean(seeds) if seeds else None))
        rows.append([*r.where, str(r.seeds), *errors, r.verdict])
    names = ("jacobson", "experts", "ratio", "bias of experts", *map(name, others))
    return table_of(("scenario", "variant", "timing", "load", "seeds", *names, ""), rows)


def _printed(folder: Path, found: Sequence[Point], compared: Sequence[Ratio]) -> str:
    with (folder / "published.csv").open(newline="") as file:
        printed = list(csv.DictReader(file))
    rows = [
        [
            *(p[key] or "–" for key in ("figure", "scenario", "metric", "condition", "algorithm")),
            f"{p['value']} {p['unit']}",
            _ours(p, found, compared),
        ]
        for p in printed
    ]
    head = ("figure", "scenario", "metric", "condition", "algorithm", "printed", "ours, at 500 ms ticks")
    return table_of(head, rows)


def _ours(printed: Mapping[str, str], found: Sequence[Point], compared: Sequence[Ratio]) -> str:
    scenario, metric = printed["scenario"], printed["metric"]
    condition = SPEEDS.get(printed["condition"]) or printed["condition"].partition("load.flows=")[2]

    def is_meant(where: Where) -> bool:
        return where[0] == scenario and where[2] in TICKS and (not condition or where[3] == condition)

    match printed["algorithm"]:
        case "jacobson/experts":
            return _span([r for r in compared if is_meant(r.where)])
        case "experts/jacobson":  # most flows
            return _span([r for r in ratios(found, metric) if is_meant(r.where)], turned=True)
        case "jacobson" | "experts" as side:
            errors = [r.base if side == "jacobson" else r.learned for r in compared if is_meant(r.where)]
            return f"{_number(min(errors))} to {_number(max(errors))}" if errors else "not run"
        case _:
            values = [
                p.metrics[metric]
                for p in found
                if is_meant(p.where) and p.algorithm == BASE and metric in p.metrics
            ]
            return f"{_number(min(values))} to {_number(max(values))}" if values else "not run"


def _span(of: Sequence[Ratio], *, turned: bool = False) -> str:
    """The least and the greatest ratio over the conditions, and of how many the interval leaves 1 out."""
    known = [r.interval for r in of if r.interval and r.seeds > 1]
    if not known:
        return "not run"
    if turned:
        known = [(1 / m, 1 / high, 1 / low) for m, low, high in known]
    above = sum(low > 1 for _, low, _ in known)
    below = sum(high < 1 for _, _, high in known)
    middles = [m for m, _, _ in known]
    return (
        f"{_number(min(middles))} to {_number(max(middles))} over {len(known)} conditions, "
        f"{above} intervals above 1, {below} below"
    )


def _others(found: Sequence[Point]) -> list[str]:
    """A table for each metric: estimators by conditions, of seed 1."""
    wanted = {where: by for where, by in by_place(found).items() if where[2] == UNBOUNDED}
    wanted = {where: by for where, by in wanted.items() if "jacobson/rfc6298" in by}
    names = list(dict.fromkeys(a for by in wanted.values() for a in by if ":" not in a))
    metrics = (
        ("mean_abs_error_ms", "Mean error, ms", 1.0),
        ("retransmitted_share", "Retransmitted packets, %", 100.0),
        ("spurious_timeouts", "Spurious timeouts, all flows", 1.0),
        ("goodput_pps", "Goodput of a flow, packets/s", 1.0),
    )
    out = []
    for metric, title, scale in metrics:
        rows = []
        for algorithm in names:
            first = [by[algorithm][1].metrics if 1 in by.get(algorithm, {}) else {} for by in wanted.values()]
            values = [_number(m[metric] * scale) if metric in m else "–" for m in first]
            rows.append([f"`{algorithm}`", *values])
        head = ("", *(f"{w[0]} {w[1]} {w[3]}".replace("  ", " ") for w in wanted))
        if rows:
            out.append(f"**{title}**\n\n{table_of(head, rows)}")
    return out
