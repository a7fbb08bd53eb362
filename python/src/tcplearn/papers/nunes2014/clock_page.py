# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""nunes2014 on the clock of its time: every reading beside the others, as a Markdown page."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path

from tcplearn.output.markdown import table_of
from tcplearn.papers.nunes2014 import clock_runs as clock
from tcplearn.papers.nunes2014 import live_page
from tcplearn.papers.nunes2014.clock_runs import BASE, GIVEN, SCORED, SIZES, Interval, Pairs, Reading
from tcplearn.papers.nunes2014.simulated_material import Material
from tcplearn.papers.nunes2014.simulated_runs import LEARNED, TICK_MS, Point, name
from tcplearn.simulate.interval import mean_interval

#: Section 5.2: the variance of the RTT, and by what load it is printed.
VARIANCES = {("I", "34"): 0.4763, ("I", "100"): 0.5501, ("II", "34"): 0.7878, ("II", "100"): 0.9315}
#: Section 5.3 (an example), 5.4 (5 and 25 m/s) and 5.5 ("almost four times").
PRINTED = {"III": "2.4", ("IV", "1-10"): "3", ("IV", "20-30"): "2", "V": "almost 4"}
_AGAINST = tuple(f"scored against {scored}" for scored in SCORED)


def page(of: Material) -> str:
    found = of.found
    read = clock.readings(found)
    first, _, rest = of.notes.partition("\n## ")
    parts = [
        "# Simulations: ours beside the paper's",
        first.strip(),
        f"Made by `{of.command}`; do not edit. {len(found)} of {of.planned} runs of profile `{of.profile}` "
        f"(`tcplearn simulate papers/nunes2014/scenario-[1-5].toml --profile {of.profile}`), made at "
        f"{of.commits}. Intervals are of {found[0].confidence:.0%}, over "
        "the seeds; a seed gives all algorithms the same network, flows and clock phases.",
        "One segment at a time is timed by counting the boundaries of a free-running clock of 500 ms, from "
        f"one; timers run down at these boundaries. `{name(BASE)}` is given that count and takes one off. "
        "What the paper's experts were given, and what it scored, is unknown: each is shown against each. "
        "An error is \\|prediction − what is scored\\| in ticks, averaged over a flow, then over flows. "
        "With samples that are rounded up to ticks, or of every ACK: [another page](simulated-rounded.md).",
        "## Who is nearer, by reading",
        "Error of Jacobson's over that of the experts, geometric mean over the networks below; in how many "
        "networks the mean is above 1 (experts nearer); how many intervals are wholly above 1, and below (of "
        "the networks with more than one seed).",
        _summary(read),
        "## By the size of the RTT",
        "Flows by their mean RTT in ticks of 500 ms; errors of Jacobson's / of the experts, means over "
        "networks and seeds, their difference with its interval (above 0: experts nearer), and in how many "
        "comparisons, each of one network and seed, the experts are nearer.",
        _sizes(found),
        "## All five networks, by the size of the RTT",
        "All given the count, as the clock has it; beside them Jacobson's with the fraction of a tick kept. "
        "Mean error in ticks ± half its interval; in how many comparisons it is the nearest.",
        _five(found),
        rest and f"## {rest.strip()}",
        "## Every network",
        "Jacobson's error / the experts': their ratio (interval), above 1 where the experts are nearer. "
        "Variance: of the count, in ticks², mean over flows.",
        _every(read),
        "## What is sent again",
        "Timers of both run down at boundaries; the experts' RTO is within the paper's 2 and 64 ticks, the "
        "other's within two ticks above the last RTT and 128. Share of packets sent again, and the experts' "
        "over Jacobson's with its interval; timeouts, needless ones (the segment had arrived) in brackets; "
        "packets delivered.",
        _resent(read),
        "## What the paper prints, and where it contradicts itself",
        "Its abstract has the experts' predictions over 40 % nearer than Jacobson's. Its tables of the live "
        "experiments give:",
        inconsistency(of.folder),
        "## Figures",
        "A row for each variant; bars are intervals, cut at 0 and 100 %. Scales differ from panel to panel; "
        "the axis of flows is logarithmic; points of one load stand in the legend's order. Figures 4, 12 and "
        "25 are of packets delivered, as section 5.1 defines goodput.",
        *of.pictures("figures"),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def _interval(of: Interval | None, seeds: int) -> str:
    if of is None:
        return "no ratio"
    middle, low, high = map(_number, of)
    return f"{middle} ({low} to {high})" if seeds > 1 else f"{middle} (one seed)"


def _summary(read: Sequence[Reading]) -> str:
    rows = []
    for given in GIVEN.values():
        cells = []
        for metric in SCORED.values():
            pairs = [r.pairs(metric) for r in read if r.given == given]
            known = [p.ratio for p in pairs if p.ratio]
            sure = [p.ratio for p in pairs if p.ratio and len(p.base) > 1]
            if not known:
                cells.append("–")
                continue
            middle = statistics.geometric_mean(m for m, _, _ in known)
            nearer = sum(m > 1 for m, _, _ in known)
            above, below = sum(low > 1 for _, low, _ in sure), sum(high < 1 for _, _, high in sure)
            of = f"{above} above, {below} below"
            of += f" of {len(sure)}" if len(sure) < len(known) else ""
            cells.append(f"{_number(middle)}; {nearer} of {len(known)}; {of}")
        rows.append([given, *cells])
    return table_of(("experts given", *_AGAINST), rows)


def _sizes(found: Sequence[Point]) -> str:
    base = name(BASE)
    rows = []
    for size in SIZES:
        for given in GIVEN.values():
            learned = f"{LEARNED}: given {given}"
            cells = []
            for metric in SCORED.values():
                both = clock.together(clock.by_size(found, size, metric), (base, learned))
                cells.append(_compared([b[base] for b in both], [b[learned] for b in both], found))
            rows.append([size, given, *cells])
    return table_of(("RTT, ticks", "experts given", *_AGAINST), rows)


def _compared(base: Sequence[float], learned: Sequence[float], found: Sequence[Point]) -> str:
    if not base:
        return "–"
    pairs = Pairs(base, learned, found[0].confidence)
    mean, half = mean_interval(pairs.difference, pairs.confidence)
    nearer = sum(d > 0 for d in pairs.difference)
    means = " / ".join(map(_number, pairs.means or ()))
    return f"{means}: {mean:+.2f} ± {_number(half)}; {nearer} of {len(base)}"


def _five(found: Sequence[Point]) -> str:
    given = [p for p in found if p.where[2] == clock.CLOCK]
    labels = list(dict.fromkeys(clock.label(p) for p in given))
    rows = []
    for size in SIZES:
        sets = [clock.together(clock.by_size(given, size, metric), labels) for metric in SCORED.values()]
        for one in labels if all(sets) else ():
            cells = []
            for both in sets:
                mean, half = mean_interval([b[one] for b in both], found[0].confidence)
                nearest = sum(b[one] <= min(b.values()) for b in both)
                cells.append(f"{_number(mean)} ± {_number(half)}; {nearest} of {len(both)}")
            rows.append([size, f"`{one.partition(':')[0]}`", *cells])
    return table_of(("RTT, ticks", "", *_AGAINST), rows)


def _every(read: Sequence[Reading]) -> str:
    rows = []
    for r in read:
        scenario, variant, load = r.network
        rtt = r.mean_of_base("mean_rtt_ms")
        variance = _number(r.mean_of_base("rtt_variance_ticks2"))
        if (scenario, load) in VARIANCES:
            variance += f"; paper {VARIANCES[scenario, load]:.2f}"
        cells = []
        for metric in SCORED.values():
            pairs = r.pairs(metric)
            means = " / ".join(map(_number, pairs.means or ()))
            cells.append(f"{means}: {_interval(pairs.ratio, len(pairs.base))}" if means else "no samples")
        seeds = len(r.pairs(next(iter(SCORED.values()))).base)
        paper = PRINTED.get((scenario, load)) or PRINTED.get(scenario, "–")
        ticks = _number(None if rtt is None else rtt / TICK_MS)
        rows.append([scenario, variant, load, str(seeds), ticks, variance, r.given, *cells, paper])
    head = ("scenario", "variant", "load", "seeds", "RTT, ticks", "variance, ticks²", "experts given")
    return table_of((*head, *_AGAINST, "paper"), rows)


def _resent(read: Sequence[Reading]) -> str:
    rows = []
    for r in read:
        share, sent = r.pairs("retransmitted_share"), r.pairs("delivered_packets")
        if not share.base:
            continue
        ratio = Pairs(share.learned, share.base, share.confidence).ratio
        timeouts, needless = r.pairs("timeouts"), r.pairs("needless_timeouts")
        counts = [
            f"{_number(all_of)} ({_number(of_these)})"
            for all_of, of_these in zip(timeouts.means or (), needless.means or (), strict=True)
        ]
        rows.append(
            [
                *(part for part in r.network),
                r.given,
                " / ".join(f"{mean:.1%}" for mean in share.means or ()),
                _interval(ratio, len(share.base)),
                " / ".join(counts),
                " / ".join(f"{mean:.0f}" for mean in sent.means or ()),
            ]
        )
    head = ("scenario", "variant", "load", "experts given", "sent again, Jacobson's / experts'")
    return table_of((*head, "experts' over Jacobson's", "timeouts (needless)", "packets delivered"), rows)


def inconsistency(folder: Path) -> str:
    """What the tables of the live experiments give beside what the text claims of them."""
    published = live_page.read_published(folder / "published-live.csv")
    error, resent = "mean_abs_error_ticks", "retransmitted_packets"
    rows = []
    for scenario in dict.fromkeys(scenario for scenario, _, _ in published):
        cells = []
        for metric in (error, resent):
            experts, jacobson = (published[scenario, who, metric][0] for who in ("experts", "jacobson"))
            cells.append(f"{1 - experts / jacobson:.0%} less ({experts:g} against {jacobson:g})")
        rows.append([scenario, *cells])
    with (folder / "published.csv").open(newline="") as file:
        printed = [row for row in csv.DictReader(file) if "mean_abs_error" in row["metric"]]
    words = (f"{p['scenario']}, {p['condition']}: {p['algorithm']} {p['value']}" for p in printed)
    simulated = "; ".join(words)
    head = ("live experiment", "error of the experts", "sent again by the experts")
    return f"{table_of(head, rows)}\n\nOf the simulations it prints ({error}): {simulated}."
