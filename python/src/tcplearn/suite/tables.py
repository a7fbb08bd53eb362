# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a suite gave, as tables for a terminal and for the report."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.output import table as views
from tcplearn.output.rows import Record
from tcplearn.output.table import View
from tcplearn.replay.results import KEPT, MISSES_LEAST
from tcplearn.replay.tables import counted
from tcplearn.suite.rows import AS_GOOD
from tcplearn.suite.suite import REFERENCES, WHEN, Suite

WHEN_SHOWN = {"send": "at the sending", "before": "just before the ACK"}

#: Fewer series than this make an interval a rough one.
FEW = 10


def _by(rows: Sequence[Record], key: str) -> list[Record]:
    return sorted(rows, key=lambda r: (r[key] is None, r[key] or 0.0))


def prediction(rows: Sequence[Record], title: str) -> View:
    view = View(
        title,
        (
            "estimator",
            "error ×\n[95 %]",
            "\nworst",
            "\nwins",
            f"\n≤ {AS_GOOD}",
            "at send ×\n[95 %]",
            "\nworst",
            "\nwins",
            f"\n≤ {AS_GOOD}",
            "worst series\n(error ×)",
        ),
        words=frozenset({0, 9}),
        legend=(
            "×: error to that of the better of jacobson and last, chosen for each series in hindsight; "
            "geometric mean over series. wins: series below 1."
        ),
    )
    for r in _by(rows, "error_ratio"):
        cells = [views.text(r["estimator"])]
        for prefix in ("error", "at_send"):
            cells += [
                views.ratio(r[f"{prefix}_ratio"], r[f"{prefix}_ratio_low"], r[f"{prefix}_ratio_high"]),
                views.ratio(r[f"{prefix}_worst"]),
                views.count(r[f"{prefix}_wins"]),
                views.share(r[f"{prefix}_as_good_share"]),
            ]
        view.rows.append([*cells, views.text(r["error_worst_series"])])
    return views.with_best(view, (1, 2, 5, 6))


def timers(rows: Sequence[Record]) -> View:
    view = View(
        "Timers",
        (
            "estimator",
            "miss %\nat send",
            "\nits mean",
            "\nbefore",
            "mean RTO\nms",
            "\n×",
            "excess wait\nms",
            "\n× [95 %]",
        ),
        legend=(
            "miss: samples above the RTO in force when their segment was sent, over all samples and as the "
            "mean of the series; before: above the RTO that stood just before the sample. ms: over all "
            "samples; ×: to jacobson, geometric mean over series."
        ),
    )
    for r in _by(rows, "excess_wait_ratio"):
        view.rows.append(
            [
                views.text(r["estimator"]),
                views.rate(r["rto_miss_rate"]),
                views.rate(r["rto_miss_rate_mean"]),
                views.rate(r["rto_miss_rate_before"]),
                views.milliseconds(r["mean_rto_ms"]),
                views.ratio(r["mean_rto_ratio"]),
                views.milliseconds(r["excess_wait_ms"]),
                views.ratio(r["excess_wait_ratio"], r["excess_wait_ratio_low"], r["excess_wait_ratio_high"]),
            ]
        )
    return view


def promises(rows: Sequence[Record]) -> View:
    view = View(
        "Chosen miss rates, and those achieved",
        (
            "timer",
            "judged by the RTO",
            "asked\nmiss %",
            "achieved / asked\nall samples",
            "\nleast",
            "\nmedian",
            "\nmost",
            f"{KEPT[0]} to {KEPT[1]}\nseries",
            "series with most",
        ),
        words=frozenset({0, 1, 8}),
        legend=(
            f"least to most: series with at least {MISSES_LEAST} expected misses. A timer learns of a miss "
            "when the ACK comes, and steers the RTO that stands just before the next one; in a bulk flow the "
            "RTO in force at the sending is a flight older."
        ),
    )
    for r, when in itertools.product((r for r in rows if r["rto_miss_rate_asked"] is not None), WHEN):
        p = f"miss_{when}"
        kept = "" if r[f"{p}_kept"] is None else f"{r[f'{p}_kept']} of {r[f'{p}_series']}"
        view.rows.append(
            [
                views.text(r["estimator"]),
                views.text(WHEN_SHOWN[when]),
                views.rate(r["rto_miss_rate_asked"]),
                *(views.ratio(r[f"{p}_{key}"]) for key in ("pooled", "least", "median", "most")),
                views.Cell(kept, r[f"{p}_kept"]),
                views.text(r[f"{p}_most_series"]),
            ]
        )
    return view


def equal_misses(rows: Sequence[Record]) -> View:
    view = View(
        "Waits at equal miss rates",
        (
            "timer",
            "at the rate of",
            "judged by the RTO",
            "series",
            "left out",
            "excess wait ×\n[95 %]",
            "mean RTO ×\n[95 %]",
            "misses ×",
        ),
        words=frozenset({0, 1, 2}),
        legend=(
            "For each series the timer is given the miss rate that the reference had there; ×: to the "
            "reference, geometric mean over series. misses ×: all its misses to the reference's; where that "
            "is far from 1 the waits are not at equal rates. "
            f"Left out: the reference missed fewer than {MISSES_LEAST} times, or at a rate that the timer "
            "cannot be set to."
        ),
    )
    timers = [r for r in rows if r["rto_miss_rate_asked"] is not None]
    for r, reference, when in itertools.product(timers, REFERENCES, WHEN):
        p = f"match_{reference}_{when}"
        view.rows.append(
            [
                views.text(r["estimator"]),
                views.text(reference),
                views.text(WHEN_SHOWN[when]),
                views.count(r[f"{p}_series"]),
                views.count(r[f"{p}_skipped"]),
                *(
                    views.ratio(r[f"{p}_{f}_ratio"], r[f"{p}_{f}_ratio_low"], r[f"{p}_{f}_ratio_high"])
                    for f in ("excess_wait", "mean_rto")
                ),
                views.ratio(r[f"{p}_misses_ratio"]),
            ]
        )
    return view


def restarts(rows: Sequence[Record], lengths: Sequence[int]) -> View:
    heads = [h for n in lengths for h in (f"{n} samples\n× [95 %]", "\nworst")]
    view = View(
        "Fresh restarts",
        ("estimator", *heads),
        legend=(
            "Each series is cut into windows, up to 120, that each begin with a fresh estimator; ×: error "
            "pooled over a series' windows, to the better of jacobson and last there."
        ),
    )
    for r in _by(rows, f"restart_{lengths[0]}_ratio"):
        cells = [views.text(r["estimator"])]
        for p in (f"restart_{n}" for n in lengths):
            cells += [
                views.ratio(r[f"{p}_ratio"], r[f"{p}_ratio_low"], r[f"{p}_ratio_high"]),
                views.ratio(r[f"{p}_worst"]),
            ]
        view.rows.append(cells)
    return views.with_best(view, range(1, 1 + 2 * len(lengths)))


def all_views(suite: Suite, rows: Sequence[Record]) -> list[View]:
    long = [r for r in rows if r["group"] == "series"]
    short = [r for r in rows if r["group"] == "short"]
    out = [prediction(long, f"Prediction, {_over(suite)}"), timers(long)]
    if suite.timers:
        out.append(promises(long))
    if suite.matching:
        out.append(equal_misses(long))
    if suite.options.restarts:
        out.append(restarts(long, suite.options.restarts))
    if short:
        most = suite.options.min_samples
        out.append(
            prediction(
                short,
                f"Shorter series: {short[0]['series']:,} of fewer than {most} samples",
            )
        )
    return out


def _over(suite: Suite) -> str:
    n = len(suite.series)
    return f"{n:,} series of {suite.options.min_samples} samples or more" if n > 1 else "one series"


def inventory(suite: Suite) -> list[str]:
    """What was read and what was not, in sentences."""
    good = [f for f in suite.files if not f.problem]
    tiny = sum(f.tiny for f in good)
    samples = sum(s.samples for s in suite.series)
    out = [
        f"{counted(len(good), 'file')} read: {_over(suite)} ({counted(samples, 'sample')}), "
        f"{len(suite.short):,} shorter"
        + (f", {counted(tiny, 'flow')} with hardly any sample left out" if tiny else "")
        + "."
    ]
    if suite.problems:
        out.append(f"{counted(len(suite.problems), 'file')} could not be read.")
    if len(suite.series) < FEW:
        out.append("So few series make the intervals rough: they say little of other networks.")
    return out


def document(suite: Suite, rows: Sequence[Record], *, quiet: bool = False) -> RenderableType:
    parts: list[RenderableType] = []
    if not quiet:
        parts += [Text(printable(suite.directory), style="bold"), *map(Text, inventory(suite))]
    for view in all_views(suite, rows):
        if quiet:
            view.legend = ""
        parts += [*([Text("")] if parts else []), views.to_rich(view)]
    return Group(*parts)
