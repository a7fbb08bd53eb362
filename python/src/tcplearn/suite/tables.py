# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes the tables of a suite (estimators compared over many traces) for the terminal and the report."""

import itertools
from collections.abc import Callable, Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from tcplearn.errors import printable
from tcplearn.output import numbers, terminal
from tcplearn.output.rows import Record
from tcplearn.output.table import Cell, Column, Table, count, headed, milliseconds, rate, ratio, share, text
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


#: A column of a table: its head, the function of its cells, and the keys of a row's values that it gets.
Described = tuple[str, Callable[..., Cell], *tuple[str, ...]]


def _table(
    columns: Sequence[Described], rows: Iterable[Record], spare: Sequence[int], title: str, legend: str
) -> Table:
    words = [i for i, (_, cell, *_) in enumerate(columns) if cell is text]
    out = Table(headed(*(head for head, *_ in columns), words=words, spare=spare), title=title, legend=legend)
    out.rows = [[cell(*(row[key] for key in keys)) for _, cell, *keys in columns] for row in rows]
    return out


def _with_interval(head: str, key: str) -> Described:
    return head, ratio, key, f"{key}_low", f"{key}_high"


def _below(row: Record, prefix: str) -> Record:
    """Return the values in `row` whose keys begin with `prefix`, by the rest of their keys."""
    return {key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)}


def prediction(rows: Sequence[Record], title: str) -> Table:
    columns: list[Described] = [("estimator", text, "estimator")]
    for name, prefix in (("error", "error"), ("at send", "at_send")):
        columns += [
            _with_interval(f"{name} ×\n[95 %]", f"{prefix}_ratio"),
            ("\nworst", ratio, f"{prefix}_worst"),
            ("\nwins", count, f"{prefix}_wins"),
            (f"\n≤ {AS_GOOD}", share, f"{prefix}_as_good_share"),
        ]
    return _table(
        [*columns, ("worst series\n(error ×)", text, "error_worst_series")],
        _by(rows, "error_ratio"),
        spare=(9, 4, 8, 3, 7, 2, 6),
        title=title,
        legend="×: error divided by that of the better of jacobson and last, which is chosen for each series "
        "in hindsight; geometric mean over series. wins: number of series below 1.",
    ).mark_best((1, 2, 5, 6))


def timers(rows: Sequence[Record]) -> Table:
    return _table(
        [
            ("estimator", text, "estimator"),
            ("miss %\nat send", rate, "rto_miss_rate"),
            ("\nits mean", rate, "rto_miss_rate_mean"),
            ("\nbefore", rate, "rto_miss_rate_before"),
            ("mean RTO\nms", milliseconds, "mean_rto_ms"),
            ("\n×", ratio, "mean_rto_ratio"),
            ("excess wait\nms", milliseconds, "excess_wait_ms"),
            _with_interval("\n× [95 %]", "excess_wait_ratio"),
        ],
        _by(rows, "excess_wait_ratio"),
        spare=(2, 3, 5),
        title="Timers",
        legend="miss: share of samples above the RTO in force when their segment was sent, over all samples "
        "and as the mean of the series; before: share above the RTO in force just before the sample. ms: "
        "mean over all samples; ×: divided by jacobson's, geometric mean over series.",
    )


def promises(rows: Sequence[Record]) -> Table:
    timers = [r for r in rows if r["rto_miss_rate_requested"] is not None]
    return _table(
        [
            ("timer", text, "timer"),
            ("judged by the RTO", text, "when"),
            ("requested\nmiss %", rate, "requested"),
            ("achieved / requested\nall samples", ratio, "pooled"),
            ("\nleast", ratio, "least"),
            ("\nmedian", ratio, "median"),
            ("\nmost", ratio, "most"),
            (f"{KEPT[0]} to {KEPT[1]}\nseries", _kept, "kept", "series"),
            ("series with most", text, "most_series"),
        ],
        (
            {
                "timer": r["estimator"],
                "when": WHEN_SHOWN[when],
                "requested": r["rto_miss_rate_requested"],
                **_below(r, f"miss_{when}_"),
            }
            for r, when in itertools.product(timers, WHEN)
        ),
        spare=(8, 5, 4, 6, 7),
        title="Chosen miss rates, and those achieved",
        legend=f"least to most: over the series with at least {MISSES_LEAST} expected misses. A timer learns "
        "of a miss when the ACK comes, and steers the RTO in force just before the next one; in a bulk flow "
        "the RTO in force when a segment is sent is a flight older.",
    )


def _kept(kept: int | None, series: int) -> Cell:
    return Cell("" if kept is None else f"{kept} of {series}", kept)


def equal_misses(rows: Sequence[Record]) -> Table:
    timers = [r for r in rows if r["rto_miss_rate_requested"] is not None]
    return _table(
        [
            ("timer", text, "timer"),
            ("at the rate of", text, "reference"),
            ("judged by the RTO", text, "when"),
            ("series", count, "series"),
            ("left out", count, "skipped"),
            _with_interval("excess wait ×\n[95 %]", "excess_wait_ratio"),
            _with_interval("mean RTO ×\n[95 %]", "mean_rto_ratio"),
            ("misses ×", ratio, "misses_ratio"),
        ],
        (
            {
                "timer": r["estimator"],
                "reference": reference,
                "when": WHEN_SHOWN[when],
                **_below(r, f"match_{reference}_{when}_"),
            }
            for r, reference, when in itertools.product(timers, REFERENCES, WHEN)
        ),
        spare=(4, 3, 7),
        title="Waits at equal miss rates",
        legend="For each series the timer is given the miss rate that the reference had there; ×: divided by "
        "the reference's, geometric mean over series. misses ×: the timer's misses in all series divided by "
        "the reference's; where that is far from 1, the waits are not at equal rates. Left out: series in "
        f"which the reference missed fewer than {MISSES_LEAST} times, or at a rate to which the timer cannot "
        "be set.",
    )


def restarts(rows: Sequence[Record], lengths: Sequence[int]) -> Table:
    columns: list[Described] = [("estimator", text, "estimator")]
    for n in lengths:
        columns += [
            _with_interval(f"{n} samples\n× [95 %]", f"restart_{n}_ratio"),
            ("\nworst", ratio, f"restart_{n}_worst"),
        ]
    return _table(
        columns,
        _by(rows, f"restart_{lengths[0]}_ratio"),
        spare=(),
        title="Fresh restarts",
        legend="Each series is cut into at most 120 windows, each of which begins with a fresh estimator; ×: "
        "error pooled over a series' windows, divided by that of the better of jacobson and last there.",
    ).mark_best(range(1, len(columns)))


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
                text(r["estimator"]),
                count(r[SPURIOUS]),
                milliseconds(r["mean_rto_ms"]),
                _with_ends(r, LINUX_RATIO),
                _with_ends(r, "error_ratio"),
                ratio(r["error_worst"]),
            ]
        )
    return out.mark_best((1, 2, 4, 5))


def _with_ends(row: Record, key: str) -> Cell:
    """Return a cell with the ratio `key` of `row`, and with its interval if the table is wide enough."""
    value, low, high = (row[f"{key}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return Cell()
    ends = "" if low is None or high is None or low == high == 1 else f" ({low:.2f}-{high:.2f})"
    return Cell(f"×{numbers.ratio(value)}", value, more=ends)


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
        out.append(prediction(short, f"Shorter series: {short[0]['series']:,} of fewer than {most} samples"))
    return out


def _over(suite: Suite) -> str:
    n = len(suite.series)
    return f"{n:,} series of {suite.options.min_samples} samples or more" if n > 1 else "one series"


def inventory(suite: Suite) -> list[str]:
    """Return sentences on how many files, series and samples were read, and how many were left out."""
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
    """Return the verdict and its table, for printing. `everything` adds all other tables, `quiet` leaves out
    all text. If `reported`, the last line does not suggest a report."""
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
