# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""hwang2018: the bars beside another transfer that the plain sender or the oracle misses too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcplearn.output.markdown import table_of
from tcplearn.papers.hwang2018.bars import words
from tcplearn.papers.hwang2018.limits import JAIN, NEIGHBOUR_BBR
from tcplearn.papers.hwang2018.runs import Estimate, Point, by_condition, mean, ratio, unseen

#: Ours, the one that knows, the plain sender; of NewReno's kind and of CUBIC's.
KINDS = (("ml-history", "oracle", "newreno"), ("cubic-history", "cubic-oracle", "cubic"))


def section(found: Sequence[Point], c: float) -> Iterator[str]:
    shared = [p for p in unseen([p for p in found if p.scenario == "harm"]) if p.short["beside"] == 1]
    jain = list(_jain([p for p in shared if p.short["loss_rate"] == 0], c))
    neighbour = list(_neighbour([p for p in shared if p.short["loss_rate"] != 0], c))
    if not jain or not neighbour:
        return
    yield "## Two bars that the plain sender or the oracle misses too"
    yield (
        "The plain sender calls every loss congestion, the oracle is always right: where they miss a bar, "
        "the miss cannot be blamed on a classifier alone. Ours is `history`, seeds that were used for no "
        "choice. "
        f"**Jain's index without random loss, bar {JAIN:g}**, with a plain transfer of the same kind beside: "
        + _count(jain, JAIN, "two plain senders")
    )
    head = ("condition", "ours", "oracle")
    over = "ours × two plain senders'"
    yield table_of((*head, "two plain senders", over), [[where, *_cells(values)] for where, values in jain])
    yield (
        f"**The neighbour's goodput with random loss over what it has beside BBR, bar {NEIGHBOUR_BBR:g}:** "
        + _count(neighbour, NEIGHBOUR_BBR, "plain sender")
    )
    yield table_of((*head, "plain sender"), [[where, *_cells(values)] for where, values in neighbour])


Row = tuple[str, list[Estimate | None]]


def _count(rows: Sequence[Row], bar: float, plain: str) -> str:
    ours, oracle, base = (
        sum(value is not None and value.value >= bar for value in column)
        for column in zip(*(values[:3] for _, values in rows), strict=True)
    )
    return (
        f"ours reaches it in {ours} of {len(rows)} conditions, the oracle in {oracle}, the {plain} in {base}."
    )


def _cells(values: Sequence[Estimate | None]) -> list[str]:
    return ["–" if value is None else value.shown() for value in values]


def _jain(found: Sequence[Point], c: float) -> Iterator[Row]:
    for condition, senders in _by_kind(found):
        own, _, plain = senders
        values = [mean(each, "jain_index", c) for each in senders]
        yield words(condition), [*values, ratio(own, plain, "jain_index", c)]


def _neighbour(found: Sequence[Point], c: float) -> Iterator[Row]:
    for condition, senders in _by_kind(found):
        bbr = [p for p in found if p.condition == condition and p.sender == "bbr"]
        if bbr:
            yield words(condition), [ratio(each, bbr, "beside_goodput_mbps", c) for each in senders]


def _by_kind(found: Sequence[Point]) -> Iterator[tuple[tuple[tuple[str, object], ...], list[list[Point]]]]:
    for condition, here in by_condition(found):
        for kind in KINDS:
            seeds = {p.seed for p in here if p.sender == kind[0]}
            senders = [[p for p in here if p.sender == name and p.seed in seeds] for name in kind]
            if seeds:
                yield condition, senders
