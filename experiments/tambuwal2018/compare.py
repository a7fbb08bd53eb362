# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Compares tambuwal2018's five startups (rules for IW and ssthresh after a lost SYN-ACK) with the paper,
by sign and rank of the change from the standard: in tables 2 (link's loss share) and 3 (throughput) and
figure 7 (mean response time). Judges the criterion for `tsl-feedback`, our startup that reacts to loss."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from experiments.tambuwal2018.cells import (
    CONFIDENCE,
    Cell,
    Difference,
    Run,
    base_of,
    mean_rtts,
    percent,
    ranks,
    relative,
    shared,
)
from tcplearn.output.markdown import table_of
from tcplearn.simulate.interval import mean_interval, t_quantile

#: The startups that the paper compares with the standard, as "tsl/IW-ssthresh".
STUDIED = ("tsl/1-16", "tsl/1-1000", "tsl/3-2", "tsl/3-16", "tsl/3-1000")
#: Figure 7 (mean response times) in the paper's text: the sign of the change, common to all startups, by
#: load, and some startups' ranks. No values are printed.
FIGURE_7_SIGN = {0.4: ("1 to 5 RTTs less", -1), 0.9: ("13 RTTs less", -1), 0.98: ("up to 70 % more", 1)}
FIGURE_7_RANK = {(0.4, "tsl/3-16"): "1", (0.98, "tsl/3-16"): "1", (0.98, "tsl/1-1000"): "4 or 5"}
FIGURE_7_RANK[0.98, "tsl/3-1000"] = "4 or 5"
#: The criterion for `tsl-feedback`: the confidence of intervals, the least share of the gain of `tsl/3-16`,
#: and by how many % it may be worse than the standard at the highest load.
BAR_CONFIDENCE, BAR_GAIN, BAR_WORSE = 0.9, 0.9, 5.0
#: The change in % that our runs should be able to detect for figure 7, which prints no values.
FIGURE_7_LOOKED_FOR = 10.0
MANY = 100_000  # degrees of freedom at which Student's t is practically normal

Published = Mapping[tuple[str, float, str], str]


@dataclass(frozen=True)
class Compared:
    where: str
    level: float
    startup: str
    printed: str
    printed_sign: int
    printed_rank: str
    ours: Difference
    our_rank: int
    seeds: int

    @property
    def sign(self) -> str:
        mean, half = self.ours
        open_ = half is None or abs(mean) <= half
        if self.printed_sign == 0:
            return "same" if open_ else "other"
        if open_:
            return "open"
        return "same" if (mean > 0) == (self.printed_sign > 0) else "other"

    @property
    def excludes_printed(self) -> bool:
        """Whether the paper prints the change from the standard and its value is outside our interval."""
        mean, half = self.ours
        return self.where != "Figure 7" and half is not None and abs(mean - float(self.printed)) > half

    @property
    def seeds_that_tell(self) -> int:
        """The number of seeds at which half the interval's width is the change to detect (the paper's, or
        10 % for figure 7); 0 if there is none, or if the interval excludes the paper's."""
        looked_for = FIGURE_7_LOOKED_FOR if self.where == "Figure 7" else float(self.printed)
        half = self.ours[1] or 0.0
        if not looked_for or self.seeds < 2 or self.excludes_printed:
            return 0
        wide = t_quantile((1 + CONFIDENCE) / 2, self.seeds - 1) / t_quantile((1 + CONFIDENCE) / 2, MANY)
        return math.ceil(self.seeds * (half / wide / looked_for) ** 2)


def compared(cells: Sequence[Cell], published: Published) -> Iterator[Compared]:
    """Yields the comparison of each startup (rule for IW and ssthresh after a lost SYN-ACK) with the
    paper, by table or figure and by load. Loads at which one of the startups has no runs are left out."""
    for where, value in (
        ("Table 2", lambda c, b: percent(c, b, "link_loss_share")),
        ("Table 3", lambda c, b: _negative(percent(c, b, "link_throughput_mbps"))),
        ("Figure 7", lambda c, b: relative(c, b, mean_rtts, CONFIDENCE)),
    ):
        for level in sorted({c.level for c in cells}):
            yield from _of_level(where, level, cells, published, value)


def _of_level(
    where: str,
    level: float,
    cells: Sequence[Cell],
    published: Published,
    value: Callable[[Cell, Cell], Difference | None],
) -> Iterator[Compared]:
    ours: dict[str, Difference] = {}
    for cell in cells:
        base = base_of(cell, cells)
        if cell.level == level and cell.startup in STUDIED and base:
            found = value(cell, base)
            if found is not None:
                ours[cell.startup] = found
    if len(ours) < len(STUDIED):
        return
    seeds = min(len(c.runs) for c in cells if c.level == level and c.startup in STUDIED)
    printed = {s: published.get((where, level, s), "") for s in STUDIED}
    printed_ranks = ranks({s: float(v) for s, v in printed.items() if v})
    our_ranks = ranks({s: mean for s, (mean, _) in ours.items()})
    for startup in STUDIED:
        if where == "Figure 7":
            text, sign = FIGURE_7_SIGN.get(level, ("", 0))
            rank = FIGURE_7_RANK.get((level, startup), "–")
        else:
            text, sign = printed[startup], int(float(printed[startup] or 0) > 0)
            rank = str(printed_ranks.get(startup, "–"))
        if text:
            our_rank = our_ranks[startup]
            yield Compared(where, level, startup, text, sign, rank, ours[startup], our_rank, seeds)


def _negative(of: Difference | None) -> Difference | None:
    return None if of is None else (-of[0], of[1])


def table(rows: Sequence[Compared]) -> str:
    lines = [
        [
            r.where,
            f"{100 * r.level:.0f} %",
            f"`{r.startup}`",
            r.printed,
            f"{r.ours[0]:+.2f}" + ("" if r.ours[1] is None else f" ± {r.ours[1]:.2f}"),
            r.sign,
            r.printed_rank,
            str(r.our_rank),
        ]
        for r in rows
    ]
    head = ("where", "load", "startup", "paper", "ours, %", "sign", "its rank", "our rank")
    return table_of(head, lines)


def summary(rows: Sequence[Compared]) -> str:
    """Returns, by figure and load, how many startups (rules for IW and ssthresh) change with the paper's
    sign, an undecided sign or the other sign, and how many pairs of them are in the paper's order."""
    lines = []
    for (where, level), group in itertools.groupby(rows, key=lambda r: (r.where, r.level)):
        of = list(group)
        signs = [r.sign for r in of]
        pairs = [
            (int(a.printed_rank) - int(b.printed_rank)) * (a.our_rank - b.our_rank)
            for a, b in itertools.combinations(of, 2)
            if a.printed_rank.isdigit() and b.printed_rank.isdigit() and a.printed_rank != b.printed_rank
        ]
        order = f"{sum(p > 0 for p in pairs)} of {len(pairs)}" if pairs else "–"
        counts = [f"{signs.count(kind)}" for kind in ("same", "open", "other")]
        excluded = "–" if where == "Figure 7" else str(sum(r.excludes_printed for r in of))
        lines.append([where, f"{100 * level:.0f} %", *counts, order, excluded, _seeds_that_tell(of)])
    head = ("where", "load", "same sign", "open", "other sign", "pairs in the paper's order")
    return table_of((*head, "paper's value outside ours", "seeds that tell"), lines)


def _seeds_that_tell(of: Sequence[Compared]) -> str:
    tell = sorted(r.seeds_that_tell for r in of if r.sign == "open" and r.seeds_that_tell)
    if not tell:
        return "–"
    return f"{tell[0]:,}" if tell[0] == tell[-1] else f"{tell[0]:,} to {tell[-1]:,}"


def feedback(cells: Sequence[Cell], bold: str = "tsl/3-16", own: str = "tsl-feedback") -> str:
    rows = []
    by = {(c.level, c.startup): c for c in cells}
    for level in sorted({c.level for c in cells}):
        cell, other = by.get((level, own)), by.get((level, bold))
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
    head = ("load", "seeds", f"gain of `{bold}`, RTTs", f"of `{own}`", "share", "runs alike")
    return table_of((*head, "above the standard's, %", "bar"), rows) if rows else ""


def _verdict(level: float, of_bold: Sequence[float], gain: Sequence[float], change: Difference | None) -> str:
    if level < 0.95:
        mean, half = mean_interval(of_bold, BAR_CONFIDENCE)
        if half is None or mean <= half:
            return f"{100 * BAR_GAIN:.0f} % of the gain: these seeds show none"
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
