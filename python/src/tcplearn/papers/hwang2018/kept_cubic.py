# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: what `history` over CUBIC does on the networks of calibration-cubic.toml, as its rule has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tcplearn.jobs import Kept
from tcplearn.output.markdown import table_of
from tcplearn.papers.hwang2018 import runs
from tcplearn.papers.hwang2018.runs import Estimate, Point, ratio

FILE = "calibration-cubic"
PLAIN, ORACLE, OURS = "cubic", "cubic-oracle", "cubic-history"
LOSSY = 0.01


def section(folder: Path, profile: str, kept: Kept, confidence: float) -> Iterator[str]:
    """By the runs on disk; nothing where one is missing."""
    if not (folder / f"{FILE}.toml").exists():
        return
    found, planned = runs.points(folder, profile, kept, (FILE,))
    if len(found) != planned or not found:
        return
    yield "## History over CUBIC on other networks"
    yield (
        f"{len({p.seed for p in found})} networks that had no part in any choice (`tcplearn simulate "
        f"papers/hwang2018/{FILE}.toml --profile {profile}`), each with its drawn queue and with CoDel. "
        "Drops have a packet added, as some networks have none."
    )
    rows = [
        ["CoDel" if codel else "as drawn", *_cells([p for p in found if _codel(p) == codel], confidence)]
        for codel in (False, True)
    ]
    head = ("queue", "drops × CUBIC's: alone", "shared", "both", "mean RTT × CUBIC's: alone", "shared")
    more = ("goodput at 0.01 × the oracle's", "neighbour at 0.01 × beside the oracle")
    yield table_of((*head, *more), rows)


def _codel(p: Point) -> bool:
    """Whether of the grid that puts CoDel in the place of what was drawn: there the queue is varied, and so
    comes before the loss rate."""
    keys = [key.rpartition(".")[2] for key in p.at]
    return keys.index("queue") < keys.index("loss_rate")


def _cells(found: Sequence[Point], c: float) -> list[str]:
    def over(ours: Sequence[Point], other: Sequence[Point], metric: Any) -> str:
        value: Estimate | None = ratio(ours, other, metric, c)
        return "–" if value is None else value.shown()

    def at(sender: str, beside: int, rate: float) -> list[Point]:
        return [
            p
            for p in found
            if p.sender == sender and p.short["beside"] == beside and p.short["loss_rate"] == rate
        ]

    def drops(p: Point) -> float:
        return p.metrics["queue_dropped_packets"] + 1

    ours, plain = ([at(sender, beside, 0.0) for beside in (0, 1)] for sender in (OURS, PLAIN))
    # a network is two pairs
    ours_twice, plain_twice = (
        [p.numbered(2 * p.seed + i) for i in (0, 1) for p in side[i]] for side in (ours, plain)
    )
    return [
        *(over(ours[i], plain[i], drops) for i in (0, 1)),
        over(ours_twice, plain_twice, drops),
        *(over(ours[i], plain[i], "mean_rtt_ms") for i in (0, 1)),
        over(at(OURS, 0, LOSSY), at(ORACLE, 0, LOSSY), "goodput_mbps"),
        over(at(OURS, 1, LOSSY), at(ORACLE, 1, LOSSY), "beside_goodput_mbps"),
    ]
