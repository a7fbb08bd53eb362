# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Build the report of `tcplearn suite`, which compares estimators over series (flows of many traces)."""

import statistics
from collections.abc import Sequence
from typing import Any

from tcplearn import estimators
from tcplearn.errors import printable
from tcplearn.output.numbers import fine_ratio, percent
from tcplearn.output.rows import Record
from tcplearn.replay import sentences as verdicts
from tcplearn.replay.results import KEPT
from tcplearn.report import data, glossary, suite_charts
from tcplearn.report.page import Page
from tcplearn.report.palette import Look, looks
from tcplearn.suite import rows as suite_rows
from tcplearn.suite import suite as suites
from tcplearn.suite import tables as suite_tables
from tcplearn.suite import timers as suite_timers
from tcplearn.suite.measure import BASELINES, REFERENCES
from tcplearn.suite.suite import Suite
from tcplearn.suite.tables import WHEN_SHOWN

#: The number of worst series that a picture shows over time.
WORST = 3

_TERMS = (
    (
        "Series",
        "A flow with enough samples to be judged. Ratios are taken series by series and averaged as "
        "logarithms (geometric mean), so a long series and a long path weigh no more than others.",
    ),
    (
        "× (in a suite)",
        "Error to that of the better of jacobson and last on the same series. Which one is the better is "
        "known only afterwards: no estimator could have followed that choice.",
    ),
    (
        "[low, high]",
        "95 % bootstrap interval of the geometric mean, from 2,000 resamples of the series with a fixed "
        "seed. It is about series like these, as if they were independent of each other.",
    ),
    ("Wins", "Series on which the ratio is below 1."),
    (
        "At the time of sending, just before the ACK",
        "Two ways to compare a sample with a timer: by the RTO in force when its segment was sent, and by "
        "the one in force when its ACK arrived. A flight of other ACKs lies between the two.",
    ),
    (
        "Equal miss rates",
        "A timer that waits less usually misses more. Here the timer whose rate can be chosen was given, on "
        "each series, the rate of the reference on that series, so that their waits can be compared.",
    ),
)


def featured(rows: Sequence[Record]) -> str:
    """Return the estimator whose worst series are shown: the learned one with the smallest error ratio or, if
    none learns, the one with the smallest among all."""
    known = [r for r in rows if r["group"] == "series" and r["error_ratio"] is not None]
    known.sort(key=lambda r: r["error_ratio"])
    teachers = [r for r in known if estimators.learned(r["estimator"])]
    return str((teachers or known or rows)[0]["estimator"])


def page(suite: Suite, rows: Sequence[Record]) -> Page:
    long = [r for r in rows if r["group"] == "series"]
    look = looks([*suite.labels, *BASELINES])
    out = Page(f"tcplearn suite: {suite.directory}", suite.made_by.get("version", ""))
    out.head(
        "RTT prediction and retransmission timers over a suite of traces",
        "Every series was replayed alone, each estimator fresh; figures are ratios, averaged over series.",
        [
            *verdicts.of(suite_timers.of(suite), prediction=False),
            *sentences(suite, rows),
            *suite_tables.inventory(suite),
        ],
    )
    out.warnings("Files that could not be read", suite.problems)
    out.warnings("Copies of other series, left out", [printable(str(c)) for c in suite.copies])
    out.warnings("Warnings", suite.warnings)
    out.facts({"directory": suite.directory, **suite.made_by})

    out.section("Which timer")
    out.table(suite_tables.summary(suite, rows, suite_timers.of(suite)), look)
    out.section("Prediction")
    out.picture("prediction", _prediction(suite, long, look), _CLAMPED)
    tables = suite_tables.all_views(suite, rows)
    out.table(tables[0], look)
    _worst(suite, rows, look, out)

    out.section("Timers")
    _timers(suite, long, look, out)
    for table in tables[1:]:
        if table.title.startswith("Fresh"):
            out.section("Young connections")
            _restarts(suite, long, look, out)
        elif table.title.startswith("Shorter"):
            out.section("Shorter series", "On these series every estimator is still learning its path.")
        out.table(table, look)
    shown, others = glossary.of_estimators(look)
    out.glossary((*glossary.of_suite(_TERMS), *shown), others)
    return out


_CLAMPED = (
    "Each tick is one series; diamond and bar: geometric mean and its 95 % interval. Left of the line at 1 "
    "is better than both jacobson and last. Triangles at the edge lie beyond it; if an estimator's mean lies "
    "beyond it too, the table has its value."
)


def _prediction(suite: Suite, rows: Sequence[Record], look: dict[str, Look]) -> dict[str, Any]:
    ordered = sorted(rows, key=lambda r: (r["error_ratio"] is None, r["error_ratio"] or 0))
    keys = [f"{p}_{k}" for p in ("error", "at_send") for k in ("ratio", "worst")]
    shown = data.alike({r["estimator"]: [r[k] for k in keys] for r in ordered})
    panels = []
    for name, prefix in (
        ("prediction just before the sample", "error"),
        ("prediction when its segment was sent", "at_send"),
    ):
        marks, means = [], []
        for r in ordered:
            e = r["estimator"]
            if e not in shown:
                continue
            ratios = suite_rows.error_ratios(suite.series, e, at_send=prefix == "at_send")
            marks += suite_charts.strip_rows(shown[e], e, ratios.names, ratios.values.tolist())
            means += suite_charts.mean_row(shown[e], e, r, f"{prefix}_ratio")
        panels.append((name, marks, means))
    return suite_charts.strips(
        panels,
        list(shown.values()),
        look,
        title="Prediction error, series by series",
        hint="times that of the better of jacobson and last, chosen in hindsight; further left is better",
        axis="error, times the better of the two",
    )


def _worst(suite: Suite, rows: Sequence[Record], look: dict[str, Look], out: Page) -> None:
    e = featured(rows)
    ratios = suite_rows.error_ratios(suite.series, e)
    ranked = sorted(zip(ratios.values.tolist(), ratios.names, strict=True), reverse=True)[:WORST]
    by_name = {s.name: s for s in suite.series}
    wanted = [by_name[name] for _, name in ranked]
    if not wanted:
        return
    series = suites.series_of(suite, wanted, [*BASELINES, e])
    titles = [f"{printable(name)}: {e} {fine_ratio(v)}" for v, name in ranked]
    shown = {name: look[name] for name in (*BASELINES, e)}
    spec = suite_charts.worst(list(zip(titles, series, strict=True)), shown, f"Where {e} did worst")
    caption = "Beside the better of jacobson and last; the number is the ratio of the errors."
    out.picture("worst", spec, caption)


def _point(e: str, wait: float, rate: float, floor: float, **more: Any) -> dict[str, Any]:
    return {
        "e": e,
        "x": data.rounded(wait),
        "y": data.rounded(max(rate * 100, floor)),
        "miss": data.rounded(rate * 100),
        **more,
    }


def _curves(suite: Suite, when: str, floor: float) -> list[dict[str, Any]]:
    """Return the points of the timers' curves of miss rate against excess wait: one for each value of the
    timer's parameter. `when` is one of measure.WHEN. A miss rate of 0 is drawn at `floor`."""
    series = suite.series
    out = []
    for order, (e, value) in enumerate(series[0].curves):
        here = [(s, s.curves[e, value].timer(when), s.figures["jacobson"].timer(when)) for s in series]
        waits = [t.excess / base.excess for _, t, base in here if t.excess and base.excess]
        if not waits or (wait := suite_charts.log_mean(waits)) > suite_charts.WAIT_MOST:
            continue
        rate = statistics.fmean(t.miss_rate for _, t, _ in here)
        factor = e not in suite.timers
        named = value in ((1, 2, 8, 16) if factor else (0.001, 0.1))
        at = f"K={value:g}" if factor else f"{value * 100:g} %"
        out.append(_point(e, wait, rate, floor, at=at, named=named, order=order))
    return out


def _timers(suite: Suite, rows: Sequence[Record], look: dict[str, Look], out: Page) -> None:
    floor = suite_charts.floor_of(sum(s.samples for s in suite.series))
    panels, left = [], {}
    for when, name in WHEN_SHOWN.items():
        points = []
        for r in rows:
            e = r["estimator"]
            wait = suite_rows.wait_ratios(suite.series, e, when=when).mean
            if wait is None:
                continue
            if wait > suite_charts.WAIT_MOST:
                left[e] = wait
                continue
            rate = statistics.fmean(s.figures[e].timer(when).miss_rate for s in suite.series)
            points.append(_point(e, wait, rate, floor))
        panels.append((f"judged by the RTO {name}", points, _curves(suite, when, floor)))
    beyond = ", ".join(f"{e} ({fine_ratio(w)}×)" for e, w in left.items())
    hint = "lower left is better; curves: jacobson by K, a timer with a miss rate by that rate"
    caption = (
        "Excess wait: geometric mean over series of the ratio to jacobson's; miss rate: mean of the series."
    )
    caption += f" Beyond the right edge: {beyond}." if beyond else ""
    out.picture("timers", suite_charts.pareto(panels, look, floor, hint), caption)
    if suite.timers:
        _promise(suite, look, out)
    if suite.matching:
        _match(suite, rows, look, out)


def _promise(suite: Suite, look: dict[str, Look], out: Page) -> None:
    order, marks = [], []
    for e in suite.timers:
        target = estimators.miss_rate(e) or 1.0
        for when, name in WHEN_SHOWN.items():
            ratios = suite_rows.miss_ratios(suite.series, e, target, when)
            order.append(f"{e}, {name}")
            marks += suite_charts.strip_rows(order[-1], e, ratios.names, ratios.values.tolist())
    if marks:
        spec = suite_charts.strips(
            [("each tick a series", marks, [])],
            order,
            look,
            title="Miss rate achieved, times the one requested",
            hint="at 1 the promise was kept; the band is from 0.7 to 1.3",
            axis="achieved / requested",
            band=KEPT,
        )
        out.picture("miss-rates", spec)


def _match(suite: Suite, rows: Sequence[Record], look: dict[str, Look], out: Page) -> None:
    order, marks, means = [], [], []
    by_name = {r["estimator"]: r for r in rows}
    for e in suite.timers:
        for reference in REFERENCES:
            for when, name in WHEN_SHOWN.items():
                ratios = suite_rows.match_ratios(suite.series, e, reference, when)
                if not len(ratios.values):
                    continue
                label = f"{e} at {reference}'s rate, {name}"
                order.append(label)
                marks += suite_charts.strip_rows(label, e, ratios.names, ratios.values.tolist())
                key = f"match_{reference}_{when}_excess_wait_ratio"
                means += suite_charts.mean_row(label, e, by_name[e], key)
    if order:
        spec = suite_charts.strips(
            [("each tick a series", marks, means)],
            order,
            look,
            title="Excess wait at the reference's own miss rate",
            hint="left of 1: it waits less for as many misses",
            axis="excess wait, times the reference's",
        )
        caption = "Whether the rates were equal indeed, the table says under misses ×."
        out.picture("equal-misses", spec, caption)


def _restarts(suite: Suite, rows: Sequence[Record], look: dict[str, Look], out: Page) -> None:
    points, left = [], []
    keys = [f"restart_{n}_{k}" for n in suite.options.restarts for k in ("ratio", "worst")]
    shown = data.alike({r["estimator"]: [r[k] for k in keys] for r in rows})
    by_name = {r["estimator"]: r for r in rows}
    for e, label in shown.items():
        r = by_name[e]
        known = [(n, r[f"restart_{n}_ratio"]) for n in suite.options.restarts]
        if any(v is not None and v > suite_charts.RATIO_HIGH for _, v in known):
            left.append(label)
            continue
        for n, v in known:
            if v is not None:
                low, high = r[f"restart_{n}_ratio_low"], r[f"restart_{n}_ratio_high"]
                a, b = (v if end is None else end for end in (low, high))
                points.append({"e": label, "n": n, "x": v, "a": a, "b": min(b, suite_charts.RATIO_HIGH)})
    look = {label: look[e] for e, label in shown.items()}
    if points:
        caption = "Points: geometric means over series; bars: 95 % intervals."
        caption += f" Above the upper edge: {', '.join(left)}." if left else ""
        hint = "below 1 is better than both jacobson and last"
        out.picture("restarts", suite_charts.restarts(points, look, hint), caption)


def _interval(row: Record, key: str) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return "" if low is None else f" (95 % interval {fine_ratio(low)} to {fine_ratio(high)})"


def sentences(suite: Suite, rows: Sequence[Record]) -> list[str]:
    long = [r for r in rows if r["group"] == "series"]
    out = []
    for key in ("error", "at_send"):
        known = [r for r in long if r[f"{key}_ratio"] is not None]
        if not known:
            continue
        best = min(known, key=lambda r: r[f"{key}_ratio"])
        figure = f"{fine_ratio(best[f'{key}_ratio'])}{_interval(best, f'{key}_ratio')}"
        if key == "error":
            out.append(
                f"{best['estimator']} has the smallest error of prediction: {figure} times that of the "
                "better of jacobson and last, which nobody could choose beforehand. "
                f"It is below 1 on {best['error_wins']:,} of {best['error_series']:,} series; "
                f"its worst is {fine_ratio(best['error_worst'])}, on {best['error_worst_series']}."
            )
        else:
            out.append(
                "Judged by the prediction in force when each segment was sent, the smallest is that of "
                f"{best['estimator']}: {figure}; its worst is {fine_ratio(best['at_send_worst'])}."
            )
    for r in long:
        if r["rto_miss_rate_requested"] is not None:
            out += _timer_sentences(suite, r)
    return out


def _timer_sentences(suite: Suite, r: Record) -> list[str]:
    kept = [
        f"{r[f'miss_{when}_kept'] or 0} of {r[f'miss_{when}_series']} judged by the RTO {name}"
        for when, name in WHEN_SHOWN.items()
        if r[f"miss_{when}_series"]
    ]
    out = []
    if kept:
        out.append(
            f"Of {r['estimator']} a miss rate of {percent(r['rto_miss_rate_requested'])} was requested; "
            f"series where it kept within 0.7 to 1.3 of that: {', '.join(kept)}."
        )
    if not suite.matching:
        return out
    for reference in REFERENCES:
        p = f"match_{reference}_before"
        if not r[f"{p}_series"]:
            out.append(
                f"{reference} misses too rarely on all series to compare {r['estimator']} at its rate."
            )
            continue
        ratio, low, high = (r[f"{p}_excess_wait_ratio{end}"] for end in ("", "_low", "_high"))
        open_ = low is not None and low <= 1 <= high
        out.append(
            f"Given {reference}'s own miss rate on each series (just before the ACK), {r['estimator']} has "
            f"{fine_ratio(ratio)}{_interval(r, f'{p}_excess_wait_ratio')} times its excess wait, over "
            f"{r[f'{p}_series']} of {len(suite.series)} series"
            + (": the interval holds 1, so no difference is shown." if open_ else ".")
        )
    return out
