# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the startup policy `tsl-feedback` (IW and ssthresh after a lost SYN-ACK depend on the link's loss
share) with the standard policy (IW 1, ssthresh 2) and with TSL 3,16 (IW 3, ssthresh 16), in runs with the
same seed. Says whether `tsl-feedback` meets its criteria. At the highest load, the change on the page is the
geometric mean, over seeds, of the result with `tsl-feedback` divided by that with the other policy. An
arithmetic mean of such ratios would be above 1 even if the policies did not differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from experiments.lib.runs import Run as KeptRun
from experiments.lib.statistics import Estimate, geometric
from experiments.tambuwal2018.cells import (
    STANDARD,
    Cell,
    Run,
    by_level,
    cells,
    data_s,
    loss_share,
    mean,
    mean_rtts,
    mean_whole_ms,
    paired,
    percent,
)
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import mean_interval, ratio_interval, t_quantile

PROFILE, OWN, BOLD = "congested", "tsl-feedback", "tsl/3-16"
#: The criterion for `tsl-feedback`: the confidence of intervals, the least share of the gain of `tsl/3-16`,
#: and by how many % it may be worse than the standard at the highest load.
BAR_CONFIDENCE, BAR_GAIN, BAR_WORSE = 0.9, 0.9, 5.0
#: The measures compared where more connections begin than the bottleneck can carry, as indices of `MEASURES`.
CROWDED = (0, 4, 5, 6)
MANY = 100_000  # degrees of freedom with which Student's t distribution is practically normal

#: The compared measures: name, digits, value of a run. The criterion is judged on the first.
MEASURES: tuple[tuple[str, int, Callable[[Run], float]], ...] = (
    ("mean response, RTTs", 2, mean_rtts),
    ("geometric mean of the responses, RTTs", 2, lambda run: geometric(run.lost["rtts"])),
    ("median response, RTTs", 2, lambda run: float(np.median(run.lost["rtts"]))),
    ("mean response, the initial timer left out, ms", 0, lambda run: 1000 * mean(data_s(run.lost))),
    ("mean whole response, ms", 0, mean_whole_ms),
    ("mean response of all connections, RTTs", 2, lambda run: run.metrics["mean_response_studied_rtts"]),
    ("the link's loss share, %", 2, lambda run: 100 * loss_share(run)),
)


def needed(above: Sequence[float], below: Sequence[float]) -> int:
    """Returns how many pairs of runs are needed to show, for two equally good startup policies, that one is
    not worse than the other by more than `BAR_WORSE` %. `above` and `below` have the values of a metric under
    the two policies in the pairs so far, from which the spread of the ratio of both is computed."""
    spread = statistics.stdev(math.log(a / b) for a, b in zip(above, below, strict=True))
    z = t_quantile((1 + BAR_CONFIDENCE) / 2, MANY)
    return math.ceil((z * spread / math.log(1 + BAR_WORSE / 100)) ** 2)


def percent_over(above: Sequence[float], below: Sequence[float]) -> Estimate:
    """Returns by how many % the values `above` exceed those `below`, as the geometric mean of the pairs'
    ratios with its interval; an empty estimate if a value is 0."""
    interval = ratio_interval(above, below, BAR_CONFIDENCE)
    return Estimate(*(100 * (ratio - 1) for ratio in interval or ()))


def signed(change: Estimate) -> str:
    return f"{change.value:+.1f} ({change.low:+.1f} to {change.high:+.1f})"


def plus_minus(values: Sequence[float], confidence: float, digits: int = 2, alone: str = "") -> str:
    """Returns, as text, the mean of the values with half the width of its interval or, if there is only one
    value, with the text `alone`. Returns a dash if there are no values."""
    if not values:
        return "–"
    mean, half = mean_interval(values, confidence)
    return f"{mean:+.{digits}f}" + (alone if half is None else f" ± {half:.{digits}f}")


def section(of_load: Sequence[Cell]) -> str:
    """Returns a table that compares the startup policies `tsl-feedback` and `tsl/3-16` with the standard one
    by all `MEASURES`, and the verdict on the first measure; "" if fewer than two seeds have runs of all three
    policies."""
    by = {c.startup: c for c in of_load}
    if not {OWN, BOLD, STANDARD} <= set(by):
        return ""
    runs = paired(by[STANDARD], by[OWN], by[BOLD])
    if len(runs) < 2:
        return ""
    rows, most = [], []
    for name, digits, value in MEASURES:
        base, *others = ([value(run) for run in of] for of in zip(*runs, strict=True))
        changes = [percent_over(of, base) for of in others]
        if all(changes):
            most.append(changes[0].high)
            row = [name, f"{statistics.fmean(base):.{digits}f}"]
            for of, change in zip(others, changes, strict=True):
                row += [f"{statistics.fmean(of):.{digits}f}", signed(change)]
            rows.append([*row, f"{needed(others[0], base):,}"])
    lost = [sum(len(run.lost) for run in of) for of in zip(*runs, strict=True)]
    open_ = sum(run.metrics["unresolved"] for of in runs for run in of)
    about = (
        f"There are {len(runs)} seeds at {percent(by[STANDARD].level)} load (profile `{PROFILE}`). "
        f"{lost[0]:,} connections under the standard, {lost[1]:,} under `{OWN}` and {lost[2]:,} under "
        f"`{BOLD}` lost a SYN-ACK and received their first object; {open_:.0f} others had not received it at "
        "the end of the runs. A change says by how many per cent a startup policy's value is above the "
        "standard's: it is the geometric mean over the seeds, with its "
        f"{100 * BAR_CONFIDENCE:.0f} % interval. The last column "
        "has the number of seeds with which the upper end of this interval would be at "
        f"{BAR_WORSE:+.0f} % for `{OWN}` if it did not differ from the standard."
    )
    head = ("metric of a run", "standard", f"`{OWN}`", "change, %", f"`{BOLD}`", "change, %", "seeds needed")
    bar = (
        f"The criterion is about the first row (*{MEASURES[0][0]}*): the upper end of the interval of the "
        f"change from the standard to `{OWN}` must be at most {BAR_WORSE:+.0f} %. It is {most[0]:+.1f} %: "
        f"{_reached(most[0] <= BAR_WORSE)}."
    )
    return "\n\n".join((about, table_of(head, rows), bar))


def feedback(ends: Sequence[Cell]) -> str:
    """Returns a table by load of the gains in response time with the startup policies `tsl-feedback` and
    `tsl/3-16`, and whether `tsl-feedback` meets its criterion."""
    rows = []
    for level, by in by_level(ends).items():
        runs = paired(by[STANDARD], by[OWN], by[BOLD]) if {OWN, BOLD, STANDARD} <= set(by) else []
        if not runs:
            continue
        gain = [mean_rtts(base) - mean_rtts(own) for base, own, _ in runs]
        of_bold = [mean_rtts(base) - mean_rtts(bold) for base, _, bold in runs]
        alike = sum(np.array_equal(own.lost["whole_ms"], bold.lost["whole_ms"]) for _, own, bold in runs)
        both = paired(by[OWN], by[STANDARD])
        change = [100 * (mean_rtts(own) / mean_rtts(base) - 1) for own, base in both]
        rows.append(
            [
                percent(level),
                str(len(runs)),
                plus_minus(of_bold, BAR_CONFIDENCE),
                plus_minus(gain, BAR_CONFIDENCE),
                percent(statistics.fmean(gain) / statistics.fmean(of_bold)),
                str(alike),
                plus_minus(change, BAR_CONFIDENCE),
                _verdict(level, of_bold, gain, change),
            ]
        )
    head = ("load", "seeds", f"gain of `{BOLD}`, RTTs", f"gain of `{OWN}`", "share", "runs alike")
    return table_of((*head, "above the standard's, %", "criterion"), rows) if rows else ""


def _verdict(level: float, of_bold: Sequence[float], gain: Sequence[float], change: Sequence[float]) -> str:
    if level < 0.95:
        mean, half = mean_interval(of_bold, BAR_CONFIDENCE)
        if half is None:
            return "cannot be told from one seed"
        if mean <= half:
            return f"{percent(BAR_GAIN)} of the gain: no gain in these seeds"
        return f"{percent(BAR_GAIN)} of the gain: {_reached(statistics.fmean(gain) >= BAR_GAIN * mean)}"
    mean, half = mean_interval(change, BAR_CONFIDENCE)
    if half is None:
        return "–"
    most = mean + half
    return f"at most {BAR_WORSE:+.0f} %: upper end {most:+.1f} %, {_reached(most <= BAR_WORSE)}"


def _reached(is_met: bool) -> str:
    return "reached" if is_met else "not reached"


def crowds(runs: Sequence[KeptRun]) -> str:
    """Returns a table by load with the changes of each metric in per cent: under the startup policies
    `tsl-feedback` and TSL 3,16 relative to the standard policy, and under `tsl-feedback` relative to TSL
    3,16. It has verdicts on both changes under `tsl-feedback`. Returns "" without runs."""
    rows = [
        [percent(level), *row]
        for level, of in by_level(cells(runs)).items()
        if {STANDARD, BOLD, OWN} <= set(of)
        for row in _crowd_rows(of)
    ]
    head = ("load", "metric", "seeds", "standard", f"`{BOLD}` over standard, %", f"`{OWN}` over standard, %")
    verdicts = ("earned", f"`{OWN}` against the standard")
    return table_of((*head, f"`{OWN}` over `{BOLD}`, %", *verdicts), rows) if rows else ""


def _crowd_rows(by: Mapping[str, Cell]) -> Iterator[list[str]]:
    runs = paired(by[STANDARD], by[BOLD], by[OWN])
    if not runs:
        return
    for name, digits, value in (MEASURES[k] for k in CROWDED):
        base, bold, own = ([value(run) for run in of] for of in zip(*runs, strict=True))
        changes = [percent_over(bold, base), percent_over(own, base), percent_over(own, bold)]
        if all(changes):
            verdicts = _side(changes[2], "yes", "no, it costs"), _side(changes[1], "less", "more")
            shown = (str(len(runs)), f"{statistics.fmean(base):.{digits}f}", *map(signed, changes))
            yield [name, *shown, *verdicts]


def _side(change: Estimate, below: str, above: str) -> str:
    if change.low <= 0 <= change.high:
        return "cannot be told"
    return below if change.high < 0 else above
