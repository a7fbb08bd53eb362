# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018: what its tables and text print beside what ours gave, as a Markdown page."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path

from tcplearn.output.markdown import table_of
from tcplearn.papers.tambuwal2018.cells import (
    STANDARD,
    Cell,
    Difference,
    base_of,
    mean_rtts,
    mean_whole_ms,
    paired,
    percent,
    quantile,
)
from tcplearn.papers.tambuwal2018.figures import quantile_rows

#: What the paper studied.
STUDIED = ("tsl/1-16", "tsl/1-1000", "tsl/3-2", "tsl/3-16", "tsl/3-1000")


def page(
    levels: Sequence[Cell],
    mixes: Sequence[Cell],
    counts: tuple[int, int],
    drawn: Sequence[tuple[str, str]],
    folder: Path,
    command: str,
    profile: str,
    notes: str,
) -> str:
    commits = ", ".join(sorted({run.commit for cell in levels for run in cell.runs.values()}))
    parts = [
        "# Startup after a lost SYN-ACK: ours beside the paper's",
        f"Made by `{command}`; do not edit.",
        f"{counts[0]} of {counts[1]} runs of profile `{profile}` (`tcplearn simulate "
        f"papers/tambuwal2018/*.toml`), made at {commits}. Intervals are of 95 %, over the seeds, of "
        "differences in pairs: a seed gives every startup the same connections. A response is a connection's "
        "first object in round trips of its path without queues; the handshake counts as one, the server's "
        "own time not at all. Topped up: DelayBox drops the first SYN-ACK of single connections, marked so, "
        "because the load alone loses few.",
        notes.strip(),
        "## Connections that lost a SYN-ACK",
        _responses(levels),
        "## Above 50 ms and above 1 s",
        "Mean response in RTTs where the path's RTT is above 50 ms; and of connections whose RTT alone "
        "outlasted the server's first timer, so that the SYN-ACK was sent again for nothing.",
        _by_rtt(levels),
        "## The whole time, the initial timer included",
        _whole(levels),
        "## Table 2: loss share of the bottleneck, % above the standard's",
        _beside(levels, folder, "Table 2", "link_loss_share", 1),
        "## Table 3: throughput, % below the standard's",
        _beside(levels, folder, "Table 3", "link_throughput_mbps", -1),
        "## The link",
        _link(levels),
        "## Mixes at 40 % load",
        _mixes(mixes),
        "## What else the text prints",
        _printed(folder),
        "## The generator",
        "PackMime-HTTP's published quantiles (`quantiles.csv`) and those of 400,000 drawn connections "
        "(`drawn.csv`, written by `build/ns3/test_ns3_web . --write`; the test fails where one is 5 % off).",
        _generator(folder),
        "## Figures",
        *(f"**{title}**\n\n![{title}](figures/{name})" for name, title in drawn),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


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


def _beside(cells: Sequence[Cell], folder: Path, table: str, key: str, sign: int) -> str:
    published = {
        (float(row["level"]), row["startup"]): row["value"]
        for row in _published(folder)
        if row["where"] == table
    }
    rows = []
    for cell in cells:
        base = base_of(cell, cells)
        if base is None or base is cell:
            continue
        found = percent(cell, base, key)
        ours = None if found is None else (sign * found[0], found[1])
        paper = published.get((cell.level, cell.startup), "–")
        rows.append([*_where(cell), paper, _difference(ours)])
    return table_of(("load", "variant", "startup", "paper, %", "ours, %"), rows)


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
    rows = []
    for cell in cells:
        kinds = {
            kind: [c.rtts for c in cell.lost if c.startup == kind]
            for kind in (cell.startup.partition(":")[0], STANDARD)
        }
        means = [_number(statistics.fmean(v) if v else None) for v in kinds.values()]
        rows.append([f"`{cell.startup}`", f"{100 * cell.share:.0f} %", str(len(cell.lost)), *means])
    head = ("startup", "its share", "connections that lost a SYN-ACK", "its RTTs", "the standard's RTTs")
    return table_of(head, rows) if rows else ""


def _published(folder: Path) -> list[dict[str, str]]:
    with (folder / "published.csv").open(newline="") as file:
        return list(csv.DictReader(file))


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
