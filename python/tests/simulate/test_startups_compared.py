# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""tambuwal2018: sign, rank and bar from runs made up so that the answers are known."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.tambuwal2018 import averages, compare, pairs
from experiments.tambuwal2018.cells import Cell, Connection, Run

SEEDS = (1, 2, 3)
LOSS = {"standard": 0.0, "tsl/1-16": 1.0, "tsl/1-1000": 2.0, "tsl/3-2": 3.0, "tsl/3-16": 4.0}
LOSS["tsl/3-1000"] = -5.0


def run(seed: int, startup: str, rtts: float, loss: float, mbps: float = 4.0) -> Run:
    lost = [Connection(rtts, 1000 + rtts, 50, 4000, startup, is_forced=False)]
    metrics = {"link_loss_share": loss, "link_throughput_mbps": mbps, "mean_response_studied_rtts": rtts}
    return Run(seed, metrics, {"loss_share": []}, lost, 0, [], "0")


def cell(startup: str, level: float, rtts: Sequence[float], loss_percent: float = 0.0) -> Cell:
    runs = {
        seed: run(seed, startup, of, 0.01 * seed * (1 + loss_percent / 100 + 1e-6 * seed))
        for seed, of in zip(SEEDS, rtts, strict=True)
    }
    return Cell(level, startup, "own-losses", 1.0, runs)


def published() -> dict[tuple[str, float, str], str]:
    order = enumerate(compare.STUDIED)
    return {("Table 2", 0.4, startup): str(k) for k, startup in order}


def test_signs_and_ranks() -> None:
    cells = [cell(startup, 0.4, (5, 6, 7), percent) for startup, percent in LOSS.items()]
    rows = [r for r in compare.compared(cells, published()) if r.where == "Table 2"]
    assert [r.startup for r in rows] == list(compare.STUDIED)
    # printed 0, 1, 2, 3, 4: the first is no increase, the last has the other sign here
    assert [r.sign for r in rows] == ["other", "same", "same", "same", "other"]
    assert [r.printed_rank for r in rows] == ["1", "2", "3", "4", "5"]
    assert [r.our_rank for r in rows] == [2, 3, 4, 5, 1]
    assert all(abs(r.ours[0] - LOSS[r.startup]) < 1e-3 for r in rows)
    assert "| Table 2 | 40 % | 3 | 0 | 2 | 6 of 10 |" in compare.summary(rows)


def test_a_sign_is_open_where_the_interval_holds_zero() -> None:
    cells = [cell("standard", 0.4, (5, 6, 7))]
    cells += [cell(startup, 0.4, (4, 6, 8)) for startup in compare.STUDIED]
    rows = [r for r in compare.compared(cells, {}) if r.where == "Figure 7"]
    assert [r.sign for r in rows] == ["open"] * 5
    assert {r.our_rank for r in rows} == {1}


def test_a_load_without_all_five_is_left_out() -> None:
    cells = [cell("standard", 0.9, (5, 6, 7)), cell("tsl/3-16", 0.9, (4, 5, 6))]
    assert not list(compare.compared(cells, {}))


def test_the_bar_of_the_feedback() -> None:
    def bar(level: float, standard: Sequence[float], bold: Sequence[float], own: Sequence[float]) -> str:
        of = {"standard": standard, "tsl/3-16": bold, "tsl-feedback": own}
        return compare.feedback([cell(startup, level, rtts) for startup, rtts in of.items()])

    base = (10.0, 11.0, 12.0)
    # every run alike
    assert "| 100 % | 3 |" in (whole := bar(0.4, base, (8, 9, 10), (8, 9, 10))) and "reached |" in whole
    assert "| 85 % | 0 |" in (less := bar(0.9, base, (8, 9, 10), (8.3, 9.3, 10.3)))
    assert "not reached |" in less
    assert "upper end +0.0 %, reached |" in bar(0.98, base, (8, 9, 10), base)
    assert "not reached |" in bar(0.98, base, (8, 9, 10), (10.5, 11.6, 12.9))


def test_seeds_that_tell() -> None:
    cells = [cell("standard", 0.4, (5, 6, 7), 0)]
    cells += [cell(startup, 0.4, (4, 6, 8), percent) for startup, percent in LOSS.items() if percent]
    rows = {(r.where, r.startup): r for r in compare.compared(cells, published())}
    # printed 4, ours -5 with an interval of nearly nothing
    assert rows["Table 2", "tsl/3-1000"].excludes_printed
    # -20, 0 and +14.3 %: half of Student's interval is 42.9 %, of the normal's with 3 seeds 19.5 %
    figure = rows["Figure 7", "tsl/3-16"]
    assert figure.sign == "open" and figure.seeds_that_tell == 12 and not figure.excludes_printed
    assert "| Figure 7 | 40 % | 0 | 5 | 0 | – | – | 12 |" in compare.summary(list(rows.values()))


def test_pairs_at_the_highest_load() -> None:
    def section(*rtts: float) -> str:
        return pairs.section([cell("standard", 0.98, (10, 10, 10)), cell("tsl-feedback", 0.98, rtts)])

    # half and twice: the ratios' geometric mean is no change, their arithmetic one +17 %
    wide = section(5, 10, 20)
    assert "| mean response, RTTs | 10.00 | 11.67 | +0.0 | -68.9 to +221.7 | 547 |" in wide
    assert "upper end +221.7 %: not reached." in wide
    assert "upper end -9.9 %: reached." in section(9.0, 9.01, 9.0)
    assert pairs.section([cell("standard", 0.98, (10, 10, 10))]) == ""


def test_changes_are_drawn_in_pairs() -> None:
    cells = [cell("standard", 0.4, (5, 6, 7)), cell("tsl", 0.4, (10, 12, 14))]
    charts = {name: chart.to_dict() for name, _, chart in averages.charts(cells)}
    drawn = {name: next(iter(chart["datasets"].values())) for name, chart in charts.items()}
    rows = drawn["figure-07-change.svg"]
    assert [row["e"] for row in rows] == ["tsl"]
    assert rows[0]["y"] == rows[0]["low"] == rows[0]["high"] == 100
    assert len(drawn["figure-07.svg"]) == 2
