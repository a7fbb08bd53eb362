# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the tables of a suite (estimators compared over many traces) for the terminal and the report."""

import itertools
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.output import numbers, terminal
from tcplearn.output import table as tables
from tcplearn.output.rows import Record
from tcplearn.output.table import Column, Table, headed
from tcplearn.replay import copies, sentences, verdict
from tcplearn.replay.results import KEPT, MISSES_LEAST
from tcplearn.replay.verdict import LINUX_RATIO, SPURIOUS, STANDARD
from tcplearn.suite import timers as suite_timers
from tcplearn.suite.measure import REFERENCES, WHEN
from tcplearn.suite.rows import AS_GOOD
from tcplearn.suite.suite import Suite

WHEN_SHOWN = {"send": "at the sending", "before": "just before the ACK"}

#: With fewer series than this a bootstrap interval is inaccurate.
FEW = 10


def _by(rows: Sequence[Record], key: str) -> list[Record]:
    return sorted(rows, key=lambda r: (r[key] is None, r[key] or 0.0))


def prediction(rows: Sequence[Record], title: str) -> Table:
    out = Table(
        headed(
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
            words=(0, 9),
            spare=(9, 4, 8, 3, 7, 2, 6),
        ),
        title=title,
        legend=(
            "×: error divided by that of the better of jacobson and last, which is chosen for each series in "
            "hindsight; geometric mean over series. wins: number of series below 1."
        ),
    )
    for r in _by(rows, "error_ratio"):
        cells = [tables.text(r["estimator"])]
        for prefix in ("error", "at_send"):
            cells += [
                tables.ratio(r[f"{prefix}_ratio"], r[f"{prefix}_ratio_low"], r[f"{prefix}_ratio_high"]),
                tables.ratio(r[f"{prefix}_worst"]),
                tables.count(r[f"{prefix}_wins"]),
                tables.share(r[f"{prefix}_as_good_share"]),
            ]
        out.rows.append([*cells, tables.text(r["error_worst_series"])])
    return out.mark_best((1, 2, 5, 6))


def timers(rows: Sequence[Record]) -> Table:
    out = Table(
        headed(
            "estimator",
            "miss %\nat send",
            "\nits mean",
            "\nbefore",
            "mean RTO\nms",
            "\n×",
            "excess wait\nms",
            "\n× [95 %]",
            spare=(2, 3, 5),
        ),
        title="Timers",
        legend=(
            "miss: share of samples above the RTO in force when their segment was sent, over all samples and "
            "as the mean of the series; before: share above the RTO in force just before the sample. ms: "
            "mean over all samples; ×: divided by jacobson's, geometric mean over series."
        ),
    )
    for r in _by(rows, "excess_wait_ratio"):
        out.rows.append(
            [
                tables.text(r["estimator"]),
                tables.rate(r["rto_miss_rate"]),
                tables.rate(r["rto_miss_rate_mean"]),
                tables.rate(r["rto_miss_rate_before"]),
                tables.milliseconds(r["mean_rto_ms"]),
                tables.ratio(r["mean_rto_ratio"]),
                tables.milliseconds(r["excess_wait_ms"]),
                tables.ratio(r["excess_wait_ratio"], r["excess_wait_ratio_low"], r["excess_wait_ratio_high"]),
            ]
        )
    return out


def promises(rows: Sequence[Record]) -> Table:
    out = Table(
        headed(
            "timer",
            "judged by the RTO",
            "requested\nmiss %",
            "achieved / requested\nall samples",
            "\nleast",
            "\nmedian",
            "\nmost",
            f"{KEPT[0]} to {KEPT[1]}\nseries",
            "series with most",
            words=(0, 1, 8),
            spare=(8, 5, 4, 6, 7),
        ),
        title="Chosen miss rates, and those achieved",
        legend=(
            f"least to most: over the series with at least {MISSES_LEAST} expected misses. A timer learns of "
            "a miss when the ACK comes, and steers the RTO in force just before the next one; in a bulk flow "
            "the RTO in force when a segment is sent is a flight older."
        ),
    )
    for r, when in itertools.product((r for r in rows if r["rto_miss_rate_requested"] is not None), WHEN):
        p = f"miss_{when}"
        kept = "" if r[f"{p}_kept"] is None else f"{r[f'{p}_kept']} of {r[f'{p}_series']}"
        out.rows.append(
            [
                tables.text(r["estimator"]),
                tables.text(WHEN_SHOWN[when]),
                tables.rate(r["rto_miss_rate_requested"]),
                *(tables.ratio(r[f"{p}_{key}"]) for key in ("pooled", "least", "median", "most")),
                tables.Cell(kept, r[f"{p}_kept"]),
                tables.text(r[f"{p}_most_series"]),
            ]
        )
    return out


def equal_misses(rows: Sequence[Record]) -> Table:
    out = Table(
        headed(
            "timer",
            "at the rate of",
            "judged by the RTO",
            "series",
            "left out",
            "excess wait ×\n[95 %]",
            "mean RTO ×\n[95 %]",
            "misses ×",
            words=(0, 1, 2),
            spare=(4, 3, 7),
        ),
        title="Waits at equal miss rates",
        legend=(
            "For each series the timer is given the miss rate that the reference had there; ×: divided by "
            "the reference's, geometric mean over series. misses ×: the timer's misses in all series divided "
            "by the reference's; where that is far from 1, the waits are not at equal rates. Left out: "
            f"series in which the reference missed fewer than {MISSES_LEAST} times, or at a rate to which "
            "the timer cannot be set."
        ),
    )
    timers = [r for r in rows if r["rto_miss_rate_requested"] is not None]
    for r, reference, when in itertools.product(timers, REFERENCES, WHEN):
        p = f"match_{reference}_{when}"
        out.rows.append(
            [
                tables.text(r["estimator"]),
                tables.text(reference),
                tables.text(WHEN_SHOWN[when]),
                tables.count(r[f"{p}_series"]),
                tables.count(r[f"{p}_skipped"]),
                *(
                    tables.ratio(r[f"{p}_{f}_ratio"], r[f"{p}_{f}_ratio_low"], r[f"{p}_{f}_ratio_high"])
                    for f in ("excess_wait", "mean_rto")
                ),
                tables.ratio(r[f"{p}_misses_ratio"]),
            ]
        )
    return out


def restarts(rows: Sequence[Record], lengths: Sequence[int]) -> Table:
    heads = [h for n in lengths for h in (f"{n} samples\n× [95 %]", "\nworst")]
    out = Table(
        headed("estimator", *heads),
        title="Fresh restarts",
        legend=(
            "Each series is cut into at most 120 windows, each of which begins with a fresh estimator; ×: "
            "error pooled over a series' windows, divided by that of the better of jacobson and last there."
        ),
    )
    for r in _by(rows, f"restart_{lengths[0]}_ratio"):
        cells = [tables.text(r["estimator"])]
        for p in (f"restart_{n}" for n in lengths):
            cells += [
                tables.ratio(r[f"{p}_ratio"], r[f"{p}_ratio_low"], r[f"{p}_ratio_high"]),
                tables.ratio(r[f"{p}_worst"]),
            ]
        out.rows.append(cells)
    return out.mark_best(range(1, 1 + 2 * len(lengths)))


def summary(suite: Suite, rows: Sequence[Record], answer: verdict.Verdict | None) -> Table:
    """Return a table with a line for each estimator, the best first, as ranked in `answer`."""
    out = Table(
        [
            Column("estimator", words=True),
            Column("spurious\ntimeouts"),
            Column("RTO\nmean"),
            Column("\n× linux", keep=3, ratio=True, detailed=True),
            Column("error\n×", keep=2, detailed=True),
            Column("\nworst", keep=1),
        ],
        legend=(
            "RTO: mean over all samples, ms; error ×: divided by that of the better of jacobson and last, "
            f"chosen for each series in hindsight, geometric mean; {STANDARD}: RFC 6298."
        ),
    )
    by_name = {r["estimator"]: r for r in rows if r["group"] == "series"}
    order = [row.estimator for row in answer.rows] if answer else list(by_name)
    for r in (by_name[name] for name in order):
        out.rows.append(
            [
                tables.text(r["estimator"]),
                tables.count(r[SPURIOUS]),
                tables.milliseconds(r["mean_rto_ms"]),
                _with_ends(r, LINUX_RATIO),
                _with_ends(r, "error_ratio"),
                tables.ratio(r["error_worst"]),
            ]
        )
    return out.mark_best((1, 2, 4, 5))


def _with_ends(row: Record, key: str) -> tables.Cell:
    """Return a cell with the ratio `key` of `row`, and with its interval if the table is wide enough."""
    value, low, high = (row[f"{key}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return tables.Cell()
    ends = "" if low is None or high is None or low == high == 1 else f" ({low:.2f}-{high:.2f})"
    return tables.Cell(f"×{numbers.ratio(value)}", value, more=ends)


def all_views(suite: Suite, rows: Sequence[Record]) -> list[Table]:
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
    """Return sentences that say how many files, series and samples of `suite` were read, and how many were
    left out."""
    good = [f for f in suite.files if not f.problem]
    tiny = sum(f.tiny for f in good)
    samples = sum(s.samples for s in suite.series)
    out = [
        f"{numbers.counted(len(good), 'file')} read: {_over(suite)} ({numbers.counted(samples, 'sample')}), "
        f"{len(suite.short):,} shorter"
        + (f", {numbers.counted(tiny, 'flow')} left out, with hardly any sample" if tiny else "")
        + "."
    ]
    out += copies.sentence(suite.copies)
    if suite.problems:
        out.append(f"{numbers.counted(len(suite.problems), 'file')} could not be read.")
    if len(suite.series) < FEW:
        out.append("With so few series the intervals are rough, and say little about other networks.")
    return out


def document(
    suite: Suite,
    rows: Sequence[Record],
    console: Console,
    *,
    quiet: bool = False,
    everything: bool = False,
    reported: bool = False,
) -> RenderableType:
    """Return the verdict (which timer suits the traces best) and its table, for printing. `everything` adds
    all other tables of the suite, `quiet` leaves out all text. If `reported`, the user has asked for a report
    file, and the last line does not suggest it."""
    parts: list[RenderableType] = []
    answer = suite_timers.of(suite)
    if not quiet:
        parts += [Text(line) for line in sentences.of(answer, prediction=False)]
        parts += [Text(""), Text(printable(suite.directory), style="bold"), *map(Text, inventory(suite))]
    for view in [summary(suite, rows, answer), *(all_views(suite, rows) if everything else ())]:
        if quiet:
            view.legend = ""
        parts += [*([Text("")] if parts else []), terminal.titled(view, console)]
    if not quiet:
        more = "--restart 50 for young connections" if everything else "--all for every timer and table"
        parts.append(
            Text(f"Next: {more}." if reported else f"Next: --report suite.html for pictures; {more}.")
        )
    return Group(*parts)
