# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares `tsl-feedback` (IW and ssthresh after a lost SYN-ACK depend on the link's loss share) with the
standard (IW 1, ssthresh 2) at the highest load, in pairs of runs with the same seed. A change is the
geometric mean of the pairs' ratios; their arithmetic mean is above 1 even without a difference."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from experiments.tambuwal2018.cells import STANDARD, Cell, Run, mean_rtts, mean_whole_ms, shared
from experiments.tambuwal2018.compare import BAR_CONFIDENCE, BAR_WORSE, MANY
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import ratio_interval, t_quantile

PROFILE, OWN = "congested", "tsl-feedback"


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
    """Returns how many pairs of runs would bring the end of the interval to the criterion's limit if there
    were no change. `above` and `below` are the values in the pairs so far."""
    spread = statistics.stdev(math.log(a / b) for a, b in zip(above, below, strict=True))
    z = t_quantile((1 + BAR_CONFIDENCE) / 2, MANY)
    return math.ceil((z * spread / math.log(1 + BAR_WORSE / 100)) ** 2)


def section(cells: Sequence[Cell]) -> str:
    """Returns a table that compares `tsl-feedback` with the standard startup by all `MEASURES`, and the
    verdict on the first measure; "" for fewer than two pairs of runs with the same seed."""
    by = {c.startup: c for c in cells}
    own, base = by.get(OWN), by.get(STANDARD)
    seeds = shared(own, base) if own and base else []
    if own is None or base is None or len(seeds) < 2:
        return ""
    rows, most = [], []
    for name, digits, value in MEASURES:
        above, below = ([value(cell.runs[s]) for s in seeds] for cell in (own, base))
        interval = ratio_interval(above, below, BAR_CONFIDENCE)
        if interval is None:
            continue
        change, low, high = (100 * (ratio - 1) for ratio in interval)
        most.append(high)
        means = (f"{statistics.fmean(of):.{digits}f}" for of in (below, above))
        pairs = f"{needed(above, below):,}"
        rows.append([name, *means, f"{change:+.1f}", f"{low:+.1f} to {high:+.1f}", pairs])
    lost = [sum(len(cell.runs[s].lost) for s in seeds) for cell in (base, own)]
    open_ = sum(cell.runs[s].unresolved for cell in (base, own) for s in seeds)
    about = (
        f"{len(seeds)} pairs of runs at {100 * own.level:.0f} % load (profile `{PROFILE}`); {lost[0]:,} "
        f"connections lost a SYN-ACK under the standard, {lost[1]:,} under `{OWN}`, {open_} more without an "
        "end. The change is the "
        "geometric mean of the seeds' ratios; the last column, with how many pairs the upper end would be at "
        f"{BAR_WORSE:+.0f} % if both were alike."
    )
    head = ("of a run", "standard", "feedback", "change, %", f"{100 * BAR_CONFIDENCE:.0f} % interval")
    good = "reached" if most[0] <= BAR_WORSE else "not reached"
    bar = f"at most {BAR_WORSE:+.0f} %; upper end {most[0]:+.1f} %: {good}."
    verdict = f"The bar, of the {MEASURES[0][0]}: {bar}"
    return "\n\n".join((about, table_of((*head, "pairs that tell"), rows), verdict))
