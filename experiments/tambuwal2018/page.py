# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes simulated.md, which compares every number that tambuwal2018 prints with our results in ns-3."""

from __future__ import annotations

import csv
import functools
import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.lib.batches import Batch, SimulatedRuns
from experiments.lib.runs import Run as KeptRun
from experiments.lib.runs import grouped, select
from experiments.lib.statistics import student_mean
from experiments.tambuwal2018 import pairs
from experiments.tambuwal2018.cells import (
    COLOURS,
    CONFIDENCE,
    STANDARD,
    Array,
    Cell,
    by_level,
    cells,
    far,
    keep,
    loss_share,
    mean,
    mean_rtts,
    mean_whole_ms,
    paired,
    percent,
    quantile,
)
from experiments.tambuwal2018.measures import MIXED, STUDIED, Load, estimate, mix_all, mix_lost
from experiments.tambuwal2018.parts import autocorrelation
from experiments.tambuwal2018.published import QUICK, WHOLE, Comparison, quantile_rows
from tcplearn.output.markdown import table_of
from tcplearn.output.numbers import counted, listed

#: The startups that are compared for several lengths of the queue.
QUEUED = ("tsl/1-1000", "tsl/3-16")
PACKET_BYTES = 1500


def batches(folder: Path, profile: str) -> list[Batch]:
    """Returns simulated.md's batches of runs: with one startup policy (IW and ssthresh after a lost SYN-ACK),
    with mixes of two policies, with other queues, and with more traffic than the link carries. If `profile`
    is "", they include runs as long as tambuwal2018's, and runs with more seeds at 98 % load."""
    short = profile or QUICK
    found = [("levels", short), ("mixes", short), ("queues", short), ("crowds", short)]
    found += [] if profile else [("levels", pairs.PROFILE), ("levels", WHOLE)]
    thin = functools.partial(keep, thin=True)
    return [
        SimulatedRuns(folder / f"{name}.toml", of, thin if name in ("queues", "crowds") else keep)
        for name, of in found
    ]


def fill(runs: Sequence[KeptRun], folder: Path) -> dict[str, Any]:
    from experiments.tambuwal2018.figures import draw

    single = [run for run in select(runs, scenario="levels") if run.profile != pairs.PROFILE]
    short = [run for run in single if run.profile != WHOLE]
    if not short:
        return {}
    ends = cells(short)
    levels, is_whole = _levels(cells(select(single, profile=WHOLE)), ends)
    profiles = {level: WHOLE if whole else short[0].profile for level, whole in is_whole.items()}
    last = next(run for run in single if run.profile == profiles[max(profiles)])
    mixes = cells(select(runs, scenario="mixes"))
    found = Comparison(levels, mixes, folder, last.parameters, profiles, ends, short[0].profile)
    drawn = list(draw(found))
    rows = [_rows(cell, found) for cell in levels]
    between = _between(folder)

    def pictures(*names: str) -> str:
        shown = (figure for figure in drawn if Path(figure.file).name.startswith(names))
        return "\n\n".join(f"**{figure.title}**\n\n![{figure.title}]({figure.file})" for figure in shown)

    return {
        "runs": len(runs),
        "found": found,
        "ours": found.ours,
        "counts": list(_counts(levels)),
        "unresolved": sum(map(_unresolved, levels)),
        "feedback": pairs.feedback(ends),
        "pairs": pairs.section(cells(select(runs, profile=pairs.PROFILE))),
        "long": _loads([level for level, whole in is_whole.items() if whole]),
        "short": _loads([level for level, whole in is_whole.items() if not whole]),
        "alike": list(_alike([cell for cell in levels if is_whole[cell.level]])),
        "queues": queues(select(runs, scenario="queues")),
        "crowds": pairs.crowds(select(runs, scenario="crowds")),
        **{name: [row[name] for row in rows if row[name]] for name in rows[0]},
        "mixes": list(_mixes(found.mixed)),
        "between": between,
        "most_between": max((abs(float(row[k])) for row in between for k in (1, 3)), default=0),
        "generator": _generator(folder),
        "pictures": pictures,
        "figures": drawn,
    }


def _levels(whole: Sequence[Cell], short: Sequence[Cell]) -> tuple[list[Cell], dict[float, bool]]:
    """Returns the groups of runs for the page, and for each load whether its runs are as long as the paper's.
    At each load the long runs (`whole`) are taken if the standard startup policy and all five policies of
    tambuwal2018 have such runs; otherwise the shorter runs (`short`) are taken."""
    long = {level: of for level, of in by_level(whole).items() if {STANDARD, *STUDIED} <= set(of)}
    chosen = {**by_level(short), **long}
    order = list(COLOURS).index
    levels = [of[name] for _, of in sorted(chosen.items()) for name in sorted(of, key=order)]
    return levels, {level: level in long for level in sorted(chosen)}


def _loads(levels: Sequence[float]) -> str:
    """Returns the loads as text: "", "40 %", "40 and 90 %" or "40, 90 and 98 %"."""
    return f"{listed([f'{100 * level:.0f}' for level in sorted(levels)])} %" if levels else ""


def _alike(cells: Sequence[Cell]) -> Iterator[list[str]]:
    """Yields, for each load, the lowest and the highest correlations between consecutive parts of long runs:
    those of the mean response time and the loss share under the startup policies, and those of the
    differences of both from the standard policy's."""
    for level, of in by_level(cells).items():
        row = [percent(level)]
        for value in (mean_rtts, loss_share):
            by = {name: np.array([value(run) for run in cell.runs.values()]) for name, cell in of.items()}
            base = by.pop(STANDARD)
            for each in ([base, *by.values()], [values - base for values in by.values()]):
                found = [autocorrelation(values) for values in each]
                row.append(f"{min(found):.2f} to {max(found):.2f}")
        yield row


def _counts(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields, as text for each load, the smallest number of connections under one startup policy that lost a
    SYN-ACK and received their first object."""
    for level, by in by_level(cells).items():
        of = [cell for name, cell in by.items() if name in (STANDARD, *STUDIED)]
        if not of:
            continue
        connections = min(total["connections"] for cell in of for total in cell.totals)
        runs = counted(min(len(cell.totals) for cell in of), "run")
        about = f"{runs} of {connections:,.0f} connections for each startup policy"
        yield f"{min(len(cell.lost) for cell in of):,} at {percent(level)} load ({about})"


def _unresolved(cell: Cell) -> int:
    return sum(int(total["unresolved"]) for total in cell.totals)


def _number(value: float, digits: int = 2) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _rows(cell: Cell, found: Comparison) -> dict[str, list[str]]:
    """Returns the row of `cell` in each of the tables that have a row for each load and startup policy."""

    def ours(measure: str, digits: int = 2) -> str:
        return found.ours(measure, cell.level, cell.startup).shown(digits)

    def quantiles(values: Array, digits: int) -> list[str]:
        return [_number(quantile(values, p), digits) for p in (0.5, 0.9, 0.99)]

    def of_runs(metric: str, digits: int) -> str:
        return _number(statistics.fmean(run[metric] for run in cell.totals), digits)

    where = [percent(cell.level), f"`{cell.startup}`"]
    lost, late = cell.lost, cell.spurious
    of_far, whole_ms = far(lost), lost["whole_ms"]
    base = found.loads[cell.level].cells.get(STANDARD, cell)
    both = paired(cell, base) if base is not cell else []
    gains = [mean_whole_ms(run) - mean_whole_ms(other) for run, other in both] if len(lost) else []
    gain = pairs.plus_minus(gains, CONFIDENCE, 0, alone=" (one seed)")
    return {
        "responses": [
            *where,
            str(len(cell.totals)),
            f"{len(lost):,}",
            str(_unresolved(cell)),
            ours("mean_rtts"),
            ours("gain_rtts"),
            *quantiles(lost["rtts"], 1),
        ],
        "by_rtt": [
            *where,
            f"{len(of_far):,}",
            _number(mean(of_far["rtts"])),
            ours("far_p90_ms", 0),
            ours("far_gain_p90_ms", 0),
            f"{len(late):,}",
            _number(mean(late["rtts"])),
        ],
        "whole": [*where, _number(mean(whole_ms), 0), gain, *quantiles(whole_ms, 0)] if len(lost) else [],
        "link": [
            *where,
            *(ours(name) for name in ("loss_percent", "peak_loss_percent", "used_percent")),
            of_runs("mean_response_studied_rtts", 2),
            of_runs("connections", 0),
            of_runs("cpu_s", 1),
        ],
    }


def queues(runs: Sequence[KeptRun]) -> str:
    """Returns a table of packet losses and of startup policies' gains in response time, by load and length of
    the queue; "" without runs."""

    def at(run: KeptRun) -> tuple[float, int]:
        return run.parameters["load"]["level"], run.parameters["topology"]["queue_packets"]

    by = grouped(runs, at)
    found = {at: {cell.startup: cell for cell in cells(of)} for at, of in sorted(by.items())}
    rate_mbps = runs[0].parameters["topology"]["rate_mbps"] if runs else 0.0
    rows = [_queue_row(*key, of, rate_mbps) for key, of in found.items() if STANDARD in of]
    head = ("load", "queue, packets", "delay if full, ms", "packets lost, %", "SYN-ACK lost, %", "mean, RTTs")
    return table_of((*head, *(f"gain of `{name}`, RTTs" for name in QUEUED)), rows) if rows else ""


def _queue_row(level: float, packets: int, of: dict[str, Cell], rate_mbps: float) -> list[str]:
    runs = list(of[STANDARD].runs.values())
    concerned = [100 * len(run.lost) / run.metrics["connections"] for run in runs]
    values = [[100 * loss_share(run) for run in runs], [mean_rtts(run) for run in runs if len(run.lost)]]
    for startup in QUEUED:
        both = paired(of[STANDARD], of[startup]) if startup in of else []
        values.append([mean_rtts(a) - mean_rtts(b) for a, b in both if len(a.lost) and len(b.lost)])
    loss, *others = (student_mean(each, CONFIDENCE).shown() for each in values)
    return [
        percent(level),
        str(packets),
        f"{packets * PACKET_BYTES * 8e-3 / rate_mbps:.0f}",
        loss,
        f"{statistics.fmean(concerned):.2f}",
        *others,
    ]


def _mixes(mixed: Load) -> Iterator[list[str]]:
    """Yields, for each share of connections with the startup policy TSL 3,16, the mean response times."""
    for share in mixed.cells:
        row = [percent(share), f"{len(mixed.lost(share)):,}"]
        for kind, is_there in ((MIXED, share > 0), (STANDARD, share < 1)):
            for of in (mix_lost, mix_all):
                value = functools.partial(of, share=share, kind=kind)
                row.append(estimate(value, mixed).shown() if is_there else "–")
        yield row


def _between(folder: Path) -> list[list[str]]:
    """Returns the rows of the file in which packmime.py compares the traffic generator's quantile curves
    with ns-2's, over all shares (cumulative probabilities)."""
    file = folder / "between.csv"
    return list(csv.reader(file.read_text().splitlines()))[1:] if file.exists() else []


def _generator(folder: Path) -> list[tuple[str, float, float, float]]:
    """Returns quantiles of the traffic: the quantity, the share below, PackMime-HTTP's value and ours."""
    of: dict[str, dict[tuple[str, float], float]] = {"published": {}, "drawn": {}}
    for row in quantile_rows(folder):
        of[row["e"]][row["q"], row["p"]] = row["y"]
    return [(*at, value, of["drawn"][at]) for at, value in of["published"].items() if at in of["drawn"]]
