# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes simulated.md, which compares every number that tambuwal2018 prints with our results in ns-3."""

from __future__ import annotations

import csv
import functools
import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from experiments.lib.batches import Batch, SimulatedRuns
from experiments.lib.runs import Run as KeptRun
from experiments.lib.statistics import Estimate
from experiments.tambuwal2018 import crowds, pairs, parts, queues
from experiments.tambuwal2018.cells import (
    BETWEEN,
    STANDARD,
    Cell,
    Difference,
    base_of,
    cells,
    difference,
    keep,
    mean_rtts,
    mean_whole_ms,
    quantile,
)
from experiments.tambuwal2018.colours import COLOURS
from experiments.tambuwal2018.figures import draw, quantile_rows
from experiments.tambuwal2018.measures import MIXED, STUDIED, Load, estimate, mix_all, mix_lost
from experiments.tambuwal2018.published import QUICK, WHOLE, Comparison
from tcplearn.output.markdown import table_of


def batches(folder: Path, profile: str) -> list[Batch]:
    """Returns simulated.md's batches of runs: with one startup policy (IW and ssthresh after a lost SYN-ACK),
    with mixes of two policies, with other queues, and with more traffic than the link carries. If `profile`
    is "", they include runs as long as tambuwal2018's, and runs with more seeds at 98 % load."""
    short = profile or QUICK
    found = [("levels", short), ("mixes", short), (queues.SCENARIO, short), (crowds.SCENARIO, short)]
    found += [] if profile else [("levels", pairs.PROFILE), ("levels", WHOLE)]
    thin = {name: functools.partial(keep, thin=True) for name in (queues.SCENARIO, crowds.SCENARIO)}
    return [SimulatedRuns(folder / f"{name}.toml", of, thin.get(name, keep)) for name, of in found]


def _levels(whole: Sequence[Cell], short: Sequence[Cell]) -> tuple[list[Cell], dict[float, bool]]:
    """Returns the groups of runs for the page, and for each load whether its runs are as long as the paper's.
    At each load the long runs (`whole`) are taken if the standard startup policy and all five policies of
    tambuwal2018 have such runs; otherwise the shorter runs (`short`) are taken."""
    found, is_whole = [], {}
    for level in sorted({cell.level for cell in (*whole, *short)}):
        of_level = [cell for cell in whole if cell.level == level]
        is_whole[level] = {STANDARD, *STUDIED} <= {cell.startup for cell in of_level}
        found += of_level if is_whole[level] else [cell for cell in short if cell.level == level]
    order = list(COLOURS)
    return sorted(found, key=lambda cell: (cell.level, order.index(cell.startup))), is_whole


def fill(runs: Sequence[KeptRun], folder: Path) -> dict[str, Any]:
    single = [run for run in runs if run.scenario == "levels" and run.profile != pairs.PROFILE]
    short = [run for run in single if run.profile != WHOLE]
    if not short:
        return {}
    ends = cells(short)
    levels, is_whole = _levels(cells([run for run in single if run.profile == WHOLE]), ends)
    profiles = {level: WHOLE if whole else short[0].profile for level, whole in is_whole.items()}
    mixes = cells([run for run in runs if run.scenario == "mixes"])
    last = next(run for run in single if run.profile == profiles[max(profiles)])
    found = Comparison(levels, mixes, folder, last.parameters, profiles, ends, short[0].profile)
    drawn = list(draw(found))

    def pictures(*names: str) -> str:
        shown = (figure for figure in drawn if Path(figure.file).name.startswith(names))
        return "\n\n".join(f"**{figure.title}**\n\n![{figure.title}]({figure.file})" for figure in shown)

    def ours(measure: str, level: float, startup: str, digits: int = 2) -> str:
        return found.ours(measure, level, startup).shown(digits)

    return {
        "runs": len(runs),
        "found": found,
        "ours": ours,
        "counts": _counts(levels),
        "feedback": pairs.feedback(ends),
        "pairs": pairs.section(cells([run for run in runs if run.profile == pairs.PROFILE])),
        "long": _loads(level for level, whole in is_whole.items() if whole),
        "short": _loads(level for level, whole in is_whole.items() if not whole),
        "alike": _alike([cell for cell in levels if is_whole[cell.level]]),
        "queues": queues.section([run for run in runs if run.scenario == queues.SCENARIO]),
        "crowds": crowds.section([run for run in runs if run.scenario == crowds.SCENARIO]),
        "responses": _responses(found),
        "by_rtt": _by_rtt(found),
        "whole": _whole(levels),
        "link": _link(found),
        "mixes": _mixes(found),
        "between": _between(folder),
        "generator": _generator(folder),
        "pictures": pictures,
        "figures": drawn,
    }


def _alike(cells: Sequence[Cell]) -> str:
    """Returns a table of correlations between consecutive parts of a long run: those of the mean
    response time and the loss share under the startup policies, and those of the differences of both from the
    standard policy's."""
    rows = []
    for base in (cell for cell in cells if cell.startup == STANDARD):
        others = [cell for cell in cells if cell.level == base.level and cell is not base]
        row = [f"{100 * base.level:.0f} %"]
        for value in (mean_rtts, lambda run: run.metrics["link_loss_share"]):
            of = {
                cell.startup: [value(cell.runs[part]) for part in sorted(cell.runs)]
                for cell in (base, *others)
            }
            own = [parts.autocorrelation(values) for values in of.values()]
            apart = [
                parts.autocorrelation([a - b for a, b in zip(of[cell.startup], of[STANDARD], strict=True)])
                for cell in others
            ]
            row += [f"{min(each):.2f} to {max(each):.2f}" for each in (own, apart)]
        rows.append(row)
    head = ("load", "mean response", "minus the standard's", "loss share", "minus the standard's")
    return table_of(head, rows) if rows else ""


def _loads(levels: Iterable[float]) -> str:
    """Returns the loads as text: "", "40 %", "40 and 90 %" or "40, 90 and 98 %"."""
    *most, last = [f"{100 * level:.0f}" for level in sorted(levels)] or [""]
    return f"{', '.join(most)}{' and ' if most else ''}{last} %" if last else ""


def _number(value: float, digits: int = 2) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _difference(of: Difference | None, digits: int = 2) -> str:
    if of is None:
        return "–"
    mean, half = of
    return f"{mean:+.{digits}f}" + (" (one seed)" if half is None else f" ± {half:.{digits}f}")


def _where(cell: Cell) -> list[str]:
    return [f"{100 * cell.level:.0f} %", f"`{cell.startup}`"]


def _responses(found: Comparison) -> str:
    rows = []
    for cell in found.levels:
        rtts = [c.rtts for c in cell.lost]
        gain = Estimate() if cell.startup == STANDARD else found.ours("gain_rtts", cell.level, cell.startup)
        rows.append(
            [
                *_where(cell),
                str(len(cell.totals)),
                f"{len(rtts):,}",
                str(sum(run.unresolved for run in cell.runs.values())),
                found.ours("mean_rtts", cell.level, cell.startup).shown(),
                gain.shown(),
                *(_number(quantile(rtts, p), 1) for p in (0.5, 0.9, 0.99)),
            ]
        )
    head = ("load", "startup", "seeds", "connections", "unresolved", "mean, RTTs", "gain, RTTs")
    return table_of((*head, "median", "90 %", "99 %"), rows)


def _counts(cells: Sequence[Cell]) -> str:
    """Returns two sentences: how many connections lost a SYN-ACK and received their first object, and how
    many lost a SYN-ACK and had not received it at the end."""
    by: dict[float, list[Cell]] = {}
    for cell in cells:
        if cell.startup in (STANDARD, *STUDIED):
            by.setdefault(cell.level, []).append(cell)
    each = ", ".join(
        f"{min(len(c.lost) for c in of):,} at {100 * level:.0f} % load ({_runs_of(of)})"
        for level, of in by.items()
    )
    open_ = sum(run.unresolved for cell in cells for run in cell.runs.values())
    return (
        "The smallest number of connections under one startup policy (the standard or one of the five "
        f"variants) that lost a SYN-ACK and received their first object is {each}. At the end of the runs "
        f"{open_} other connections that lost a SYN-ACK had not received their first object."
    )


def _runs_of(cells: Sequence[Cell]) -> str:
    connections = min(total["connections"] for cell in cells for total in cell.totals)
    runs = min(len(cell.totals) for cell in cells)
    return f"{runs} run{'s' if runs > 1 else ''} of {connections:,.0f} connections for each startup policy"


def _by_rtt(found: Comparison) -> str:
    rows = []
    for cell in found.levels:
        far = [c.rtts for c in cell.lost if c.path_rtt_ms > 50]
        late = [c.rtts for run in cell.runs.values() for c in run.spurious]
        gain = Estimate()
        if cell.startup != STANDARD:
            gain = found.ours("far_gain_p90_ms", cell.level, cell.startup)
        rows.append(
            [
                *_where(cell),
                f"{len(far):,}",
                _number(statistics.fmean(far) if far else math.nan),
                found.ours("far_p90_ms", cell.level, cell.startup).shown(0),
                gain.shown(0),
                f"{len(late):,}",
                _number(statistics.fmean(late) if late else math.nan),
            ]
        )
    head = ("load", "startup", "above 50 ms", "RTTs", "90 %, ms", "gain, ms", "above the timer", "RTTs")
    return table_of(head, rows)


def _whole(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in cells:
        base = base_of(cell, cells)
        if not cell.lost:
            continue
        gain = difference(cell, base, mean_whole_ms) if base and base is not cell else None
        whole = [c.whole_ms for c in cell.lost]
        rows.append(
            [
                *_where(cell),
                _number(statistics.fmean(whole), 0),
                _difference(gain, 0),
                *(_number(quantile(whole, p), 0) for p in (0.5, 0.9, 0.99)),
            ]
        )
    head = ("load", "startup", "mean, ms", "minus the standard's", "median", "90 %", "99 %")
    return table_of(head, rows)


def _link(found: Comparison) -> str:
    rows = []
    for cell in found.levels:
        names = ("loss_percent", "peak_loss_percent", "used_percent")
        runs = cell.totals
        rows.append(
            [
                *_where(cell),
                *(found.ours(name, cell.level, cell.startup).shown() for name in names),
                _number(statistics.fmean(run["mean_response_studied_rtts"] for run in runs)),
                _number(statistics.fmean(run["connections"] for run in runs), 0),
                _number(statistics.fmean(run["cpu_s"] for run in runs), 1),
            ]
        )
    head = ("load", "startup", "lost, %", "lost in the worst second, %", "link used, %")
    return table_of((*head, "mean of all, RTTs", "connections", "CPU time of a run, s"), rows)


def _mixes(found: Comparison) -> str:
    """Returns a table of mean response times by the share of connections with the startup policy TSL 3,16."""
    rows = []
    for share in found.shares:
        row = [f"{100 * share:.0f} %", f"{len(found.mixed.lost(share)):,}"]
        for kind, least, most in ((MIXED, 0.0, 2.0), (STANDARD, -1.0, 1.0)):
            for of in (mix_lost, mix_all):
                is_there = least < share < most
                row.append(_mixed(found.mixed, share, kind, of) if is_there else "–")
        rows.append(row)
    head = ("share of TSL 3,16", "connections that lost a SYN-ACK", "of these with TSL, RTTs", "all with TSL")
    return table_of((*head, "of these with the standard", "all with the standard"), rows) if rows else ""


def _mixed(mixed: Load, share: float, kind: str, of: Any) -> str:
    return estimate(lambda load: of(load, share, kind), mixed).shown()


def _between(folder: Path) -> str:
    """Returns a text and a table that compare the traffic generator's quantile curves with ns-2's, over all
    shares (cumulative probabilities)."""
    file = folder / BETWEEN
    if not file.exists():
        return ""
    with file.open(newline="") as lines:
        found = list(csv.reader(lines))[1:]
    rows = [
        [quantity, *(f"{float(c):+.1f} % at {float(p):g}" for c, p in ((low, at), (high, where))), within]
        for quantity, low, at, high, where, within in found
    ]
    most = max(abs(float(change)) for _, low, _, high, _, _ in found for change in (low, high))
    text = (
        "**The quantile curves of our generator (values by cumulative probability, from the lowest to the "
        "highest probability in `quantiles.csv`) "
        f"{'agree' if most <= 5 else 'do not agree'} with those of ns-2.35 within 5 %.** For each quantity "
        "the table has the lowest and the highest difference of our curve from that of ns-2.35, with the "
        "probability at which it occurs. The last column is for all probabilities from 0.001 to 0.999, also "
        "those beyond the range of `quantiles.csv`: the part of them at which the difference is at most 5 %. "
        "`python -m experiments.tambuwal2018.packmime "
        "packmime/packmime_ranvar.cc` computes the table from the source of ns-2.35 (`apt-get source ns2`)."
    )
    return f"{text}\n\n" + table_of(
        ("quantity", "lowest", "highest", "part of the probabilities within 5 %"), rows
    )


def _generator(folder: Path) -> str:
    by: dict[tuple[str, float], dict[str, float]] = {}
    for row in quantile_rows(folder):
        by.setdefault((row["q"], row["p"]), {})[row["e"]] = row["y"]
    rows = [
        [
            q,
            f"{p:g}",
            f"{v['published']:g}",
            f"{v['drawn']:g}",
            f"{100 * (v['drawn'] / v['published'] - 1):+.1f} %",
        ]
        for (q, p), v in by.items()
        if len(v) == 2
    ]
    return table_of(("quantity", "share below", "published", "drawn", "difference"), rows)
