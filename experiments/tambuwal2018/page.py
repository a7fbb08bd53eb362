# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes simulated.md: tambuwal2018's tables and printed numbers beside our results in ns-3."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.lib.batches import Batch, SimulatedRuns
from experiments.lib.runs import Run as KeptRun
from experiments.tambuwal2018 import compare, pairs
from experiments.tambuwal2018.cells import (
    BETWEEN,
    CONFIDENCE,
    STANDARD,
    Cell,
    Cost,
    Difference,
    Run,
    base_of,
    cells,
    costs,
    keep,
    mean_rtts,
    mean_whole_ms,
    paired,
    quantile,
    relative,
)
from experiments.tambuwal2018.figures import draw, quantile_rows
from tcplearn.output.markdown import table_of

#: Statements of the paper about its connections, with the quantity and the limit in drawn-shares.csv.
STATED = {
    "objects of at most three segments": ("response_bytes", "4380"),
    "objects below one segment": ("response_bytes", "1460"),
    "RTT below 50 ms": ("rtt_ms", "50"),
}

#: The number of connections with a lost SYN-ACK that each cell should have.
ENOUGH = 2000
QUICK = "quick"


def batches(folder: Path, profile: str) -> list[Batch]:
    """Returns the runs with one startup (rule for IW and ssthresh after a lost SYN-ACK) and with mixes of
    two; without `profile` also the pairs at 98 % load and the runs that measure simulation costs."""
    found = [("levels", profile or QUICK), ("mixes", profile or QUICK)]
    found += [] if profile else [("levels", pairs.PROFILE), ("levels", "cost")]
    return [SimulatedRuns(folder / f"{name}.toml", of, keep) for name, of in found]


def fill(runs: Sequence[KeptRun], folder: Path) -> dict[str, Any]:
    def of(profile: str) -> list[KeptRun]:
        return [run for run in runs if run.scenario == "levels" and run.profile == profile]

    others = (pairs.PROFILE, "cost")
    levels = cells([run for run in runs if run.scenario == "levels" and run.profile not in others])
    mixes = cells([run for run in runs if run.scenario == "mixes"])
    if not levels:
        return {}
    drawn = list(draw(levels, mixes, folder))
    rows = list(compare.compared(levels, _printed_values(folder)))

    def pictures(*names: str) -> str:
        shown = (figure for figure in drawn if Path(figure.file).name.startswith(names))
        return "\n\n".join(f"**{figure.title}**\n\n![{figure.title}]({figure.file})" for figure in shown)

    return {
        "runs": sum(len(cell.runs) for cell in (*levels, *mixes)),
        "counts": _counts(levels),
        "feedback": compare.feedback(levels),
        "pairs": pairs.section(cells(of(pairs.PROFILE))),
        "signs": compare.summary(rows),
        "compared": compare.table(rows),
        "responses": _responses(levels),
        "by_rtt": _by_rtt(levels),
        "whole": _whole(levels),
        "link": _link(levels),
        "mixes": _mixes(mixes),
        "printed": _printed(folder),
        "between": _between(folder),
        "shares": _shares(folder),
        "generator": _generator(folder),
        "costs": _costs(costs(of("cost"))),
        "pictures": pictures,
        "figures": drawn,
    }


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _difference(of: Difference | None, digits: int = 2) -> str:
    if of is None:
        return "–"
    mean, half = of
    return f"{mean:+.{digits}f}" + (" (one seed)" if half is None else f" ± {half:.{digits}f}")


def _where(cell: Cell) -> list[str]:
    return [f"{cell.level:.0%}".replace("%", " %"), cell.variant or "–", f"`{cell.startup}`"]


def _responses(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in cells:
        lost, base = cell.lost, base_of(cell, cells)
        if not lost:
            continue
        gain = paired(cell, base, mean_rtts) if base and base is not cell else None
        rtts = [c.rtts for c in lost]
        rows.append(
            [
                *_where(cell),
                str(len(cell.runs)),
                f"{len(lost)} ({sum(c.is_forced for c in lost)})",
                str(sum(run.unresolved for run in cell.runs.values())),
                _number(statistics.fmean(rtts)),
                _difference(gain),
                *(_number(quantile(rtts, p), 1) for p in (0.5, 0.9, 0.99)),
            ]
        )
    head = ("load", "variant", "startup", "seeds", "connections (topped up)", "unresolved", "mean, RTTs")
    return table_of((*head, "over the standard's", "median", "90 %", "99 %"), rows)


def _counts(cells: Sequence[Cell]) -> str:
    """Returns a sentence on cells with too few connections with a lost SYN-ACK, and on unfinished ones."""
    least = min(len(cell.lost) for cell in cells)
    few = sum(len(cell.lost) < ENOUGH for cell in cells)
    open_ = sum(run.unresolved for cell in cells if cell.level < 0.95 for run in cell.runs.values())
    return (
        f"Connections with a SYN-ACK loss in a cell: {least} or more; {few} of {len(cells)} "
        f"cells have fewer than {ENOUGH:,}. Unresolved at 40 and 90 % load: {open_}."
    )


def _by_rtt(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in cells:
        far = [c.rtts for c in cell.lost if c.path_rtt_ms > 50]
        late = [c.rtts for run in cell.runs.values() for c in run.spurious]
        if far:
            rows.append(
                [
                    *_where(cell),
                    str(len(far)),
                    _number(statistics.fmean(far)),
                    str(len(late)),
                    _number(statistics.fmean(late) if late else None),
                ]
            )
    return table_of(("load", "variant", "startup", "above 50 ms", "RTTs", "above the timer", "RTTs"), rows)


def _whole(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in cells:
        base = base_of(cell, cells)
        if not cell.lost:
            continue
        gain = paired(cell, base, mean_whole_ms) if base and base is not cell else None
        whole = [c.whole_ms for c in cell.lost]
        rows.append(
            [
                *_where(cell),
                _number(statistics.fmean(whole), 0),
                _difference(gain, 0),
                *(_number(quantile(whole, p), 0) for p in (0.5, 0.9, 0.99)),
            ]
        )
    head = ("load", "variant", "startup", "mean, ms", "over the standard's", "median", "90 %", "99 %")
    return table_of(head, rows)


def _link(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in cells:
        mean = {
            key: statistics.fmean(run.metrics[key] for run in cell.runs.values())
            for key in (
                "link_loss_share",
                "link_loss_share_max",
                "link_utilisation",
                "mean_response_studied_rtts",
            )
            if all(key in run.metrics for run in cell.runs.values())
        }
        rows.append(
            [
                *_where(cell),
                *(
                    _number(None if key not in mean else 100 * mean[key])
                    for key in ("link_loss_share", "link_loss_share_max", "link_utilisation")
                ),
                _number(mean.get("mean_response_studied_rtts")),
            ]
        )
    head = ("load", "variant", "startup", "lost, %", "in the worst second, %", "link used, %")
    return table_of((*head, "all connections, RTTs"), rows)


def _mixes(cells: Sequence[Cell]) -> str:
    """Returns a table of mean response times by the share of connections with the studied startup."""
    rows = []
    for cell in cells:
        name = cell.startup.partition(":")[0]
        own = ([c.rtts for c in cell.lost if c.startup == kind] for kind in (name, STANDARD))
        means = [_number(statistics.fmean(v) if v else None) for v in own]
        none = next((c for c in cells if c.startup == cell.startup and c.share == 0), None)
        change = relative(cell, none, _of_standard, CONFIDENCE) if none and 0 < cell.share < 1 else None
        of = [str(len(cell.lost)), *means, _difference(change)]
        rows.append([f"`{cell.startup}`", f"{100 * cell.share:.0f} %", *of])
    head = ("startup", "its share", "connections that lost a SYN-ACK", "its RTTs", "the standard's RTTs")
    return table_of((*head, "all of the standard's, % above share 0"), rows) if rows else ""


def _of_standard(run: Run) -> float:
    return run.metrics["mean_response_standard_rtts"]


def _published(folder: Path) -> list[dict[str, str]]:
    with (folder / "published.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _printed_values(folder: Path) -> dict[tuple[str, float, str], str]:
    rows = [row for row in _published(folder) if row["level"]]
    return {(row["where"], float(row["level"]), row["startup"]): row["value"] for row in rows}


def _printed(folder: Path) -> str:
    rows = [
        [
            row["where"],
            row["level"],
            row["startup"] or "–",
            row["quantity"],
            f"{row['value']} {row['unit']}",
            row["note"],
        ]
        for row in _published(folder)
        if not row["where"].startswith("Table")
    ]
    return table_of(("where", "load", "startup", "quantity", "printed", ""), rows)


def _shares(folder: Path) -> str:
    file = folder / "drawn-shares.csv"
    if not file.exists():
        return ""
    with file.open(newline="") as lines:
        drawn = {(row["quantity"], row["at_most"]): row["share"] for row in csv.DictReader(lines)}
    printed = {row["quantity"]: row for row in _published(folder)}
    rows = [
        [what, f"{printed[what]['value']} ({printed[what]['note']})", drawn.get(key, "–")]
        for what, key in STATED.items()
        if what in printed
    ]
    return table_of(("share of connections", "paper", "drawn"), rows)


def _between(folder: Path) -> str:
    """Returns text and a table: the traffic generator's quantile curves beside ns-2's, over all shares."""
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
        f"**Between these shares {'they agree' if most <= 5 else 'they do not agree'} within 5 %.** Of "
        "ns-2.35's own curve ours is, over all shares from 0.001 to 0.999 (`apt-get source ns2`; `python -m "
        "experiments.tambuwal2018.packmime packmime/packmime_ranvar.cc`):"
    )
    return f"{text}\n\n" + table_of(("quantity", "lowest", "highest", "part of the shares within 5 %"), rows)


def _costs(costs: Sequence[Cost]) -> str:
    if not costs:
        return ""
    rows = [
        [
            f"{c.connections:,.0f}",
            f"{c.data_segments:,.0f}",
            _number(c.cpu_s, 1),
            _number(1e3 * c.cpu_s / c.data_segments, 3),
            _number(1e3 * c.cpu_s / c.connections, 2),
            _number(c.peak_mib, 0),
        ]
        for c in costs
    ]
    title = "## What a run costs by its size"
    made = "Profile `cost` of `levels.toml`, one run at a time; 40 % load, the standard:"
    head = ("connections", "data segments", "CPU, s", "ms a data segment", "ms a connection", "peak MiB")
    return "\n\n".join((title, made, table_of(head, rows)))


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
    return table_of(("quantity", "share below", "published", "drawn", ""), rows)
