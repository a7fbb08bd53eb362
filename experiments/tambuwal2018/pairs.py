# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares the startup policy `tsl-feedback` (IW and ssthresh after a lost SYN-ACK depend on the link's loss
share) with the standard policy (IW 1, ssthresh 2) and with TSL 3,16 (IW 3, ssthresh 16), in runs with the
same seed. Says whether `tsl-feedback` meets its criteria. At the highest load, the change on the page is the
geometric mean, over seeds, of the result with `tsl-feedback` divided by that with the other policy. An
arithmetic mean of such ratios would be above 1 even if the policies did not differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from experiments.lib.statistics import Estimate
from experiments.tambuwal2018.cells import (
    STANDARD,
    Cell,
    Difference,
    Run,
    base_of,
    mean_rtts,
    mean_whole_ms,
    relative,
    shared,
)
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import mean_interval, ratio_interval, t_quantile

PROFILE, OWN, BOLD = "congested", "tsl-feedback", "tsl/3-16"
#: The criterion for `tsl-feedback`: the confidence of intervals, the least share of the gain of `tsl/3-16`,
#: and by how many % it may be worse than the standard at the highest load.
BAR_CONFIDENCE, BAR_GAIN, BAR_WORSE = 0.9, 0.9, 5.0
MANY = 100_000  # degrees of freedom with which Student's t distribution is practically normal


def _of_lost(mean: Callable[[list[float]], float]) -> Callable[[Run], float]:
    return lambda run: mean([c.rtts for c in run.lost])


def _mean_data_ms(run: Run) -> float:
    return 1000 * statistics.fmean(c.data_s for c in run.lost)


#: The compared measures: name, digits, value of a run. The criterion is judged on the first.
MEASURES: tuple[tuple[str, int, Callable[[Run], float]], ...] = (
    ("mean response, RTTs", 2, mean_rtts),
    ("geometric mean of the responses, RTTs", 2, _of_lost(statistics.geometric_mean)),
    ("median response, RTTs", 2, _of_lost(statistics.median)),
    ("mean response, the initial timer left out, ms", 0, _mean_data_ms),
    ("mean whole response, ms", 0, mean_whole_ms),
    ("mean response of all connections, RTTs", 2, lambda run: run.metrics["mean_response_studied_rtts"]),
    ("the link's loss share, %", 2, lambda run: 100 * run.metrics["link_loss_share"]),
)


def needed(above: Sequence[float], below: Sequence[float]) -> int:
    """Returns how many pairs of runs are needed to show, for two equally good startup policies, that one is
    not worse than the other by more than `BAR_WORSE` %. `above` and `below` have the values of a metric under
    the two policies in the pairs so far, from which the spread of the ratio of both is computed."""
    spread = statistics.stdev(math.log(a / b) for a, b in zip(above, below, strict=True))
    z = t_quantile((1 + BAR_CONFIDENCE) / 2, MANY)
    return math.ceil((z * spread / math.log(1 + BAR_WORSE / 100)) ** 2)


def percent_over(above: Sequence[float], below: Sequence[float]) -> Estimate | None:
    """Returns by how many % the values `above` exceed those `below`, as the geometric mean of the pairs'
    ratios with its interval; None if a value is 0."""
    interval = ratio_interval(above, below, BAR_CONFIDENCE)
    return None if interval is None else Estimate(*(100 * (ratio - 1) for ratio in interval))


def signed(change: Estimate) -> str:
    return f"{change.value:+.1f} ({change.low:+.1f} to {change.high:+.1f})"


def section(cells: Sequence[Cell]) -> str:
    """Returns a table that compares the startup policies `tsl-feedback` and `tsl/3-16` with the standard one
    by all `MEASURES`, and the verdict on the first measure; "" if fewer than two seeds have runs of all three
    policies."""
    by = {c.startup: c for c in cells}
    if not {OWN, BOLD, STANDARD} <= set(by):
        return ""
    others, base = (by[OWN], by[BOLD]), by[STANDARD]
    seeds = shared(base, *others)
    if len(seeds) < 2:
        return ""
    rows, most = [], []
    for name, digits, value in MEASURES:
        below = [value(base.runs[s]) for s in seeds]
        row = [name, f"{statistics.fmean(below):.{digits}f}"]
        for cell in others:
            above = [value(cell.runs[s]) for s in seeds]
            change = percent_over(above, below)
            if change is None:
                break
            row += [f"{statistics.fmean(above):.{digits}f}", signed(change)]
            if cell is by[OWN]:
                most.append(change.high)
                pairs = f"{needed(above, below):,}"
        else:
            rows.append([*row, pairs])
    lost = [sum(len(cell.runs[s].lost) for s in seeds) for cell in (base, *others)]
    open_ = sum(cell.runs[s].unresolved for cell in (base, *others) for s in seeds)
    about = (
        f"There are {len(seeds)} seeds at {100 * base.level:.0f} % load (profile `{PROFILE}`). "
        f"{lost[0]:,} connections under the standard, {lost[1]:,} under `{OWN}` and {lost[2]:,} under "
        f"`{BOLD}` lost a SYN-ACK and received their first object; {open_} others had not received it at the "
        "end of the runs. A change says by how many per cent a startup policy's value is above the "
        "standard's: it is the geometric mean over the seeds, with its "
        f"{100 * BAR_CONFIDENCE:.0f} % interval. The last column "
        "has the number of seeds with which the upper end of this interval would be at "
        f"{BAR_WORSE:+.0f} % for `{OWN}` if it did not differ from the standard."
    )
    head = ("metric of a run", "standard", f"`{OWN}`", "change, %", f"`{BOLD}`", "change, %", "seeds needed")
    good = "reached" if most[0] <= BAR_WORSE else "not reached"
    bar = (
        f"The criterion is about the first row (*{MEASURES[0][0]}*): the upper end of the interval of the "
        f"change from the standard to `{OWN}` must be at most {BAR_WORSE:+.0f} %. It is {most[0]:+.1f} %: "
        f"{good}."
    )
    return "\n\n".join((about, table_of(head, rows), bar))


def feedback(cells: Sequence[Cell]) -> str:
    """Returns a table by load of the gains in response time with the startup policies `tsl-feedback` and
    `tsl/3-16`, and whether `tsl-feedback` meets its criterion."""
    rows = []
    by = {(c.level, c.startup): c for c in cells}
    for level in sorted({c.level for c in cells}):
        cell, other = by.get((level, OWN)), by.get((level, BOLD))
        base = base_of(cell, cells) if cell else None
        if not (cell and other and base):
            continue
        seeds = shared(cell, other, base)
        if not seeds:
            continue
        gain = [_gain(base.runs[s], cell.runs[s]) for s in seeds]
        of_bold = [_gain(base.runs[s], other.runs[s]) for s in seeds]
        alike = sum(_times(cell.runs[s]) == _times(other.runs[s]) for s in seeds)
        change = relative(cell, base, mean_rtts, BAR_CONFIDENCE)
        rows.append(
            [
                f"{100 * level:.0f} %",
                str(len(seeds)),
                _with(mean_interval(of_bold, BAR_CONFIDENCE)),
                _with(mean_interval(gain, BAR_CONFIDENCE)),
                f"{100 * statistics.fmean(gain) / statistics.fmean(of_bold):.0f} %",
                str(alike),
                _with(change),
                _verdict(level, of_bold, gain, change),
            ]
        )
    head = ("load", "seeds", f"gain of `{BOLD}`, RTTs", f"gain of `{OWN}`", "share", "runs alike")
    return table_of((*head, "above the standard's, %", "criterion"), rows) if rows else ""


def _verdict(level: float, of_bold: Sequence[float], gain: Sequence[float], change: Difference | None) -> str:
    if level < 0.95:
        mean, half = mean_interval(of_bold, BAR_CONFIDENCE)
        if half is None:
            return "cannot be told from one seed"
        if mean <= half:
            return f"{100 * BAR_GAIN:.0f} % of the gain: no gain in these seeds"
        reached = statistics.fmean(gain) >= BAR_GAIN * mean
        return f"{100 * BAR_GAIN:.0f} % of the gain: " + ("reached" if reached else "not reached")
    if change is None or change[1] is None:
        return "–"
    most = change[0] + change[1]
    good = "reached" if most <= BAR_WORSE else "not reached"
    return f"at most {BAR_WORSE:+.0f} %: upper end {most:+.1f} %, {good}"


def _times(run: Run) -> list[float]:
    return [c.whole_ms for c in run.lost]


def _gain(base: Run, run: Run) -> float:
    return mean_rtts(base) - mean_rtts(run)


def _with(of: Difference | None) -> str:
    if of is None:
        return "–"
    return f"{of[0]:+.2f}" + ("" if of[1] is None else f" ± {of[1]:.2f}")
